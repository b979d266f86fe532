/* SPDX-License-Identifier: BSD-3-Clause */
#include "waker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Events that one sleep may report; the rest is found by polling. */
#define EVENTS 16

struct waker *waker_create(void)
{
	struct waker *waker = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*waker));

	if (waker == NULL)
		return NULL;
	memset(waker, 0, sizeof(*waker));
	waker->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	waker->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	waker->event.epdata.event = EPOLLIN;
	if (waker->event_fd >= 0 && waker->epoll_fd >= 0 &&
		rte_epoll_ctl(waker->epoll_fd, EPOLL_CTL_ADD, waker->event_fd, &waker->event) == 0)
		return waker;
	fprintf(stderr, "a worker cannot sleep: %s\n", strerror(errno));
	waker_free(waker);
	return NULL;
}

void waker_free(struct waker *waker)
{
	if (waker->event_fd >= 0)
		close(waker->event_fd);
	if (waker->epoll_fd >= 0)
		close(waker->epoll_fd);
	free(waker);
}

int waker_add_queue(struct waker *waker, const struct waker_queue *queue)
{
	if (waker->nb_queues == WAKER_QUEUES_MAX)
		return -ENOSPC;
	waker->queues[waker->nb_queues++] = *queue;
	return 0;
}

void waker_arm(struct waker *waker)
{
	for (unsigned i = 0; i < waker->nb_queues; i++)
		waker->queues[i].enable(waker->queues[i].queue);
	__atomic_store_n(&waker->armed, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* A waker that came first has written, or is about to: that ends a later sleep at once, which does
 * no harm. */
void waker_disarm(struct waker *waker)
{
	__atomic_store_n(&waker->armed, 0, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < waker->nb_queues; i++)
		waker->queues[i].disable(waker->queues[i].queue);
}

bool waker_sleep(struct waker *waker, int timeout_ms)
{
	struct rte_epoll_event events[EVENTS];
	int count = rte_epoll_wait(waker->epoll_fd, events, EVENTS, timeout_ms);
	uint64_t signals;

	/* Nothing to read means that a device woke it. */
	if (read(waker->event_fd, &signals, sizeof(signals)) < 0)
		signals = 0;
	waker_disarm(waker);
	return count > 0;
}

void waker_wake(struct waker *waker)
{
	static const uint64_t one = 1;

	/* One of several is enough. */
	if (__atomic_exchange_n(&waker->armed, 0, __ATOMIC_ACQ_REL) == 0)
		return;
	if (write(waker->event_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		fprintf(stderr, "a worker cannot be woken: %s\n", strerror(errno));
}
