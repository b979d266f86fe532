/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbor-timer: in each walk looks at one flag. When something is due it asks again for
 * neighbours that have not answered, sends on what waited for one that has, and answers
 * "host unreachable" for those that never did.
 */
#include "core/worker.h"
#include "router/neighbor.h"
#include "router/packet.h"
#include "router/router.h"
#include "router/routes.h"

#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>

enum next {
	NEXT_OUTPUT = ADJACENCY_KINDS, /* after those of ADJACENCY_NEXTS */
};

enum reason {
	UNREACHABLE,
};

/* The interface may have lost the neighbour again: the adjacency's kind says. */
static void release(
	struct rte_graph *graph, struct rte_node *node, const struct neighbor_batch *batch)
{
	for (unsigned i = 0; i < batch->nb_ready; i++) {
		struct rte_mbuf *mbuf = batch->ready[i];

		rte_node_enqueue_x1(
			graph, node, adjacency_kind(&adjacencies[packet_adjacency(mbuf)]), mbuf);
	}
}

static void give_up(
	struct rte_graph *graph, struct rte_node *node, const struct neighbor_batch *batch)
{
	for (unsigned i = 0; i < batch->nb_failed; i++) {
		struct rte_mbuf *mbuf = batch->failed[i];
		rte_edge_t edge = ADJACENCY_DROP;

		switch (adjacencies[packet_adjacency(mbuf)].resolved) {
		case ADJACENCY_REWRITE:
		case ADJACENCY_MPLS_IMPOSITION:
			packet_set_error(mbuf, ICMP_UNREACH, ICMP_UNREACH_HOST, 0);
			edge = ADJACENCY_UNREACHABLE;
			break;
		case ADJACENCY_REWRITE6:
			packet_set_error(mbuf, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_ADDR, 0);
			edge = ADJACENCY_UNREACHABLE6;
			break;
		default: /* labels */
			break;
		}
		node_state(node)->drops[UNREACHABLE]++;
		rte_node_enqueue_x1(graph, node, edge, mbuf);
	}
}

static uint16_t neighbor_timer_process(struct rte_graph *graph, struct rte_node *node,
	__rte_unused void **objs, __rte_unused uint16_t count)
{
	struct neighbor_batch *batch = node_private(node);
	const struct worker *worker = node_state(node)->worker;

	if (likely(__atomic_load_n(&neighbors_due, __ATOMIC_RELAXED) == 0))
		return 0;
	neighbors_collect(batch);
	for (unsigned i = 0; i < batch->nb_requests; i++)
		neighbor_request_send(graph, node, NEXT_OUTPUT, &batch->requests[i]);
	release(graph, node, batch);
	give_up(graph, node, batch);
	/* Counted where they were held, which may have been another worker: the sum is right. */
	node_state_of(worker, "ip4-arp")->held -=
		batch->nb_ready + batch->nb_failed - batch->nb_ip6;
	node_state_of(worker, "ip6-nd")->held -= batch->nb_ip6;
	return (uint16_t)(batch->nb_requests + batch->nb_ready + batch->nb_failed);
}

static struct node_type neighbor_timer = {
	.name = "neighbor-timer",
	.process = neighbor_timer_process,
	.nexts = {ADJACENCY_NEXTS, [NEXT_OUTPUT] = "interface-output"},
	.reasons = {[UNREACHABLE] = "neighbor does not answer"},
	.private_bytes = sizeof(struct neighbor_batch),
	.source = true,
};
NODE_REGISTER(neighbor_timer)
