/* SPDX-License-Identifier: BSD-3-Clause */
/* drop-odd: drops IPv4 packets of odd length; an example of a node. */
#include "core/vector.h"

enum next {
	NEXT_DROP,
	NEXT_LOOKUP,
};

enum reason {
	ODD_LENGTH,
};

static bool drop_odd_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	rte_edge_t differ = 0;

	for (uint16_t i = 0; i < count; i++) {
		nexts[i] = NEXT_LOOKUP;
		if (mbufs[i]->pkt_len % 2 != 0) {
			node_state(node)->drops[ODD_LENGTH]++;
			nexts[i] = NEXT_DROP;
		}
		differ |= nexts[i] ^ nexts[0];
	}
	return differ == 0;
}

static uint16_t drop_odd_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	return vector_walk(graph, node, objs, count, drop_odd_vector);
}

static struct node_type drop_odd = {
	.name = "drop-odd",
	.process = drop_odd_process,
	.attach = {.next = "ip4-lookup", .parents = {"ethernet-input", "ip4-input"}},
	.nexts = {[NEXT_DROP] = "drop", [NEXT_LOOKUP] = "ip4-lookup"},
	.reasons = {[ODD_LENGTH] = "odd length"},
};
NODE_REGISTER(drop_odd)
