/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/runtime,WORKER: the worker's time ledger. */
#include "core/node.h"
#include "core/worker.h"
#include "command.h"

#include <rte_cycles.h>
#include <stdlib.h>
#include <string.h>

/* This thread may be switched out in the midst of a reading, as often as the machine is busy. */
#define READINGS_MAX 100

static bool is_unchanged(const struct worker *worker, uint64_t asleep, uint64_t waiting)
{
	return asleep == __atomic_load_n(&worker->asleep_since, __ATOMIC_ACQUIRE) &&
	       waiting == __atomic_load_n(&worker->waiting_since, __ATOMIC_ACQUIRE);
}

/*
 * The worker's counters at one time, which is returned. A worker that is switched out now has
 * not counted that yet: what passed since its last stamp is added, when it is too long for a
 * walk; a sleep, or a node's wait, that lasts likewise. Of one that walks, the walk that goes on
 * is missing.
 */
static uint64_t read_worker(const struct worker *worker, struct worker *reading)
{
	const uint64_t limit = worker_away_limit();
	uint64_t before, now = 0;

	for (unsigned i = 0; i < READINGS_MAX; i++) {
		uint64_t asleep = __atomic_load_n(&worker->asleep_since, __ATOMIC_ACQUIRE);
		uint64_t waiting = __atomic_load_n(&worker->waiting_since, __ATOMIC_ACQUIRE);

		before = rte_rdtsc();
		memcpy(reading, worker, sizeof(*reading));
		now = rte_rdtsc();
		if (now - before <= limit && is_unchanged(worker, asleep, waiting))
			break;
	}
	if (reading->asleep_since != 0 && reading->asleep_since >= reading->last_tsc)
		reading->sleep_clocks += now - reading->asleep_since;
	else if (reading->waiting_since != 0)
		reading->nodes[reading->waiting_node].clocks += now - reading->waiting_since;
	else if (now > reading->last_tsc + limit)
		reading->away_clocks += now - reading->last_tsc;
	return now;
}

static const char *state_of(rte_node_t id, const struct node_stats *stats)
{
	if (node_type_of(id)->source)
		return "polling";
	return stats->calls == 0 && stats->fused_calls != 0 ? "fused" : "active";
}

static void add_nodes(struct table *table, const struct worker *worker)
{
	for (rte_node_t id = 0; id < WORKER_NODES_MAX; id++) {
		const struct node_stats *stats = &worker->nodes[id];
		const char *name = rte_node_id_to_name(id);

		if (name == NULL || node_type_of(id) == NULL ||
			stats->calls + stats->idle_calls + stats->fused_calls == 0)
			continue;
		table_string(table, 0, name);
		table_u64(table, 1, stats->calls + stats->fused_calls);
		table_u64(table, 2, stats->vectors + stats->fused_vectors);
		table_u64(table, 3, stats->clocks);
		table_u64(table, 4, stats->idle_calls);
		table_u64(table, 5, stats->idle_clocks);
		table_string(table, 6, state_of(id, stats));
	}
}

static int answer_reading(struct rte_tel_data *data, const struct worker *reading, uint64_t now)
{
	struct table table;

	table_start(&table, "suuuuus", "node", "calls", "vectors", "clocks", "idle_calls",
		"idle_clocks", "state");
	answer_string(data, "worker", reading->name);
	answer_u64(data, "tsc", now);
	answer_u64(data, "started_tsc", reading->started_tsc);
	answer_u64(data, "loops", reading->loops);
	answer_u64(data, "overhead_clocks", reading->overhead_clocks);
	answer_u64(data, "away_clocks", reading->away_clocks);
	answer_u64(data, "sleep_clocks", reading->sleep_clocks);
	answer_u64(data, "sleeps", reading->sleeps);
	answer_string(data, "rx_mode", rx_mode_name(reading->rx_mode));
	add_nodes(&table, reading);
	return table_end(&table, data);
}

static int runtime_answer(const char *parameters, struct rte_tel_data *data)
{
	const struct worker *worker = parameters == NULL ? NULL : worker_find(parameters);
	struct worker *reading;
	uint64_t now;
	int rc;

	if (worker == NULL)
		return -1;
	reading = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*reading));
	if (reading == NULL)
		return -1;
	now = read_worker(worker, reading);
	rc = answer_reading(data, reading, now);
	free(reading);
	return rc;
}

COMMAND("/linerate/runtime", runtime_answer,
	"Calls, vectors and clocks by node of a worker. Parameter: the worker's name")
