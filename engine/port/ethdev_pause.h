/* SPDX-License-Identifier: BSD-3-Clause */
/* PAUSE frames (IEEE 802.3 annex 31B) that an ethdev port received, as its driver counts them. */
#ifndef LINERATE_ETHDEV_PAUSE_H
#define LINERATE_ETHDEV_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

/* XON and XOFF, or one counter of both; more than any driver has. */
#define ETHDEV_PAUSE_COUNTERS 4

struct ethdev_pause {
	unsigned nb_counters; /* 0: the device does not count them */
	uint64_t ids[ETHDEV_PAUSE_COUNTERS];
	uint64_t before; /* what the device counted before us */
};

/* Whether an extended statistic of that name counts received PAUSE frames of the whole link. */
bool ethdev_pause_is_counter(const char *name);

/* With the device started: finds its counters, and what they say now. */
void ethdev_pause_find(struct ethdev_pause *pause, uint16_t port_id);

/* Frames received since then, XON and XOFF together. */
uint64_t ethdev_pause_received(const struct ethdev_pause *pause, uint16_t port_id);

#endif
