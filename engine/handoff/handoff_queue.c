/* SPDX-License-Identifier: BSD-3-Clause */
#include "handoff_queue.h"

static inline unsigned enqueue_some(
	struct handoff_ring *ring, struct rte_mbuf **mbufs, unsigned count)
{
	return rte_ring_sp_enqueue_burst(ring->ring, (void **)mbufs, count, NULL);
}

unsigned handoff_enqueue(struct handoff_queue *queue, enum priority priority,
	struct rte_mbuf **mbufs, unsigned count)
{
	struct handoff_ring *ring = &queue->rings[priority];
	unsigned done = 0, want, took;

	do {
		want = RTE_MIN(queue->batch, count - done);
		if (queue->lock != NULL)
			lock_acquire(queue->lock, queue->writer);
		took = enqueue_some(ring, mbufs + done, want);
		if (queue->lock != NULL)
			lock_release(queue->lock);
		done += took;
	} while (took == want && done < count);
	ring->enqueued += done;
	ring->dropped += count - done;
	return done;
}

static inline unsigned dequeue_some(
	struct handoff_queue *queue, struct rte_mbuf **mbufs, unsigned max)
{
	unsigned got = 0;

	for (unsigned p = PRIORITIES; p-- > 0 && got < max;) {
		unsigned some = rte_ring_sc_dequeue_burst(
			queue->rings[p].ring, (void **)&mbufs[got], max - got, NULL);

		queue->rings[p].dequeued += some;
		got += some;
	}
	return got;
}

unsigned handoff_dequeue(struct handoff_queue *queue, struct rte_mbuf **mbufs, unsigned max)
{
	unsigned got = 0, want, took;

	do {
		want = RTE_MIN(queue->batch, max - got);
		if (queue->lock != NULL)
			lock_acquire(queue->lock, queue->reader);
		took = dequeue_some(queue, mbufs + got, want);
		if (queue->lock != NULL)
			lock_release(queue->lock);
		got += took;
	} while (took == want && got < max);
	return got;
}

unsigned handoff_queue_count(const struct handoff_queue *queue)
{
	unsigned count = 0;

	for (unsigned p = 0; p < PRIORITIES; p++)
		count += rte_ring_count(queue->rings[p].ring);
	return count;
}
