/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-load-balance: one of the route's paths for each packet, the same for all of a flow. A
 * packet that only needs the usual rewrite gets it here and goes straight to its port, as in
 * ip4-lookup; the others go on as their path's adjacency says.
 */
#include "../router/flow_hash.h"
#include "../router/load_balance.h"
#include "../worker.h"
#include "ip4_rewrite.h"
#include "vector.h"

#include <errno.h>

struct ip4_load_balance {
	struct node_stats *rewrite, *output; /* their packets that were done here */
};

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

static void send_vector(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	const struct ip4_load_balance *own = node_private(node);
	struct rte_mbuf **mbufs = (struct rte_mbuf **)objs;
	rte_edge_t nexts[NODE_VECTOR_MAX], differ = 0;
	uint32_t chosen[NODE_VECTOR_MAX];
	uint16_t usual;

	for (uint16_t i = 0; i < count; i++)
		chosen[i] = load_balance_choose(&adjacencies[packet_adjacency(mbufs[i])],
			flow_hash_ip4(packet_l3(mbufs[i]), packet_l3_bytes(mbufs[i])));
	usual = rewrite(mbufs, chosen, nexts, count, &differ);
	own->rewrite->fused_calls++;
	own->rewrite->fused_vectors += usual;
	own->output->fused_calls++;
	own->output->fused_vectors += usual;
	if (differ == 0)
		vector_send(graph, node, objs, nexts, count, true);
	else
		vector_part(graph, node, objs, nexts, count);
}

static uint16_t ip4_load_balance_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	for (uint16_t done = 0; done < count; done += NODE_VECTOR_MAX)
		send_vector(graph, node, objs + done,
			RTE_MIN((uint16_t)(count - done), (uint16_t)NODE_VECTOR_MAX));
	return count;
}

static int ip4_load_balance_init(struct node_state *state, struct rte_node *node)
{
	struct ip4_load_balance *own = node_private(node);

	own->rewrite = worker_node_stats(state->worker, "ip4-rewrite");
	own->output = worker_node_stats(state->worker, "interface-output");
	return own->rewrite == NULL || own->output == NULL ? -ENOENT : 0;
}

static struct node_type ip4_load_balance = {
	.name = "ip4-load-balance",
	.process = ip4_load_balance_process,
	.init = ip4_load_balance_init,
	.private_bytes = sizeof(struct ip4_load_balance),
	/* A path is to a neighbour: it is none of the kinds that go to "drop" here. */
	.nexts = {[ADJACENCY_DROP] = "drop",
		[ADJACENCY_UNREACHABLE] = "drop",
		[ADJACENCY_REWRITE] = "ip4-rewrite",
		[ADJACENCY_ARP] = "ip4-arp",
		[ADJACENCY_LOCAL] = "drop",
		[ADJACENCY_MPLS_OUTPUT] = "drop",
		[ADJACENCY_MPLS_DISPOSITION] = "drop",
		[ADJACENCY_MPLS_IP4] = "drop",
		[ADJACENCY_MPLS_AGAIN] = "drop",
		[ADJACENCY_LOAD_BALANCE] = "drop",
		[ADJACENCY_MPLS_IMPOSITION] = "ip4-mpls-label-imposition",
		[ADJACENCY_UNREACHABLE6] = "drop",
		[ADJACENCY_REWRITE6] = "drop",
		[ADJACENCY_ND] = "drop",
		[ADJACENCY_LOCAL6] = "drop"},
};
NODE_REGISTER(ip4_load_balance)
