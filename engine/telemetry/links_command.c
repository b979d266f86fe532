/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/links: the link of each port that has one, and when it changed. */
#include "port/port.h"
#include "command.h"

#include <rte_cycles.h>

/* Microseconds since the TSC value; 0: never. */
static uint64_t ago_us(uint64_t tsc)
{
	return tsc == 0 ? 0
			: (uint64_t)((double)(rte_rdtsc() - tsc) * 1e6 / (double)rte_get_tsc_hz());
}

static void add_port(struct table *table, const struct port *port)
{
	struct port_link link = {0};

	if (port->driver->link_read == NULL)
		return;
	port->driver->link_read(port, &link);
	if (!link.known)
		return;
	table_string(table, 0, port->name);
	table_string(table, 1, link.up ? "up" : "down");
	table_u64(table, 2, link.speed_bps);
	table_string(table, 3, link.full_duplex ? "full" : "half");
	table_u64(table, 4, link.downs);
	table_u64(table, 5, link.ups);
	table_u64(table, 6, ago_us(link.down_tsc));
	table_u64(table, 7, ago_us(link.up_tsc));
}

static int links_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "ssusuuuu", "name", "state", "speed_bps", "duplex", "downs", "ups",
		"down_us_ago", "up_us_ago");
	for (unsigned i = 0; i < ports_count(); i++)
		add_port(&table, port_at(i));
	return table_end(&table, data);
}

COMMAND("/linerate/links", links_answer,
	"Columns name, state, speed_bps (0: unknown), duplex, downs, ups, down_us_ago, "
	"up_us_ago (0: never). Takes no parameter")
