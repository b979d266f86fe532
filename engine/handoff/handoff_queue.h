/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue between two workers: a ring for each priority, one writer and one reader. Lock-free (the
 * ring's own atomics), or under a mutex as in a program with reader and writer threads; then the
 * lock is taken once for every "batch" packets on either side.
 */
#ifndef LINERATE_HANDOFF_QUEUE_H
#define LINERATE_HANDOFF_QUEUE_H

#include "core/lock.h"
#include "priority.h"

#include <rte_mbuf.h>
#include <rte_ring.h>

struct waker;

struct handoff_ring {
	struct rte_ring *ring;
	uint64_t enqueued __rte_cache_aligned; /* by the writer */
	uint64_t dropped;
	uint64_t dequeued __rte_cache_aligned; /* by the reader */
} __rte_cache_aligned;

struct handoff_queue {
	struct lock *lock;   /* NULL: lock-free */
	struct waker *waker; /* the reader's, or NULL */
	unsigned batch;
	unsigned writer, reader; /* workers, by their index among all: whom the lock counts */
	struct handoff_ring rings[PRIORITIES];
} __rte_cache_aligned;

/* Puts packets into the ring of their priority. Returns how many found room, the first ones; the
 * others are counted as dropped and stay the caller's. */
unsigned handoff_enqueue(struct handoff_queue *queue, enum priority priority,
	struct rte_mbuf **mbufs, unsigned count);
/* Takes at most `max` packets, those of a higher priority first. */
unsigned handoff_dequeue(struct handoff_queue *queue, struct rte_mbuf **mbufs, unsigned max);
/* Packets that lie in it. */
unsigned handoff_queue_count(const struct handoff_queue *queue);

#endif
