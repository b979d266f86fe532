/* SPDX-License-Identifier: BSD-3-Clause */
/* Echo requests of a tester port, one after the other, and their answers. */
#ifndef LINERATE_PING_H
#define LINERATE_PING_H

#include "port/port.h"
#include "resolve.h"

#define PING_COUNT_MAX 8
#define PING_TIMEOUT_MS_MAX 1000

struct ping_order {
	struct port *port;
	struct ip_address destination;
	const struct host_tags *tags; /* NULL: as the route has them */
	uint16_t bytes;               /* of the frame, without FCS */
	uint8_t ttl;
	unsigned count, timeout_ms;
};

enum ping_result {
	PING_NO_ANSWER,
	PING_ANSWERED,
	PING_UNREACHABLE, /* an ICMP error: destination unreachable, too big */
	PING_EXCEEDED,    /* an ICMP error: the TTL ended on the way */
};

struct ping_reply {
	enum ping_result result;
	uint16_t sequence;
	uint64_t rtt_ns; /* of a reply or an error */
	struct ip_address by;
	uint8_t ttl, type, code;
};

const char *ping_result_name(enum ping_result result);
/* Finds the next hop and its MAC address, then sends order->count requests, each when the one
 * before was answered or its time was over. Between trials only. Returns NULL with
 * replies[order->count] filled, or why none was sent, which may be in `why`. */
const char *ping(const struct ping_order *order, struct ping_reply *replies,
	struct resolved *next_hop, char why[RESOLVE_WHY_BYTES]);

#endif
