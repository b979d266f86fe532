/* SPDX-License-Identifier: BSD-3-Clause */
/* port-tx: sends a vector on one port, on the worker's own tx queue. One clone a port. */
#include "capture/capture_tap.h"
#include "core/node.h"
#include "core/worker.h"
#include "port/port.h"

enum reason {
	NO_FREE_TX_SLOTS,
	LINK_DOWN,
};

static uint16_t port_tx_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	const struct port_queue *queue = node_object(node);
	uint16_t sent = capture_tx_burst(queue, (struct rte_mbuf **)objs, count);

	if (unlikely(sent < count)) {
		node_state(node)
			->drops[port_link_is_down(queue->port) ? LINK_DOWN : NO_FREE_TX_SLOTS] +=
			count - sent;
		rte_node_enqueue(graph, node, 0, objs + sent, count - sent);
	}
	return sent;
}

/* The clone was made for the port; each worker has a tx queue of its own there. */
static int port_tx_init(struct node_state *state, struct rte_node *node)
{
	struct port *port = state->object;

	node_context(node)->object = port_queue(port, state->worker->forwarder_index);
	return 0;
}

static struct node_type port_tx = {
	.name = "port-tx",
	.process = port_tx_process,
	.init = port_tx_init,
	.nexts = {"drop"},
	.reasons = {[NO_FREE_TX_SLOTS] = "no free tx slots", [LINK_DOWN] = "link down"},
	.template = true,
};
NODE_REGISTER(port_tx)
