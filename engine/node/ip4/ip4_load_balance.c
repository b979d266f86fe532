/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-load-balance: one of the route's paths for each packet, the same for all of a flow. A
 * packet that only needs the usual rewrite gets it here and goes straight to its port, as in
 * ip4-lookup; the others go on as their path's adjacency says.
 */
#include "core/path_hash.h"
#include "core/vector.h"
#include "node/fused.h"
#include "router/adjacency_text.h"
#include "router/load_balance.h"
#include "ip4_rewrite.h"

#include <stdio.h>

/* Returns how many got the usual rewrite. */
static uint16_t rewrite(struct rte_mbuf **mbufs, const uint32_t *chosen, rte_edge_t *nexts,
	uint16_t count, rte_edge_t *differ)
{
	uint16_t usual = 0;

	for (uint16_t i = 0; i < count; i++) {
		const struct adjacency *adjacency = &adjacencies[chosen[i]];
		rte_edge_t edge = interface_edge[adjacency->interface];

		if (likely(rewrite_usual(mbufs[i], packet_l3(mbufs[i]), adjacency,
			    usual_bytes(adjacency, edge)))) {
			nexts[i] = ADJACENCY_TX_EDGE(edge);
			usual++;
		} else {
			packet_set_adjacency(mbufs[i], chosen[i]);
			nexts[i] = adjacency_kind(adjacency);
		}
		*differ |= nexts[i] ^ nexts[0];
	}
	return usual;
}

static bool ip4_load_balance_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	uint32_t chosen[NODE_VECTOR_MAX];
	rte_edge_t differ = 0;

	for (uint16_t i = 0; i < count; i++)
		chosen[i] = load_balance_choose(&adjacencies[packet_adjacency(mbufs[i])],
			flow_hash_ip4(packet_l3(mbufs[i]), packet_l3_bytes(mbufs[i])));
	fused_count(node, rewrite(mbufs, chosen, nexts, count, &differ));
	return differ == 0;
}

static uint16_t ip4_load_balance_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	return vector_walk_parted(graph, node, objs, count, ip4_load_balance_vector);
}

static void ip4_load_balance_trace(
	struct rte_node *node, const struct rte_mbuf *mbuf, char *text, size_t bytes)
{
	uint32_t hash = flow_hash_ip4(packet_l3(mbuf), packet_l3_bytes(mbuf));
	char bucket[32];

	(void)node;
	snprintf(bucket, sizeof(bucket), "bucket %u", hash >> LOAD_BALANCE_BUCKET_SHIFT);
	adjacency_text(bucket, load_balance_choose(&adjacencies[packet_adjacency(mbuf)], hash),
		text, bytes);
}

static struct node_type ip4_load_balance = {
	.name = "ip4-load-balance",
	.process = ip4_load_balance_process,
	.trace = ip4_load_balance_trace,
	.init = fused_find,
	.fused = FUSED_NODES("ip4-rewrite"),
	.private_bytes = sizeof(struct fused),
	/* A path is to a neighbour: it is none of the kinds that go to "drop" here. */
	.nexts = {[ADJACENCY_DROP] = "drop",
		[ADJACENCY_REWRITE] = "ip4-rewrite",
		[ADJACENCY_ARP] = "ip4-arp",
		[ADJACENCY_MPLS_IMPOSITION] = "ip4-mpls-label-imposition",
		/* The ports' edges come after all kinds. */
		[ADJACENCY_KINDS - 1] = "drop"},
};
NODE_REGISTER(ip4_load_balance)
