/* SPDX-License-Identifier: BSD-3-Clause */
#include "lock.h"

#include <rte_cycles.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lock *all;

struct lock *lock_create(const char *name)
{
	struct lock *lock = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*lock));

	if (lock == NULL)
		return NULL;
	memset(lock, 0, sizeof(*lock));
	(void)pthread_mutex_init(&lock->mutex, NULL);
	snprintf(lock->name, sizeof(lock->name), "%s", name);
	lock->link = all;
	all = lock;
	return lock;
}

void lock_acquire(struct lock *lock, unsigned user)
{
	struct lock_user *counters = &lock->users[user];

	if (pthread_mutex_trylock(&lock->mutex) != 0) {
		uint64_t start = rte_rdtsc();

		(void)pthread_mutex_lock(&lock->mutex);
		counters->waits++;
		counters->wait_clocks += rte_rdtsc() - start;
	}
	/* Others than workers share theirs, and have the lock now. */
	counters->acquisitions++;
}

void lock_release(struct lock *lock)
{
	(void)pthread_mutex_unlock(&lock->mutex);
}

const struct lock *locks(void)
{
	return all;
}

struct lock_user lock_sum(const struct lock *lock)
{
	struct lock_user sum = {0};

	for (unsigned i = 0; i < RTE_DIM(lock->users); i++) {
		sum.acquisitions += lock->users[i].acquisitions;
		sum.waits += lock->users[i].waits;
		sum.wait_clocks += lock->users[i].wait_clocks;
	}
	return sum;
}
