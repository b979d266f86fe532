/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Priorities of packets that wait between workers: three, as in routers, so that a full ring of
 * transit traffic does not cost a neighbour or an adjacency.
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
/* Priority of a frame of `bytes` bytes, with up to two VLAN tags; MPLS packets are normal. */
enum priority priority_of(const uint8_t *frame, unsigned bytes);

#endif
