/* SPDX-License-Identifier: BSD-3-Clause */
/* Arm, look again, sleep: no wake-up is lost, whenever it comes. */
#include "core/waker.h"
#include "test.h"

#include <pthread.h>
#include <rte_pause.h>
#include <sched.h>
#include <time.h>

/* This number of rounds, or as many as a busy machine gets through in the time. */
#define ROUNDS 30000
#define ENOUGH_S 5
/* A sleep that lasts so long has missed its wake-up. */
#define TOO_LONG_MS 60000

static struct {
	struct waker *waker;
	uint32_t published __rte_cache_aligned;
	uint32_t taken __rte_cache_aligned;
	bool stop;
} shared;

static void pause_randomly(unsigned *seed)
{
	unsigned pauses = (unsigned)rand_r(seed) % 400;

	for (unsigned i = 0; i < pauses; i++)
		rte_pause();
}

static bool stopped(void)
{
	return __atomic_load_n(&shared.stop, __ATOMIC_ACQUIRE);
}

/* One piece of work at a time, each published a moment after the last one was taken: now
 * before the other side arms, now between that and its sleep, now long after. */
static void *publisher(void *argument)
{
	unsigned seed = 7;

	(void)argument;
	for (uint32_t i = 1; !stopped(); i++) {
		while (__atomic_load_n(&shared.taken, __ATOMIC_ACQUIRE) != i - 1 && !stopped())
			sched_yield();
		pause_randomly(&seed);
		__atomic_store_n(&shared.published, i, __ATOMIC_RELEASE);
		waker_signal(shared.waker);
	}
	return NULL;
}

static bool take(void)
{
	uint32_t published = __atomic_load_n(&shared.published, __ATOMIC_ACQUIRE);

	if (published == shared.taken)
		return false;
	__atomic_store_n(&shared.taken, published, __ATOMIC_RELEASE);
	return true;
}

static time_t seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void no_wake_up_is_lost(void)
{
	unsigned seed = 8, lost = 0, slept = 0;
	time_t end = seconds() + ENOUGH_S;
	pthread_t thread;

	shared.waker = waker_create();
	CHECK(shared.waker != NULL);
	CHECK_EQUAL(pthread_create(&thread, NULL, publisher, NULL), 0);
	while ((slept == 0 || (shared.taken < ROUNDS && seconds() < end)) && lost == 0) {
		pause_randomly(&seed);
		if (take())
			continue;
		waker_arm(shared.waker);
		if (take()) {
			waker_disarm(shared.waker);
			continue;
		}
		slept++;
		lost += !waker_sleep(shared.waker, TOO_LONG_MS);
	}
	CHECK_EQUAL(lost, 0);
	__atomic_store_n(&shared.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	waker_free(shared.waker);
}

static void no_signal_while_awake(void)
{
	struct waker *waker = waker_create();

	waker_arm(waker);
	CHECK(!waker_sleep(waker, 1));
	/* A worker that is awake is not woken: a signal then leaves nothing behind. */
	waker_signal(waker);
	waker_arm(waker);
	CHECK(!waker_sleep(waker, 1));
	/* One signal wakes one sleep, however often it is given. */
	waker_arm(waker);
	waker_signal(waker);
	waker_signal(waker);
	CHECK(waker_sleep(waker, TOO_LONG_MS));
	waker_arm(waker);
	CHECK(!waker_sleep(waker, 1));
	waker_free(waker);
}

static void enable(void *queue)
{
	CHECK_EQUAL(*(int *)queue, 0);
	*(int *)queue = 1;
}

static void disable(void *queue)
{
	*(int *)queue = 0;
}

static void devices_interrupt_while_armed(void)
{
	struct waker *waker = waker_create();
	int enabled = 0;
	const struct waker_queue queue = {&enabled, enable, disable};

	CHECK_EQUAL(waker_add_queue(waker, &queue), 0);
	CHECK_EQUAL(enabled, 0);
	waker_arm(waker);
	CHECK_EQUAL(enabled, 1);
	waker_disarm(waker);
	CHECK_EQUAL(enabled, 0);
	waker_arm(waker);
	waker_sleep(waker, 1);
	CHECK_EQUAL(enabled, 0);
	waker_free(waker);
}

static const struct test_case cases[] = {
	{"no signal while awake", no_signal_while_awake},
	{"devices interrupt while armed", devices_interrupt_while_armed},
	{"no wake-up is lost", no_wake_up_is_lost},
};
TEST_MAIN(cases)
