/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleep and wake-up of a worker. It announces that it will sleep, polls once more, and only then
 * sleeps; a producer publishes its work first and checks then whether the worker sleeps. With a
 * full fence between the two steps on either side at least one sees the other, so that no wake-up
 * is lost. No system call is made unless the worker sleeps.
 */
#ifndef LINERATE_WAKER_H
#define LINERATE_WAKER_H

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_epoll.h>
#include <stdbool.h>
#include <stdint.h>

#define WAKER_QUEUES_MAX 1024

/* A device's rx queue that interrupts when asked to; cards and rings call waker_signal(). */
struct waker_queue {
	void *queue;
	void (*enable)(void *queue);
	void (*disable)(void *queue);
};

struct waker {
	uint32_t armed __rte_cache_aligned; /* the worker sleeps, or is about to */
	int event_fd __rte_cache_aligned;   /* read only, as what follows */
	int epoll_fd;
	struct rte_epoll_event event;
	unsigned nb_queues;
	struct waker_queue queues[WAKER_QUEUES_MAX];
};

/* Returns the waker, or NULL after saying why. */
struct waker *waker_create(void);
void waker_free(struct waker *waker);
/* Lets the queue, whose file its driver has given to waker->epoll_fd, interrupt while the worker
 * sleeps. Returns 0 or -ENOSPC. */
int waker_add_queue(struct waker *waker, const struct waker_queue *queue);

/* By the worker: what is published from now on wakes it. It must look once more before it
 * sleeps. */
void waker_arm(struct waker *waker);
void waker_disarm(struct waker *waker);
/* Sleeps until woken, at most so long; the waker is disarmed then. Returns false when the time
 * was up. */
bool waker_sleep(struct waker *waker, int timeout_ms);

void waker_wake(struct waker *waker);

/* By anybody, once there is something for the worker. */
static __rte_always_inline void waker_signal(struct waker *waker)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(__atomic_load_n(&waker->armed, __ATOMIC_RELAXED) != 0))
		waker_wake(waker);
}

#endif
