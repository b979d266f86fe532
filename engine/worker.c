/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker.h"

#include "node/node.h"
#include "rcu.h"

#include <errno.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_pause.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct worker *workers[WORKERS_MAX];
static unsigned nb_workers;
static unsigned nb_forwarders;
static int main_cpu;
static char layout[256];
static struct worker *creating;

static struct worker *worker_add(const char *name, enum worker_role role, int cpu)
{
	struct worker *worker = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*worker));

	if (worker == NULL)
		return NULL;
	memset(worker, 0, sizeof(*worker));
	snprintf(worker->name, sizeof(worker->name), "%s", name);
	worker->role = role;
	worker->cpu = cpu;
	worker->index = nb_workers;
	worker->lcore = nb_workers + 1;
	if (role & WORKER_FORWARDER)
		worker->forwarder_index = nb_forwarders++;
	workers[nb_workers++] = worker;
	return worker;
}

/* One CPU: everything on it. Two: tester (with housekeeping) and forwarder. More: one each. */
int workers_plan(const int *cpus, unsigned nb_cpus, bool tester, unsigned forwarders)
{
	unsigned next = 0, first, used = 0;
	char name[32];
	int length;

	if (forwarders + 1 > WORKERS_MAX) {
		fprintf(stderr, "at most %d workers\n", WORKERS_MAX - 1);
		return -1;
	}
	main_cpu = cpus[0];
	if (nb_cpus == 1 && tester && forwarders == 1) {
		worker_add("worker", WORKER_BOTH, cpus[0]);
		snprintf(layout, sizeof(layout),
			"1 CPU: tester and forwarder take turns on CPU %d; rates are about half",
			cpus[0]);
		return (int)nb_workers;
	}
	if (nb_cpus > (tester ? 1u : 0u) + forwarders)
		next = 1; /* one is left for housekeeping alone */
	length = snprintf(layout, sizeof(layout), "%u CPU%s: housekeeping on %d", nb_cpus,
		nb_cpus == 1 ? "" : "s", main_cpu);
	if (tester) {
		worker_add("tester", WORKER_TESTER, cpus[next]);
		length += snprintf(
			layout + length, sizeof(layout) - length, ", tester on %d", cpus[next]);
		if (next + 1 < nb_cpus)
			next++;
	}
	first = next;
	for (unsigned i = 0; i < forwarders; i++) {
		snprintf(name, sizeof(name), "forwarder-%u", i);
		worker_add(name, WORKER_FORWARDER, cpus[next]);
		if ((size_t)length < sizeof(layout))
			length += snprintf(layout + length, sizeof(layout) - length, ", %s on %d",
				name, cpus[next]);
		used++;
		next = next + 1 < nb_cpus ? next + 1 : first;
	}
	if (used > nb_cpus - first && (size_t)length < sizeof(layout))
		snprintf(layout + length, sizeof(layout) - length,
			" (more workers than CPUs: they take turns)");
	return (int)nb_workers;
}

unsigned workers_count(void)
{
	return nb_workers;
}

struct worker *worker_at(unsigned index)
{
	return index < nb_workers ? workers[index] : NULL;
}

struct worker *worker_find(const char *name)
{
	for (unsigned i = 0; i < nb_workers; i++)
		if (strcmp(workers[i]->name, name) == 0)
			return workers[i];
	return NULL;
}

struct worker *worker_of_tester(void)
{
	for (unsigned i = 0; i < nb_workers; i++)
		if (workers[i]->role & WORKER_TESTER)
			return workers[i];
	return NULL;
}

struct worker *worker_of_forwarder(unsigned forwarder_index)
{
	for (unsigned i = 0; i < nb_workers; i++)
		if ((workers[i]->role & WORKER_FORWARDER) &&
			workers[i]->forwarder_index == forwarder_index)
			return workers[i];
	return NULL;
}

unsigned workers_forwarders(void)
{
	return nb_forwarders;
}

struct node_stats *worker_node_stats(struct worker *worker, const char *node)
{
	rte_node_t id = rte_node_from_name(node);

	return id < WORKER_NODES_MAX ? &worker->nodes[id] : NULL;
}

int workers_main_cpu(void)
{
	return main_cpu;
}

const char *workers_layout(void)
{
	return layout;
}

struct worker *worker_creating(void)
{
	return creating;
}

void worker_add_node(struct worker *worker, const char *node)
{
	worker->patterns = realloc(worker->patterns, (worker->nb_patterns + 1) * sizeof(char *));
	if (worker->patterns == NULL)
		rte_exit(1, "out of memory\n");
	worker->patterns[worker->nb_patterns++] = strdup(node);
}

int workers_create_graphs(int socket)
{
	for (unsigned i = 0; i < nb_workers; i++) {
		struct worker *worker = workers[i];
		struct rte_graph_param param = {
			.socket_id = socket,
			.nb_node_patterns = (uint16_t)worker->nb_patterns,
			.node_patterns = worker->patterns,
		};

		if (worker->nb_patterns == 0)
			continue;
		worker->socket = socket;
		creating = worker;
		worker->graph_id = rte_graph_create(worker->name, &param);
		creating = NULL;
		worker->graph = rte_graph_lookup(worker->name);
		if (worker->graph == NULL) {
			fprintf(stderr, "worker %s: its graph cannot be made: %s\n", worker->name,
				strerror(rte_errno));
			return -rte_errno;
		}
	}
	return 0;
}

/*
 * rte_graph_walk() with chained time stamps: one rdtsc a node instead of two, and
 * no clock between two nodes goes uncounted. Returns the time of the last stamp.
 */
static inline uint64_t worker_walk(struct worker *worker, uint64_t now, uint64_t away_limit)
{
	struct rte_graph *graph = worker->graph;
	const rte_graph_off_t *cir_start = graph->cir_start;
	const uint32_t mask = graph->cir_mask;
	uint32_t head = graph->head;

	while (likely(head != graph->tail)) {
		struct rte_node *node = RTE_PTR_ADD(graph, cir_start[(int32_t)head++]);
		struct node_stats *stats = &worker->nodes[node->id];
		void **objs = node->objs;
		uint64_t end, spent;
		uint16_t done;

		rte_prefetch0(objs);
		done = node->process(graph, node, objs, node->idx);
		end = rte_rdtsc();
		spent = end - now;
		now = end;
		if (unlikely(spent > away_limit)) {
			worker->away_clocks += spent;
			spent = 0;
		}
		if (done != 0) {
			stats->calls++;
			stats->vectors += done;
			stats->clocks += spent;
		} else {
			stats->idle_calls++;
			stats->idle_clocks += spent;
		}
		node->idx = 0;
		head = likely((int32_t)head > 0) ? head & mask : head;
	}
	graph->tail = 0;
	return now;
}

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

static void worker_carry_out(struct worker *worker, uint32_t request)
{
	if (request == WORKER_ROUNDTRIP_PING)
		roundtrip_ping(worker);
	else if (request == WORKER_ROUNDTRIP_PONG)
		roundtrip_pong(worker);
	__atomic_store_n(&worker->request, WORKER_WALK, __ATOMIC_RELEASE);
}

static int worker_main(void *argument)
{
	struct worker *worker = argument;
	const uint64_t away_limit = rte_get_tsc_hz() / 1000000 * WORKER_AWAY_US;
	uint64_t last;

	worker->tid = rte_gettid();
	/* Whoever may keeps other programs off the forwarder's CPU: what they take, it loses. */
	if (worker->role & WORKER_FORWARDER)
		(void)setpriority(PRIO_PROCESS, (id_t)worker->tid, -20);
	rcu_reader_start(worker->index);
	last = worker->started_tsc = rte_rdtsc();
	while (true) {
		uint32_t request = __atomic_load_n(&worker->request, __ATOMIC_ACQUIRE);
		uint64_t now;

		if (unlikely(request != WORKER_WALK)) {
			if (request == WORKER_STOP)
				break;
			worker_carry_out(worker, request);
		}
		now = rte_rdtsc();
		if (unlikely(now - last > away_limit))
			worker->away_clocks += now - last;
		else
			worker->overhead_clocks += now - last;
		worker->loops++;
		last = worker_walk(worker, now, away_limit);
		worker->last_tsc = last;
		rcu_quiescent(worker->index);
	}
	rcu_reader_stop(worker->index);
	return 0;
}

int workers_start(void)
{
	int rc = rcu_start(WORKERS_MAX);

	if (rc != 0)
		return rc;
	for (unsigned i = 0; i < nb_workers; i++) {
		if (workers[i]->graph == NULL)
			continue;
		rc = rte_eal_remote_launch(worker_main, workers[i], workers[i]->lcore);
		if (rc != 0) {
			fprintf(stderr, "worker %s: cannot start on lcore %u\n", workers[i]->name,
				workers[i]->lcore);
			return rc;
		}
		while (__atomic_load_n(&workers[i]->loops, __ATOMIC_RELAXED) == 0)
			usleep(100);
	}
	return 0;
}

void workers_stop(void)
{
	for (unsigned i = 0; i < nb_workers; i++)
		__atomic_store_n(&workers[i]->request, WORKER_STOP, __ATOMIC_RELEASE);
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
	__atomic_store_n(&pong->request, WORKER_ROUNDTRIP_PONG, __ATOMIC_RELEASE);
	__atomic_store_n(&ping->request, WORKER_ROUNDTRIP_PING, __ATOMIC_RELEASE);
	for (unsigned waited_ms = 0; waited_ms < 2000; waited_ms++) {
		if (__atomic_load_n(&ping->request, __ATOMIC_ACQUIRE) == WORKER_WALK &&
			__atomic_load_n(&pong->request, __ATOMIC_ACQUIRE) == WORKER_WALK)
			return 0;
		usleep(1000);
	}
	return -ETIMEDOUT;
}
