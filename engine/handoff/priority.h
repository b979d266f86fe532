/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which packets go first where they wait between workers: three priorities, as routers have
 * them, so that a full ring of transit traffic does not cost a neighbour or an adjacency.
 */
#ifndef LINERATE_PRIORITY_H
#define LINERATE_PRIORITY_H

#include <stdint.h>

enum priority {
	PRIORITY_NORMAL,
	PRIORITY_HIGH,    /* DSCP EF, VOICE-ADMIT and AF4x */
	PRIORITY_CONTROL, /* ARP, ND, ICMP, routing and link protocols, DSCP CS6 and CS7 */
};
#define PRIORITIES 3

const char *priority_name(enum priority priority);
/* Of a frame of `bytes` bytes, with up to two VLAN tags; MPLS packets are normal. */
enum priority priority_of(const uint8_t *frame, unsigned bytes);

#endif
