/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock that counts its cost: how often it was taken, how often it was found held, and the cycles
 * of waiting then. Each worker counts on a cache line of its own.
 */
#ifndef LINERATE_LOCK_H
#define LINERATE_LOCK_H

#include "worker.h"

#include <pthread.h>
#include <stdint.h>

/* Users are workers, by their index among all; threads that are none count together. */
#define LOCK_OTHERS WORKERS_MAX

struct lock_user {
	uint64_t acquisitions;
	uint64_t waits;       /* it was held */
	uint64_t wait_clocks; /* TSC */
} __rte_cache_aligned;

struct lock {
	pthread_mutex_t mutex __rte_cache_aligned;
	char name[32];
	struct lock *link;
	struct lock_user users[WORKERS_MAX + 1];
};

/* For good. Returns the lock, or NULL when there is no memory. */
struct lock *lock_create(const char *name);
void lock_acquire(struct lock *lock, unsigned user);
void lock_release(struct lock *lock);
/* All locks, for those who read counters; the last one made first. */
const struct lock *locks(void);
/* Sum of all users' counters. */
struct lock_user lock_sum(const struct lock *lock);

#endif
