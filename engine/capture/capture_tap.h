/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taps of a port: the captures that copy what passes it. While none is on, a burst costs one branch
 * on the queue's own cache line. Where some are, a worker copies what matches into rings of its
 * own, and waits for no one: what finds no room is counted as missed.
 */
#ifndef LINERATE_CAPTURE_TAP_H
#define LINERATE_CAPTURE_TAP_H

#include "port/port.h"

#define CAPTURES_MAX 16

struct capture;

/* Never changed once a worker can see it: another one takes its place. */
struct capture_taps {
	unsigned nb_rx, nb_tx;
	struct capture *rx[CAPTURES_MAX], *tx[CAPTURES_MAX];
};

void capture_received(
	const struct capture_taps *taps, struct rte_mbuf *const *mbufs, uint16_t count);
uint16_t capture_sent(const struct capture_taps *taps, const struct port_queue *queue,
	struct rte_mbuf **mbufs, uint16_t count);

/* After a burst of frames was received from the queue. */
static inline void capture_rx(
	const struct port_queue *queue, struct rte_mbuf *const *mbufs, uint16_t count)
{
	const struct capture_taps *taps = __atomic_load_n(&queue->taps, __ATOMIC_ACQUIRE);

	if (unlikely(taps != NULL))
		capture_received(taps, mbufs, count);
}

/* The queue's tx_burst(): of what the port took, what matches is captured. */
static inline uint16_t capture_tx_burst(
	const struct port_queue *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	const struct capture_taps *taps = __atomic_load_n(&queue->taps, __ATOMIC_ACQUIRE);

	if (unlikely(taps != NULL))
		return capture_sent(taps, queue, mbufs, count);
	return queue->tx_burst(queue->tx, mbufs, count);
}

#endif
