/* SPDX-License-Identifier: BSD-3-Clause */
/* The way through a packet's extension headers to its upper layer (RFC 8200 4). */
#ifndef LINERATE_IP6_HEADERS_H
#define LINERATE_IP6_HEADERS_H

#include <stdbool.h>
#include <stdint.h>

enum ip6_headers_verdict {
	IP6_HEADERS_FINE,
	IP6_HEADERS_TRUNCATED,
	IP6_HEADERS_FRAGMENT,            /* of a packet that is in several */
	IP6_HEADERS_OPTION_DISCARD,      /* an unknown option requests it: no ICMP error */
	IP6_HEADERS_OPTION_TELL,         /* an ICMP error is sent */
	IP6_HEADERS_OPTION_TELL_UNICAST, /* unless the packet was to a group */
	IP6_HEADERS_ROUTING,             /* a routing header that still asks for something */
};

/* All offsets are counted from the IPv6 header. */
struct ip6_headers {
	uint16_t offset;     /* of the upper layer */
	uint16_t at;         /* of the field that says what it is; of the problem if there is one */
	uint8_t next_header; /* what it is */
	bool later_fragment; /* it is not there: this is not the first fragment */
};

/* As a receiver reads them: `bytes` from the IPv6 header on. */
enum ip6_headers_verdict ip6_headers_receive(
	const uint8_t *ip, uint16_t bytes, struct ip6_headers *headers);
/* As an onlooker does: whatever is in them is skipped. False when they do not fit in. */
bool ip6_headers_skip(const uint8_t *ip, uint16_t bytes, struct ip6_headers *headers);

#endif
