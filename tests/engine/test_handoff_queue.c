/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue between two workers, locked and lock-free: order, priorities, counters. */
#include "handoff/handoff_queue.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>

#define SLOTS 64
#define ITEMS 100000u

static struct handoff_queue *make(bool locked, unsigned batch)
{
	struct handoff_queue *queue = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*queue));
	unsigned flags = RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ;

	if (queue == NULL)
		abort();
	memset(queue, 0, sizeof(*queue));
	queue->batch = batch;
	queue->writer = 1;
	queue->reader = 2;
	queue->lock = locked ? lock_create("queue") : NULL;
	for (unsigned p = 0; p < PRIORITIES; p++) {
		size_t bytes = (size_t)rte_ring_get_memsize(2 * SLOTS);

		queue->rings[p].ring = aligned_alloc(RTE_CACHE_LINE_SIZE, bytes);
		if (queue->rings[p].ring == NULL ||
			rte_ring_init(queue->rings[p].ring, "ring", SLOTS, flags) != 0)
			abort();
	}
	return queue;
}

static void release(struct handoff_queue *queue)
{
	for (unsigned p = 0; p < PRIORITIES; p++)
		free(queue->rings[p].ring);
	free(queue);
}

/* Numbers instead of packets: they are not dereferenced. */
static struct rte_mbuf *item(uintptr_t number)
{
	return (struct rte_mbuf *)(number + 1);
}

static unsigned put(struct handoff_queue *queue, enum priority p, unsigned first, unsigned count)
{
	struct rte_mbuf *items[256];

	for (unsigned i = 0; i < count; i++)
		items[i] = item(first + i);
	return handoff_enqueue(queue, p, items, count);
}

static void check_priorities(bool locked, unsigned batch)
{
	struct handoff_queue *queue = make(locked, batch);
	struct rte_mbuf *items[256];

	CHECK_EQUAL(put(queue, PRIORITY_NORMAL, 0, 100), SLOTS);
	CHECK_EQUAL(put(queue, PRIORITY_HIGH, 1000, 10), 10);
	CHECK_EQUAL(put(queue, PRIORITY_CONTROL, 2000, 5), 5);
	CHECK_EQUAL(handoff_queue_count(queue), SLOTS + 15);
	CHECK_EQUAL(queue->rings[PRIORITY_NORMAL].dropped, 100 - SLOTS);
	CHECK_EQUAL(handoff_dequeue(queue, items, 20), 20);
	for (unsigned i = 0; i < 20; i++)
		CHECK(items[i] == item(i < 5 ? 2000 + i : i < 15 ? 1000 + i - 5 : i - 15));
	/* A full ring of one does not keep the others out. */
	CHECK_EQUAL(put(queue, PRIORITY_NORMAL, 100, 100), 5);
	CHECK_EQUAL(put(queue, PRIORITY_CONTROL, 3000, 1), 1);
	CHECK_EQUAL(handoff_dequeue(queue, items, 256), SLOTS + 1);
	CHECK(items[0] == item(3000));
	CHECK_EQUAL(handoff_dequeue(queue, items, 256), 0);
	CHECK_EQUAL(queue->rings[PRIORITY_NORMAL].enqueued, SLOTS + 5);
	CHECK_EQUAL(queue->rings[PRIORITY_NORMAL].dequeued, SLOTS + 5);
	CHECK_EQUAL(queue->rings[PRIORITY_CONTROL].dequeued, 6);
	release(queue);
}

static void priorities_go_first(void)
{
	check_priorities(false, 256);
	check_priorities(false, 1);
	check_priorities(true, 1);
	check_priorities(true, 7);
}

static void the_lock_is_taken_once_a_batch(void)
{
	struct handoff_queue *queue = make(true, 4);
	struct rte_mbuf *items[256];

	CHECK_EQUAL(put(queue, PRIORITY_NORMAL, 0, 16), 16);
	CHECK_EQUAL(queue->lock->users[1].acquisitions, 4);
	/* One more finds it empty. */
	CHECK_EQUAL(handoff_dequeue(queue, items, 256), 16);
	CHECK_EQUAL(queue->lock->users[2].acquisitions, 5);
	release(queue);
}

static void *writer(void *argument)
{
	struct handoff_queue *queue = argument;
	unsigned next = 0;

	while (next < ITEMS) {
		unsigned want = RTE_MIN(1 + next % 13, ITEMS - next);
		unsigned took = put(queue, PRIORITY_NORMAL, next, want);

		next += took;
		if (took < want)
			sched_yield();
	}
	return NULL;
}

static void check_threads(bool locked, unsigned batch)
{
	struct handoff_queue *queue = make(locked, batch);
	struct rte_mbuf *items[256];
	unsigned got = 0, wrong = 0;
	pthread_t thread;

	CHECK_EQUAL(pthread_create(&thread, NULL, writer, queue), 0);
	while (got < ITEMS) {
		unsigned some = handoff_dequeue(queue, items, 1 + got % 50);

		for (unsigned i = 0; i < some; i++)
			wrong += items[i] != item(got + i);
		got += some;
		if (some == 0)
			sched_yield();
	}
	pthread_join(thread, NULL);
	CHECK_EQUAL(wrong, 0);
	CHECK_EQUAL(queue->rings[PRIORITY_NORMAL].enqueued, ITEMS);
	CHECK_EQUAL(queue->rings[PRIORITY_NORMAL].dequeued, ITEMS);
	release(queue);
}

static void between_threads_nothing_is_lost_or_overtaken(void)
{
	check_threads(false, 256);
	check_threads(true, 1);
	check_threads(true, 16);
}

static const struct test_case cases[] = {
	{"priorities go first", priorities_go_first},
	{"the lock is taken once a batch", the_lock_is_taken_once_a_batch},
	{"between threads nothing is lost or overtaken",
		between_threads_nothing_is_lost_or_overtaken},
};
TEST_MAIN(cases)
