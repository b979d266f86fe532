/* SPDX-License-Identifier: BSD-3-Clause */
/* Worker main loop: walk, sleep if it may, and serve requests between walks. */
#include "graph_walk.h"
#include "node.h"
#include "rcu.h"
#include "trace.h"
#include "waker.h"
#include "worker.h"

#include <errno.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Idle walks after which a worker may sleep. */
#define WORKER_IDLE_WALKS 64
/* In rx mode adaptive a worker that had packets keeps polling for this time, with this number of
 * pauses between polls. */
#define WORKER_LINGER_US 1000
#define WORKER_PAUSES 32
/* Minimum polling time after a wake-up: a tap device's frames arrive a moment after its interrupt,
 * by way of a signal to another thread. */
#define WORKER_WOKEN_US 200
/* Largest interval at which timers are checked (neighbours, ring that starved of buffers). */
#define WORKER_SLEEP_MS 10
/* Threads that share a CPU with a worker, housekeeping for one, still get a tenth of it. */
#define WORKER_NICE (-10)

/* Descheduled in a stretch that ends now: for `clocks` at most, at an unknown point of it. */
static void worker_note_away(struct worker *worker, uint64_t now, uint64_t clocks)
{
	__atomic_store_n(&worker->away_since, now - clocks, __ATOMIC_RELAXED);
	__atomic_store_n(&worker->away_until, now, __ATOMIC_RELAXED);
}

/*
 * Checks a call that took longer than call_limit, and ended `now`; returns the cycles of it that
 * are the node's. Intended waits of the node are, the rest was descheduled time unless it is short.
 */
static __rte_noinline uint64_t worker_long_call(struct worker *worker, uint64_t now, uint64_t spent)
{
	uint64_t waited = RTE_MIN(worker->waited_clocks, spent), own = spent;

	if (spent - waited > worker_away_limit()) {
		worker->away_clocks += spent - waited;
		worker_note_away(worker, now, spent);
		own = waited;
	} else if (spent - waited > worker_call_limit()) {
		worker->long_stalls++;
		worker_note_away(worker, now, spent);
	}
	worker->last_tsc = now;
	worker->waited_clocks = 0;
	__atomic_store_n(&worker->waiting_since, 0, __ATOMIC_RELEASE);
	return own;
}

/*
 * rte_graph_walk() with chained time stamps: one rdtsc a node instead of two, and
 * no clock between two nodes goes uncounted. Returns the time of the last stamp; adds to
 * *found, unless that is NULL, what the nodes did. `traced` is known when this is compiled.
 */
static __rte_always_inline uint64_t worker_walk(
	struct worker *worker, uint64_t now, uint64_t call_limit, uint64_t *found, bool traced)
{
	struct rte_graph *graph = worker->graph;
	struct graph_walk walk = graph_walk_begin(graph);

	while (likely(graph_walk_goes_on(&walk))) {
		struct rte_node *node = graph_walk_node(&walk);
		struct node_stats *stats = &worker->nodes[node->id];
		void **objs = node->objs;
		uint64_t end, spent;
		uint16_t done;

		rte_prefetch0(objs);
		if (traced)
			done = trace_process(worker, node);
		else
			done = node->process(graph, node, objs, node->idx);
		end = rte_rdtsc();
		spent = end - now;
		now = end;
		if (found != NULL)
			*found += done;
		if (unlikely(spent > call_limit))
			spent = worker_long_call(worker, now, spent);
		if (done != 0) {
			stats->calls++;
			stats->vectors += done;
			stats->clocks += spent;
		} else {
			stats->idle_calls++;
			stats->idle_clocks += spent;
			if (unlikely(spent > worker->stall_limit))
				worker_note_away(worker, now, spent);
		}
		node->idx = 0;
		graph_walk_next(&walk);
	}
	graph_walk_end(&walk);
	if (traced)
		trace_walk_end(worker);
	return now;
}

/* In cycles; longer calls are checked. */
struct limits {
	uint64_t away; /* from one walk to the next */
	uint64_t call; /* one call of a node */
};

/* Two workers throw one cache line to and fro; see docs/machine.md. */
#define ROUNDTRIP_ROUNDS 2000
static struct {
	uint32_t ball __rte_cache_aligned;
	uint32_t clocks[ROUNDTRIP_ROUNDS] __rte_cache_aligned;
} court;

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void roundtrip_ping(struct worker *worker)
{
	uint64_t deadline = rte_rdtsc() + rte_get_tsc_hz() / 2;
	uint32_t round;

	for (round = 0; round < ROUNDTRIP_ROUNDS; round++) {
		uint64_t start = rte_rdtsc();

		__atomic_store_n(&court.ball, 2 * round + 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(&court.ball, __ATOMIC_ACQUIRE) != 2 * round + 2) {
			/* Workers that share one CPU must let each other run. */
			if (worker->cpu == worker->peer->cpu)
				sched_yield();
			if (rte_rdtsc() > deadline)
				goto out;
		}
		court.clocks[round] = (uint32_t)(rte_rdtsc() - start);
	}
out:
	__atomic_store_n(&court.ball, UINT32_MAX, __ATOMIC_RELEASE);
	qsort(court.clocks, round, sizeof(court.clocks[0]), by_size);
	worker->roundtrip_min_clocks = round == 0 ? 0 : court.clocks[0];
	worker->roundtrip_median_clocks = round == 0 ? 0 : court.clocks[round / 2];
}

static void roundtrip_pong(const struct worker *worker)
{
	uint64_t deadline = rte_rdtsc() + rte_get_tsc_hz();
	uint32_t expected = 1;

	while (rte_rdtsc() < deadline) {
		uint32_t ball = __atomic_load_n(&court.ball, __ATOMIC_ACQUIRE);

		if (ball == UINT32_MAX)
			return;
		if (ball == expected) {
			__atomic_store_n(&court.ball, ball + 1, __ATOMIC_RELEASE);
			expected += 2;
		} else if (worker->cpu == worker->peer->cpu) {
			sched_yield();
		}
	}
}

/* One walk, and the cycles since the last one. */
static __rte_always_inline void worker_step(
	struct worker *worker, struct limits limits, uint64_t *found, bool traced)
{
	uint64_t now = rte_rdtsc(), gap = now - worker->last_tsc;

	if (unlikely(gap > limits.away)) {
		worker->away_clocks += gap;
		worker_note_away(worker, now, gap);
	} else {
		worker->overhead_clocks += gap;
		if (unlikely(gap > worker->stall_limit)) {
			worker->long_stalls += gap > limits.call;
			worker_note_away(worker, now, gap);
		}
	}
	worker->loops++;
	worker->last_tsc = worker_walk(worker, now, limits.call, found, traced);
	rcu_quiescent(worker->index);
}

/* Walks, traced, until no more packets are wanted or something else is asked for. */
static void worker_trace(struct worker *worker, struct limits limits)
{
	uint32_t request = WORKER_TRACE;

	while (__atomic_load_n(&worker->request, __ATOMIC_ACQUIRE) == WORKER_TRACE) {
		uint64_t found = 0;

		worker_step(worker, limits, &found, true);
		if (trace_is_over())
			__atomic_compare_exchange_n(&worker->request, &request, WORKER_WALK, false,
				__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		if (found == 0 && (worker->takes_turns || worker->waker != NULL))
			sched_yield();
	}
}

static __rte_noinline void worker_carry_out(
	struct worker *worker, struct limits limits, uint32_t request)
{
	if (request == WORKER_TRACE) {
		worker_trace(worker, limits);
		return;
	}
	if (request == WORKER_ROUNDTRIP_PING)
		roundtrip_ping(worker);
	else if (request == WORKER_ROUNDTRIP_PONG)
		roundtrip_pong(worker);
	__atomic_store_n(&worker->request, WORKER_WALK, __ATOMIC_RELEASE);
}

/* Returns true when the worker is to end. */
static __rte_always_inline bool worker_asked(struct worker *worker, struct limits limits)
{
	uint32_t request = __atomic_load_n(&worker->request, __ATOMIC_ACQUIRE);

	if (likely(request == WORKER_WALK))
		return false;
	if (request == WORKER_STOP)
		return true;
	worker_carry_out(worker, limits, request);
	return false;
}

static void loop_polling(struct worker *worker, struct limits limits)
{
	while (!worker_asked(worker, limits))
		worker_step(worker, limits, NULL, false);
}

/* Workers that share a CPU yield it when idle. */
static void loop_taking_turns(struct worker *worker, struct limits limits)
{
	while (!worker_asked(worker, limits)) {
		uint64_t found = 0;

		worker_step(worker, limits, &found, false);
		if (found == 0)
			sched_yield();
	}
}

/* Returns false when the time was up. */
static bool worker_sleep(struct worker *worker)
{
	uint64_t woke, slept = rte_rdtsc();
	bool woken;

	worker->overhead_clocks += slept - worker->last_tsc;
	__atomic_store_n(&worker->asleep_since, slept, __ATOMIC_RELEASE);
	rcu_reader_pause(worker->index);
	woken = waker_sleep(worker->waker, WORKER_SLEEP_MS);
	rcu_reader_resume(worker->index);
	woke = rte_rdtsc();
	worker->sleeps++;
	worker->sleep_clocks += woke - slept;
	worker->last_tsc = woke;
	__atomic_store_n(&worker->asleep_since, 0, __ATOMIC_RELEASE);
	return woken;
}

/* Sleeps unless work or a request arrived since the worker announced its sleep. Returns true when
 * it was woken; adds the work of the last walk before to *found. */
static bool worker_try_sleep(struct worker *worker, struct limits limits, uint64_t *found)
{
	waker_arm(worker->waker);
	worker_step(worker, limits, found, false);
	if (*found == 0 && __atomic_load_n(&worker->request, __ATOMIC_ACQUIRE) == WORKER_WALK)
		return worker_sleep(worker);
	waker_disarm(worker->waker);
	return false;
}

/* Polls on, gently, until its time to stay awake is over. */
static void worker_linger(struct worker *worker, struct limits limits, uint64_t *found)
{
	for (unsigned i = 0; i < WORKER_PAUSES; i++)
		rte_pause();
	worker_step(worker, limits, found, false);
}

/* An idle worker let the others run, which is sleep too; a turn so long that the worker was kept
 * waiting is descheduled time, and its next step counts it. */
static void worker_yield(struct worker *worker, struct limits limits)
{
	uint64_t back;

	sched_yield();
	back = rte_rdtsc();
	if (back - worker->last_tsc > limits.away)
		return;
	worker->sleep_clocks += back - worker->last_tsc;
	worker->last_tsc = back;
}

static void loop_sleeping(struct worker *worker, struct limits limits)
{
	const uint64_t us = rte_get_tsc_hz() / 1000000;
	const uint64_t linger = worker->rx_mode == RX_ADAPTIVE ? WORKER_LINGER_US * us : 0;
	uint64_t awake_until = 0;
	unsigned idle_walks = 0;

	while (!worker_asked(worker, limits)) {
		uint64_t found = 0;

		if (idle_walks < WORKER_IDLE_WALKS)
			worker_step(worker, limits, &found, false);
		else if (worker->last_tsc < awake_until)
			worker_linger(worker, limits, &found);
		else if (worker_try_sleep(worker, limits, &found))
			awake_until = worker->last_tsc + WORKER_WOKEN_US * us;
		idle_walks = found == 0 ? idle_walks + 1 : 0;
		if (found != 0)
			awake_until = worker->last_tsc + linger;
		else if (worker->takes_turns)
			worker_yield(worker, limits);
	}
}

static int worker_main(void *argument)
{
	struct worker *worker = argument;
	const struct limits limits = {worker_away_limit(), worker_call_limit()};

	worker->tid = rte_gettid();
	worker->stall_limit = worker_stall_limit();
	/* Whoever may keeps other programs off the workers' CPUs: what they take, a ring loses. All
	 * workers alike: scheduling groups share their weight over CPUs, so that a forwarder of
	 * more weight would leave the tester, on its own CPU, next to none beside another group.
	 * Workers that take turns are no measure anyway. */
	if (!worker->takes_turns)
		(void)setpriority(PRIO_PROCESS, (id_t)worker->tid, WORKER_NICE);
	rcu_reader_start(worker->index);
	worker->last_tsc = worker->started_tsc = rte_rdtsc();
	if (worker->waker != NULL)
		loop_sleeping(worker, limits);
	else if (worker->takes_turns)
		loop_taking_turns(worker, limits);
	else
		loop_polling(worker, limits);
	rcu_reader_stop(worker->index);
	return 0;
}

static void worker_ask(struct worker *worker, enum worker_request request)
{
	__atomic_store_n(&worker->request, request, __ATOMIC_RELEASE);
	if (worker->waker != NULL)
		waker_signal(worker->waker);
}

bool worker_ask_walking(struct worker *worker, enum worker_request request)
{
	uint32_t walking = WORKER_WALK;

	if (!__atomic_compare_exchange_n(
		    &worker->request, &walking, request, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	if (worker->waker != NULL)
		waker_signal(worker->waker);
	return true;
}

int workers_start(void)
{
	int rc = rcu_start(WORKERS_MAX);

	if (rc != 0)
		return rc;
	for (unsigned i = 0; i < workers_count(); i++) {
		struct worker *worker = worker_at(i);

		/* One without a queue has nothing to do: it sleeps for good. */
		if (worker->graph == NULL) {
			worker->last_tsc = worker->started_tsc = rte_rdtsc();
			worker->asleep_since = worker->started_tsc;
			continue;
		}
		rc = rte_eal_remote_launch(worker_main, worker, worker->lcore);
		if (rc != 0) {
			fprintf(stderr, "worker %s: cannot start on lcore %u\n", worker->name,
				worker->lcore);
			return rc;
		}
		while (__atomic_load_n(&worker->loops, __ATOMIC_RELAXED) == 0)
			usleep(100);
	}
	return 0;
}

void workers_stop(void)
{
	for (unsigned i = 0; i < workers_count(); i++)
		worker_ask(worker_at(i), WORKER_STOP);
	rte_eal_mp_wait_lcore();
}

int worker_roundtrip(struct worker *ping, struct worker *pong)
{
	if (ping == NULL || pong == NULL || ping == pong || ping->graph == NULL ||
		pong->graph == NULL)
		return -EINVAL;
	court.ball = 0;
	ping->peer = pong;
	pong->peer = ping;
	worker_ask(pong, WORKER_ROUNDTRIP_PONG);
	worker_ask(ping, WORKER_ROUNDTRIP_PING);
	for (unsigned waited_ms = 0; waited_ms < 2000; waited_ms++) {
		if (__atomic_load_n(&ping->request, __ATOMIC_ACQUIRE) == WORKER_WALK &&
			__atomic_load_n(&pong->request, __ATOMIC_ACQUIRE) == WORKER_WALK)
			return 0;
		usleep(1000);
	}
	return -ETIMEDOUT;
}
