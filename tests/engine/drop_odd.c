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

static rte_edge_t edge_of(struct rte_node *node, struct rte_mbuf *mbuf)
{
	return mbuf->pkt_len % 2 != 0 ? node_drop_as(node, ODD_LENGTH) : NEXT_LOOKUP;
}

VECTOR_EACH(drop_odd, edge_of, 0)
VECTOR_PROCESS(drop_odd)

static struct node_type drop_odd = {
	.name = "drop-odd",
	.process = drop_odd_process,
	.attach = {.next = "ip4-lookup", .parents = {"ethernet-input", "ip4-input"}},
	.nexts = {[NEXT_DROP] = "drop", [NEXT_LOOKUP] = "ip4-lookup"},
	.reasons = {[ODD_LENGTH] = "odd length"},
};
NODE_REGISTER(drop_odd)
