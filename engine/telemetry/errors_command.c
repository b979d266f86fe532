/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/errors: every drop reason that counted. */
#include "core/node.h"
#include "core/worker.h"
#include "command.h"

static int errors_answer(const char *command, const char *parameters, struct rte_tel_data *data)
{
	static const char *const names[] = {"worker", "node", "reason", "severity", "packets"};
	struct table table;

	(void)command;
	(void)parameters;
	rte_tel_data_start_dict(data);
	if (table_start(&table, "ssssu", names) != 0)
		return -1;
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

static struct command errors = {
	.path = "/linerate/errors",
	.answer = errors_answer,
	.help = "Columns worker, node, reason, severity, packets. Takes no parameter",
};
COMMAND_REGISTER(errors)
