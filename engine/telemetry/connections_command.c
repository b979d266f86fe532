/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/connections,FIRST: what became of each template's connections. */
#include "tester/connections.h"

#include "tester/tester.h"
#include "command.h"

#include <stdlib.h>

#define TEMPLATES_PER_ANSWER 64

static void add_template(struct table *table, const struct connection_template *template)
{
	table_string(table, 0, template->name);
	table_u64(table, 1, template->started);
	table_u64(table, 2, template->finished);
	table_u64(table, 3, template->cut);
	for (unsigned i = 0; i < NOT_STARTED_REASONS; i++)
		table_u64(table, 4 + i, template->not_started[i]);
	for (unsigned side = 0; side < CONNECTION_SIDES; side++) {
		table_u64(table, 7 + side, template->packets[side]);
		table_u64(table, 9 + side, template->bytes[side]);
	}
}

static int answer_templates(
	struct rte_tel_data *data, const struct connections *connections, unsigned long first)
{
	struct table table;

	table_start(&table, "suuuuuuuuuu", "name", "started", "finished", "cut",
		"not_started_no_port", "not_started_limit", "not_started_full", "client_packets",
		"server_packets", "client_bytes", "server_bytes");
	for (unsigned long i = first;
		i < connections->nb_templates && i < first + TEMPLATES_PER_ANSWER; i++)
		add_template(&table, &connections->templates[i]);
	return table_end(&table, data);
}

static int connections_answer(const char *parameters, struct rte_tel_data *data)
{
	unsigned long first = parameters == NULL ? 0 : strtoul(parameters, NULL, 10);
	const struct connections *connections = tester.connections;

	if (connections == NULL) {
		answer_u64(data, "total", 0);
		return 0;
	}
	answer_u64(data, "total", connections->nb_templates);
	answer_u64(data, "active", connections_active(connections));
	answer_u64(data, "max_active", connections->max_active);
	answer_u64(data, "received_from_clients", connections_received_from(SIDE_CLIENT));
	answer_u64(data, "received_from_servers", connections_received_from(SIDE_SERVER));
	return answer_templates(data, connections, first);
}

COMMAND("/linerate/connections", connections_answer,
	"Columns of up to 64 templates of connections. Parameter: number of the first")
