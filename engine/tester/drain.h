/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether all that a trial sent has arrived or is lost. Control thread only.
 *
 * Drained means that nothing moved for a while: no counter of the packet ledger, and none that a
 * port has of frames received and sent. Packets in the ring of a descheduled worker do not move
 * either, so since the last movement each forwarder must have walked its graph, and after that the
 * tester, which receives what the forwarders then sent.
 */
#ifndef LINERATE_DRAIN_H
#define LINERATE_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

enum drain_state {
	DRAIN_MOVING,
	DRAIN_DRAINED,
	DRAIN_GIVEN_UP, /* after so long something still moves, or some worker does not walk */
};

/* Sending is over, at `now` on the TSC. */
void drain_start(uint64_t now);
/* Looks again; cheap enough for every millisecond. */
enum drain_state drain_follow(uint64_t now);

#endif
