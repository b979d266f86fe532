/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of a host on its link, read and written: ARP (RFC 826), neighbour discovery (RFC 4861),
 * echo (RFC 792, RFC 4443), with at most one VLAN tag. No state, and no access beyond the frame.
 */
#ifndef LINERATE_RESPONDER_FRAME_H
#define LINERATE_RESPONDER_FRAME_H

#include "core/ip_address.h"

#include <rte_ether.h>
#include <stdbool.h>
#include <stdint.h>

#define HOST_ADDRESSES_MAX 32
/* Ethernet's padding; the answer to a neighbour solicitation is no longer than 90. */
#define HOST_FRAME_BYTES_MIN (RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN)
#define HOST_NEIGHBOR_BYTES_MAX 90

struct host_address {
	struct ip_address address;
	uint8_t length; /* of the subnet's prefix */
	uint16_t vlan;  /* 0: untagged */
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
};
#define HOST_MESSAGES 7

/* A frame to the host. Offsets are from the frame's start. */
struct host_heard {
	enum host_message message;
	uint16_t vlan;
	uint16_t l3, upper, upper_bytes;
	const struct host_address *own; /* which it is to; NULL in an advertisement */
	struct ip_address neighbor;     /* whose MAC address the frame says */
	struct rte_ether_addr mac;
};

struct host_heard host_read(const struct host *host, const uint8_t *frame, unsigned bytes);
/* The answer to a request; `answer` has room for the frame and for HOST_NEIGHBOR_BYTES_MAX.
 * Returns its bytes. */
unsigned host_answer(const struct host *host, const struct host_heard *heard, const uint8_t *frame,
	uint8_t *answer);
/* The own address from which a neighbour is asked; NULL when it is on none of the subnets. `vlan`
 * chooses among the subnets; negative: any. */
const struct host_address *host_towards(
	const struct host *host, const struct ip_address *neighbor, int vlan);
const struct host_address *host_owns(
	const struct host *host, const struct ip_address *address, uint16_t vlan);
/* An ARP request or a neighbour solicitation, in at most HOST_NEIGHBOR_BYTES_MAX. Returns its
 * bytes. */
unsigned host_ask(const struct host *host, const struct host_address *from,
	const struct ip_address *neighbor, uint8_t *frame);

#endif
