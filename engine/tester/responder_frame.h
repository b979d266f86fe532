/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of a host on its link, read and written: ARP (RFC 826), neighbour discovery (RFC 4861),
 * echo (RFC 792, RFC 4443), with up to two VLAN tags. No state, and no access beyond the frame.
 */
#ifndef LINERATE_RESPONDER_FRAME_H
#define LINERATE_RESPONDER_FRAME_H

#include "core/ip_address.h"

#include <rte_ether.h>
#include <stdbool.h>
#include <stdint.h>

#define HOST_ADDRESSES_MAX 32
/* Ethernet's padding; the answer to a neighbour solicitation is no longer than 94. */
#define HOST_FRAME_BYTES_MIN (RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN)
#define HOST_NEIGHBOR_BYTES_MAX 94

/* VLAN ids; 0: no such tag. A frame with two has an outer one of IEEE 802.1ad. */
struct host_tags {
	uint16_t outer, inner;
};

struct host_address {
	struct ip_address address, gateway; /* the latter may be none */
	uint8_t length;                     /* of the subnet's prefix */
	struct host_tags tags;
	bool automatic; /* the link-local one that goes with others */
};

struct host {
	struct rte_ether_addr mac;
	unsigned nb_addresses;
	struct host_address addresses[HOST_ADDRESSES_MAX];
};

enum host_message {
	HOST_NOTHING, /* for another, or nothing that a host answers */
	HOST_ARP_REQUEST,
	HOST_ARP_REPLY,
	HOST_SOLICITATION,
	HOST_ADVERTISEMENT,
	HOST_ECHO,
	HOST_ECHO6,
	HOST_ECHO_REPLY, /* of either family */
	HOST_ERROR,      /* an ICMP error about an echo request of the host's */
};
#define HOST_MESSAGES 9

/* A frame to the host. Offsets are from the frame's start. */
struct host_heard {
	enum host_message message;
	struct host_tags tags;
	uint16_t l3, upper, upper_bytes;
	const struct host_address *own; /* which it is to; NULL in an advertisement */
	struct ip_address neighbor;     /* whose MAC address the frame says; who sent an error */
	struct rte_ether_addr mac;
	/* In echo replies and errors: the request's, and the latter's type and code. */
	uint16_t identifier, sequence;
	uint8_t ttl, type, code;
};

/* An echo request of the host's. */
struct host_echo {
	struct host_address from;
	struct ip_address to;
	struct rte_ether_addr mac; /* of the next hop */
	uint16_t identifier, sequence;
	uint16_t bytes; /* of the frame, without FCS; more where headers need it */
	uint8_t ttl;
};

static inline bool host_is_request(enum host_message message)
{
	return message == HOST_ARP_REQUEST || message == HOST_SOLICITATION ||
	       message == HOST_ECHO || message == HOST_ECHO6;
}

static inline bool host_tags_same(struct host_tags a, struct host_tags b)
{
	return a.outer == b.outer && a.inner == b.inner;
}

struct host_heard host_read(const struct host *host, const uint8_t *frame, unsigned bytes);
/* The answer to a request; `answer` has room for the frame and for HOST_NEIGHBOR_BYTES_MAX.
 * Returns its bytes. */
unsigned host_answer(const struct host *host, const struct host_heard *heard, const uint8_t *frame,
	uint8_t *answer);
/* The own address from which a neighbour is asked: one on its subnet, or whose gateway it is; NULL
 * when there is none. `tags` choose among the subnets; NULL: any. */
const struct host_address *host_towards(
	const struct host *host, const struct ip_address *neighbor, const struct host_tags *tags);
/* The own address from which a destination is reached; *hop is the next hop: the destination itself
 * on a subnet, or a gateway. NULL: there is no way. */
const struct host_address *host_route(const struct host *host, const struct ip_address *destination,
	const struct host_tags *tags, struct ip_address *hop);
const struct host_address *host_owns(
	const struct host *host, const struct ip_address *address, struct host_tags tags);
/* An ARP request or a neighbour solicitation, in at most HOST_NEIGHBOR_BYTES_MAX. Returns its
 * bytes. */
unsigned host_ask(const struct host *host, const struct host_address *from,
	const struct ip_address *neighbor, uint8_t *frame);
/* An echo request, in at most echo->bytes or HOST_NEIGHBOR_BYTES_MAX. Returns its bytes. */
unsigned host_ping(const struct host *host, const struct host_echo *echo, uint8_t *frame);

#endif
