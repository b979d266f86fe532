/* SPDX-License-Identifier: BSD-3-Clause */
/* port-rx: takes a vector from one rx queue of one port. One clone a queue. */
#include "capture/capture_tap.h"
#include "core/node.h"
#include "port/port.h"

#include <rte_cycles.h>

static uint16_t port_rx_process(
	struct rte_graph *graph, struct rte_node *node, __rte_unused void **objs, uint16_t count)
{
	const struct port_queue *queue = node_object(node);

	count = queue->rx_burst(queue->rx, (struct rte_mbuf **)node->objs, NODE_VECTOR_MAX);
	if (count == 0)
		return 0;
	if (unlikely(queue->received_tsc != NULL))
		*queue->received_tsc = rte_rdtsc();
	capture_rx(queue, (struct rte_mbuf **)node->objs, count);
	node->idx = count;
	rte_node_next_stream_move(graph, node, 0);
	return count;
}

static struct node_type port_rx = {
	.name = "port-rx",
	.process = port_rx_process,
	.nexts = {"drop"},
	.source = true,
	.template = true,
};
NODE_REGISTER(port_rx)
