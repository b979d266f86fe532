/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tester-tx: sends a tester port's frames. A tester loses none: what finds no room is kept
 * and sent first next time, and the tester is late (which makes a trial invalid, not lossy).
 */
#include "../stream/tester.h"

#include <string.h>

static uint16_t tester_tx_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	struct tester_port *port = node_object(node);
	uint16_t sent = port->port->driver->tx_burst(
		port->port->tx_queues[0], (struct rte_mbuf **)objs, count);

	(void)graph;
	if (unlikely(sent < count)) {
		memcpy(port->held, objs + sent, (size_t)(count - sent) * sizeof(void *));
		port->nb_held = (uint16_t)(count - sent);
	}
	return sent;
}

static struct node_type tester_tx = {
	.name = "tester-tx",
	.process = tester_tx_process,
	.template = true,
};
NODE_REGISTER(tester_tx)
