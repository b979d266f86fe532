/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/runtime,WORKER: the worker's time ledger. */
#include "../node/node.h"
#include "../worker.h"
#include "command.h"

#include <rte_cycles.h>

static const char *state_of(rte_node_t id, const struct node_stats *stats)
{
	if (node_type_of(id)->source)
		return "polling";
	return stats->calls == 0 && stats->fused_calls != 0 ? "fused" : "active";
}

/* The worker's last loop is still being counted: its end is the time of this reading. */
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

static int runtime_answer(const char *command, const char *parameters, struct rte_tel_data *data)
{
	static const char *const names[] = {
		"node", "calls", "vectors", "clocks", "idle_calls", "idle_clocks", "state"};
	const struct worker *worker = parameters == NULL ? NULL : worker_find(parameters);
	struct table table;

	(void)command;
	if (worker == NULL)
		return -1;
	rte_tel_data_start_dict(data);
	if (table_start(&table, "suuuuus", names) != 0)
		return -1;
	answer_string(data, "worker", worker->name);
	answer_u64(data, "tsc", rte_rdtsc());
	answer_u64(data, "started_tsc", worker->started_tsc);
	answer_u64(data, "loops", worker->loops);
	answer_u64(data, "overhead_clocks", worker->overhead_clocks);
	answer_u64(data, "away_clocks", worker->away_clocks);
	add_nodes(&table, worker);
	return table_end(&table, data);
}

static struct command runtime = {
	.path = "/linerate/runtime",
	.answer = runtime_answer,
	.help = "Clocks of each node of a worker. Parameter: the worker's name",
};
COMMAND_REGISTER(runtime)
