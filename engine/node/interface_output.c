/* SPDX-License-Identifier: BSD-3-Clause */
/* interface-output: each packet to the port-tx or vlan-output of the interface that
 * mbuf->port names. */
#include "core/vector.h"
#include "router/interface.h"

enum reason {
	INTERFACE_DOWN,
};

static bool interface_output_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	rte_edge_t differ = 0;

	for (uint16_t i = 0; i < count; i++) {
		nexts[i] = interface_edge[mbufs[i]->port];
		if (unlikely(nexts[i] == INTERFACE_EDGE_DOWN))
			node_state(node)->drops[INTERFACE_DOWN]++;
		differ |= nexts[i] ^ nexts[0];
	}
	return differ == 0;
}

static uint16_t interface_output_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	return vector_walk(graph, node, objs, count, interface_output_vector);
}

/* The interfaces' edges are added when the router knows its interfaces. */
static struct node_type interface_output = {
	.name = "interface-output",
	.process = interface_output_process,
	.nexts = {[INTERFACE_EDGE_DOWN] = "drop"},
	.reasons = {[INTERFACE_DOWN] = "interface down"},
};
NODE_REGISTER(interface_output)
