/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/errors: every drop reason that counted. */
#include "core/node.h"
#include "core/worker.h"
#include "command.h"

static int errors_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "ssssu", "worker", "node", "reason", "severity", "packets");
	for (const struct node_state *state = node_states(); state != NULL; state = state->link)
		for (unsigned r = 0; r < NODE_REASONS_MAX && state->type->reasons[r] != NULL; r++) {
			if (state->drops[r] == 0)
				continue;
			table_string(&table, 0, state->worker->name);
			table_string(&table, 1, state->name);
			table_string(&table, 2, state->type->reasons[r]);
			table_string(
				&table, 3, state->type->consumed & (1u << r) ? "info" : "error");
			table_u64(&table, 4, state->drops[r]);
		}
	return table_end(&table, data);
}

COMMAND("/linerate/errors", errors_answer,
	"Columns worker, node, reason, severity, packets. Takes no parameter")
