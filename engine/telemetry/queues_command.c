/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/queues: queues, descriptor rings and RSS of each port, as its device took them. */
#include "port/port.h"
#include "command.h"

static int queues_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct table table;

	table_start(
		&table, "suuuus", "name", "rx_queues", "tx_queues", "rx_ring", "tx_ring", "rss");
	for (unsigned i = 0; i < ports_count(); i++) {
		const struct port *port = port_at(i);

		table_string(&table, 0, port->name);
		table_u64(&table, 1, port->nb_rx_queues);
		table_u64(&table, 2, port->nb_tx_queues);
		table_u64(&table, 3, port->rx_ring);
		table_u64(&table, 4, port->tx_ring);
		table_string(&table, 5, port->rss);
	}
	return table_end(&table, data);
}

COMMAND("/linerate/queues", queues_answer,
	"Columns name, rx_queues, tx_queues, rx_ring, tx_ring (descriptors a queue), rss "
	"(fields; empty: not known). Takes no parameter")
