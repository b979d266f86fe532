/* SPDX-License-Identifier: BSD-3-Clause */
/* interface-output: each packet to the port-tx or vlan-output of the interface that
 * mbuf->port names. */
#include "core/vector.h"
#include "router/interface.h"

enum reason {
	INTERFACE_DOWN,
};

static __rte_always_inline rte_edge_t edge_of(struct rte_node *node, struct rte_mbuf *mbuf)
{
	rte_edge_t edge = interface_edge[mbuf->port];

	return unlikely(edge == INTERFACE_EDGE_DOWN) ? node_drop_as(node, INTERFACE_DOWN) : edge;
}

VECTOR_EACH(interface_output, edge_of, 0)
VECTOR_PROCESS(interface_output)

/* The interfaces' edges are added when the router knows its interfaces. */
static struct node_type interface_output = {
	.name = "interface-output",
	.process = interface_output_process,
	.nexts = {[INTERFACE_EDGE_DOWN] = "drop"},
	.reasons = {[INTERFACE_DOWN] = "interface down"},
};
NODE_REGISTER(interface_output)
