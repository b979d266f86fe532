/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that wait for their time, the same for all, so that they leave as they came. One
 * worker's.
 */
#ifndef LINERATE_DELAY_FIFO_H
#define LINERATE_DELAY_FIFO_H

#include <rte_common.h>
#include <rte_mbuf.h>
#include <stdint.h>

/* Packets that one port's FIFO holds: 1.1 ms of 64-byte frames on 10 GbE. A power of two. */
#define DELAY_FRAMES 16384u

struct delay_fifo {
	uint32_t put, taken; /* totals so far */
	struct {
		struct rte_mbuf *mbuf;
		uint64_t due; /* on clock_now() */
	} waiting[DELAY_FRAMES];
};

static inline uint32_t delay_fifo_count(const struct delay_fifo *fifo)
{
	return fifo->put - fifo->taken;
}

/* Takes packets as far as there is room, from the first on; returns how many. */
static inline uint16_t delay_fifo_put(
	struct delay_fifo *fifo, struct rte_mbuf *const *mbufs, uint16_t count, uint64_t due)
{
	count = (uint16_t)RTE_MIN((uint32_t)count, DELAY_FRAMES - delay_fifo_count(fifo));
	for (uint16_t i = 0; i < count; i++, fifo->put++) {
		fifo->waiting[fifo->put % DELAY_FRAMES].mbuf = mbufs[i];
		fifo->waiting[fifo->put % DELAY_FRAMES].due = due;
	}
	return count;
}

/* Gives out up to `count` of those whose time has come by `now`; returns how many. */
static inline uint16_t delay_fifo_take(
	struct delay_fifo *fifo, struct rte_mbuf **mbufs, uint16_t count, uint64_t now)
{
	uint16_t ready = 0;

	for (; ready < count && delay_fifo_count(fifo) > 0; ready++, fifo->taken++) {
		if (fifo->waiting[fifo->taken % DELAY_FRAMES].due > now)
			break;
		mbufs[ready] = fifo->waiting[fifo->taken % DELAY_FRAMES].mbuf;
	}
	return ready;
}

#endif
