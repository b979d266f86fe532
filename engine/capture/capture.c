/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture.h"

#include "core/rcu.h"

#include <rte_cycles.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct capture *captures[CAPTURES_MAX];
static unsigned nb_started;

const char *capture_state_name(enum capture_state state)
{
	static const char *const names[] = {"running", "done", "stopped"};

	return names[state];
}

/* Whether the worker may receive or send on the port. */
static bool walks(const struct worker *worker, const struct port *port)
{
	return (worker->role & (port->tester ? WORKER_TESTER : WORKER_FORWARDER)) != 0;
}

/* Memory that the process has already: a worker shall not be the first to touch it. */
static struct rte_ring *create_ring(unsigned record_bytes, unsigned records)
{
	/* A ring of DPDK's holds one less than its size. */
	unsigned size = rte_align32pow2(records + 1);
	ssize_t bytes = rte_ring_get_memsize_elem(record_bytes, size);
	struct rte_ring *ring =
		bytes < 0 ? NULL
			  : aligned_alloc(RTE_CACHE_LINE_SIZE,
				    RTE_ALIGN_CEIL((size_t)bytes, RTE_CACHE_LINE_SIZE));

	if (ring == NULL)
		return NULL;
	memset(ring, 0, (size_t)bytes);
	if (rte_ring_init(
		    ring, "capture", records, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ) == 0)
		return ring;
	free(ring);
	return NULL;
}

static void destroy(struct capture *capture)
{
	for (unsigned i = 0; i < WORKERS_MAX; i++)
		free(capture->lanes[i].ring);
	capture_filter_free(&capture->filter);
	free(capture);
}

static bool create_rings(struct capture *capture, unsigned records, char why[CAPTURE_WHY_BYTES])
{
	size_t bytes = (size_t)rte_align32pow2(records + 1) * capture->record_bytes;
	unsigned lanes = 0;

	for (unsigned i = 0; i < workers_count(); i++)
		lanes += walks(worker_at(i), capture->port);
	if (lanes * bytes > CAPTURE_MEMORY_BYTES_MAX) {
		snprintf(why, CAPTURE_WHY_BYTES,
			"%u rings of %u frames of %u bytes: more than %u MB; ask for less", lanes,
			records, capture->snap, CAPTURE_MEMORY_BYTES_MAX >> 20);
		return false;
	}
	for (unsigned i = 0; i < workers_count(); i++) {
		if (!walks(worker_at(i), capture->port))
			continue;
		capture->lanes[i].ring = create_ring(capture->record_bytes, records);
		if (capture->lanes[i].ring == NULL) {
			snprintf(why, CAPTURE_WHY_BYTES, "no memory");
			return false;
		}
	}
	return true;
}

static struct capture *create(const struct capture_order *order, char why[CAPTURE_WHY_BYTES])
{
	struct capture *capture = aligned_alloc(
		RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(sizeof(*capture), RTE_CACHE_LINE_SIZE));

	if (capture == NULL) {
		snprintf(why, CAPTURE_WHY_BYTES, "no memory");
		return NULL;
	}
	memset(capture, 0, sizeof(*capture));
	capture->port = order->port;
	capture->rx = order->rx;
	capture->tx = order->tx;
	capture->snap = order->snap;
	capture->limit = order->limit;
	capture->record_bytes =
		RTE_ALIGN_CEIL((uint32_t)sizeof(struct capture_record) + order->snap, 8);
	snprintf(capture->text, sizeof(capture->text), "%s", order->filter);
	if (capture_filter_create(&capture->filter, order->filter, why) &&
		create_rings(capture, order->ring, why))
		return capture;
	destroy(capture);
	return NULL;
}

/* Taps of all that run on the port; NULL when none does, or without memory. */
static struct capture_taps *taps_of(const struct port *port)
{
	struct capture_taps *taps = calloc(1, sizeof(*taps));

	if (taps == NULL)
		return NULL;
	for (unsigned i = 0; i < CAPTURES_MAX; i++) {
		struct capture *capture = captures[i];

		if (capture == NULL || capture->port != port || capture->stopped)
			continue;
		if (capture->rx)
			taps->rx[taps->nb_rx++] = capture;
		if (capture->tx)
			taps->tx[taps->nb_tx++] = capture;
	}
	if (taps->nb_rx + taps->nb_tx > 0)
		return taps;
	free(taps);
	return NULL;
}

/* Gives the port's workers the captures that run now. Returns whether they have left those of
 * before: their memory is lost otherwise. */
static bool set_taps(struct port *port)
{
	const struct capture_taps *before = port->queues[0].taps;
	struct capture_taps *taps = taps_of(port);

	for (unsigned q = 0; q < PORT_QUEUES_MAX; q++)
		__atomic_store_n(&port->queues[q].taps, taps, __ATOMIC_RELEASE);
	if (before == NULL)
		return true;
	if (!rcu_wait())
		return false;
	free((void *)(uintptr_t)before);
	return true;
}

static void set_start(struct capture *capture)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	capture->start_tsc = rte_rdtsc();
	capture->start_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A place without a capture: the one that ended first makes room, if there is none. */
static int free_place(void)
{
	int ended = -1;

	for (int i = 0; i < CAPTURES_MAX; i++) {
		if (captures[i] == NULL)
			return i;
		if (capture_state(captures[i]) != CAPTURE_RUNNING &&
			(ended < 0 || captures[i]->id < captures[ended]->id))
			ended = i;
	}
	if (ended >= 0)
		capture_remove(captures[ended]);
	return ended;
}

unsigned capture_start(const struct capture_order *order, char why[CAPTURE_WHY_BYTES])
{
	struct capture *capture;
	int place;

	if (rcu_start(WORKERS_MAX) != 0) {
		snprintf(why, CAPTURE_WHY_BYTES, "no memory");
		return 0;
	}
	capture = create(order, why);
	if (capture == NULL)
		return 0;
	place = free_place();
	if (place < 0) {
		snprintf(why, CAPTURE_WHY_BYTES, "%d captures run: stop one", CAPTURES_MAX);
		destroy(capture);
		return 0;
	}
	captures[place] = capture;
	capture->id = ++nb_started;
	set_start(capture);
	set_taps(capture->port);
	return capture->id;
}

struct capture *capture_at(unsigned index)
{
	return captures[index];
}

struct capture *capture_find(unsigned id)
{
	for (unsigned i = 0; i < CAPTURES_MAX; i++)
		if (captures[i] != NULL && captures[i]->id == id)
			return captures[i];
	return NULL;
}

enum capture_state capture_state(const struct capture *capture)
{
	if (capture->limit != 0 &&
		__atomic_load_n(&capture->taken, __ATOMIC_RELAXED) >= capture->limit)
		return CAPTURE_DONE;
	return capture->stopped ? CAPTURE_STOPPED : CAPTURE_RUNNING;
}

void capture_stop(struct capture *capture)
{
	if (capture->stopped)
		return;
	capture->stopped = true;
	capture->in_reach = !set_taps(capture->port);
}

void capture_remove(struct capture *capture)
{
	capture_stop(capture);
	for (unsigned i = 0; i < CAPTURES_MAX; i++)
		if (captures[i] == capture)
			captures[i] = NULL;
	if (!capture->in_reach)
		destroy(capture);
}

struct capture_counters capture_counters(const struct capture *capture)
{
	struct capture_counters sum = {0};

	for (unsigned i = 0; i < WORKERS_MAX; i++) {
		const struct capture_lane *lane = &capture->lanes[i];

		sum.matched += __atomic_load_n(&lane->matched, __ATOMIC_RELAXED);
		sum.captured += __atomic_load_n(&lane->captured, __ATOMIC_RELAXED);
		sum.missed += __atomic_load_n(&lane->missed, __ATOMIC_RELAXED);
		sum.bytes += __atomic_load_n(&lane->bytes, __ATOMIC_RELAXED);
	}
	return sum;
}

uint64_t capture_time_ns(const struct capture *capture, uint64_t tsc)
{
	double ns = (double)(tsc - capture->start_tsc) * 1e9 / (double)rte_get_tsc_hz();

	return capture->start_ns + (uint64_t)ns;
}

/* Reserves the record at the ring's head; it stays there. */
static struct capture_record *head_of(const struct capture *capture, struct capture_lane *lane)
{
	struct rte_ring_zc_data space;

	if (lane->next == NULL && lane->ring != NULL &&
		rte_ring_dequeue_zc_burst_elem_start(
			lane->ring, capture->record_bytes, 1, &space, NULL) == 1)
		lane->next = space.ptr1;
	return lane->next;
}

static struct capture_lane *oldest_lane(struct capture *capture)
{
	struct capture_lane *oldest = NULL;

	for (unsigned i = 0; i < workers_count(); i++) {
		struct capture_lane *lane = &capture->lanes[i];

		if (head_of(capture, lane) != NULL &&
			(oldest == NULL || lane->next->tsc < oldest->next->tsc))
			oldest = lane;
	}
	return oldest;
}

/* The same one until it is dropped, whatever comes to others. */
const struct capture_record *capture_peek(struct capture *capture)
{
	if (capture->oldest == NULL)
		capture->oldest = oldest_lane(capture);
	return capture->oldest == NULL ? NULL : capture->oldest->next;
}

void capture_drop(struct capture *capture)
{
	struct capture_lane *lane = capture->oldest;

	if (lane == NULL)
		return;
	capture->oldest = NULL;
	lane->next = NULL;
	rte_ring_dequeue_zc_elem_finish(lane->ring, 1);
}
