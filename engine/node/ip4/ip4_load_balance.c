/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-load-balance: one of the route's paths for each packet, the same for all of a flow. A
 * packet that only needs the usual rewrite gets it here and goes straight to its port, as in
 * ip4-lookup; the others go on as their path's adjacency says.
 */
#include "core/path_hash.h"
#include "router/adjacency_text.h"
#include "router/load_balance.h"
#include "ip4_rewrite.h"

#include <stdio.h>

static bool ip4_load_balance_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	uint32_t chosen[NODE_VECTOR_MAX];
	uint8_t *ip[NODE_VECTOR_MAX];
	rte_edge_t differ = 0;

	for (uint16_t i = 0; i < count; i++) {
		ip[i] = packet_l3(mbufs[i]);
		chosen[i] = load_balance_choose(&adjacencies[packet_adjacency(mbufs[i])],
			flow_hash_ip4(ip[i], packet_l3_bytes(mbufs[i])));
	}
	fused_count(
		node, ip_lookup_rewrite_each(&ip4_family, node, mbufs, ip, chosen, nexts, count));
	for (uint16_t i = 0; i < count; i++)
		differ |= nexts[i] ^ nexts[0];
	return differ == 0;
}

VECTOR_PROCESS_PARTED(ip4_load_balance)

static void ip4_load_balance_trace(
	__rte_unused struct rte_node *node, const struct rte_mbuf *mbuf, char *text, size_t bytes)
{
	uint32_t hash = flow_hash_ip4(packet_l3(mbuf), packet_l3_bytes(mbuf));
	char bucket[32];

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
