/* SPDX-License-Identifier: BSD-3-Clause */
#include "burn_lock.h"

#include "core/lock.h"

#include <errno.h>
#include <pthread.h>
#include <rte_cycles.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* One worker's; semaphores hand `until` over. */
static struct holder {
	struct lock *lock;
	sem_t asked, held;
	uint64_t until; /* TSC */
} holders[WORKERS_MAX];

static void *hold(void *argument)
{
	struct holder *holder = argument;

	(void)prctl(PR_SET_TIMERSLACK, 1);
	for (;;) {
		uint64_t now;

		if (sem_wait(&holder->asked) != 0)
			continue; /* a signal */
		lock_acquire(holder->lock, LOCK_OTHERS);
		(void)sem_post(&holder->held);
		now = rte_rdtsc();
		if (now < holder->until) {
			struct timespec time = {.tv_nsec = (long)((holder->until - now) *
								  1000000000 / rte_get_tsc_hz())};

			(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
		}
		lock_release(holder->lock);
	}
	return NULL;
}

/* On the worker's CPU, which the worker leaves while it waits. */
static int start_thread(const struct worker *worker, struct holder *holder)
{
	pthread_attr_t attributes;
	pthread_t thread;
	cpu_set_t cpu;
	int rc;

	CPU_ZERO(&cpu);
	CPU_SET(worker->cpu, &cpu);
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setaffinity_np(&attributes, sizeof(cpu), &cpu);
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attributes, hold, holder);
	(void)pthread_attr_destroy(&attributes);
	return rc;
}

int burn_lock_create(const struct worker *worker)
{
	struct holder *holder = &holders[worker->index];
	char name[48];
	int rc;

	if (holder->lock != NULL)
		return 0;
	snprintf(name, sizeof(name), "burn-%s", worker->name);
	holder->lock = lock_create(name);
	(void)sem_init(&holder->asked, 0, 0);
	(void)sem_init(&holder->held, 0, 0);
	rc = holder->lock == NULL ? ENOMEM : start_thread(worker, holder);
	if (rc != 0)
		fprintf(stderr, "forwarder.burn: no thread for worker %s: %s\n", worker->name,
			strerror(rc));
	return -rc;
}

void burn_lock_wait(const struct worker *worker, uint64_t clocks)
{
	struct holder *holder = &holders[worker->index];

	holder->until = rte_rdtsc() + clocks;
	(void)sem_post(&holder->asked);
	while (sem_wait(&holder->held) != 0)
		continue; /* a signal */
	lock_acquire(holder->lock, worker->index);
	lock_release(holder->lock);
}
