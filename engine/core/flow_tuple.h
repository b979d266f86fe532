/* SPDX-License-Identifier: BSD-3-Clause */
/* The flow tuple of a packet: the input of RSS in cards and of the hand-off hash. */
#ifndef LINERATE_FLOW_TUPLE_H
#define LINERATE_FLOW_TUPLE_H

#include <stdint.h>

#define FLOW_TUPLE_BYTES 36 /* IPv6 addresses and ports */

/* Parts of the tuple beside the IP addresses. */
enum flow_fields {
	FLOW_L4 = 1,         /* ports of UDP, TCP and SCTP */
	FLOW_MPLS_INNER = 2, /* of MPLS packets: what is below the labels */
};

/*
 * Writes addresses and ports as they stand in the packet, source first. Returns the bytes
 * written: 8 or 12 for IPv4, 32 or 36 for IPv6, 0 for what has no IP header to look at.
 */
unsigned flow_tuple(
	const uint8_t *frame, unsigned bytes, unsigned fields, uint8_t tuple[FLOW_TUPLE_BYTES]);

#endif
