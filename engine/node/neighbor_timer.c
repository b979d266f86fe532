/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbor-timer: in each walk looks at one flag. When something is due it asks again for
 * neighbours that have not answered, sends on what waited for one that has, and answers
 * "host unreachable" for those that never did.
 */
#include "../router/neighbor.h"
#include "../router/packet.h"
#include "../router/router.h"
#include "../router/routes.h"
#include "../worker.h"

#include <netinet/ip_icmp.h>

enum next {
	NEXT_OUTPUT = ADJACENCY_KINDS, /* after those of ADJACENCY_NEXTS */
};

enum reason {
	UNREACHABLE,
};

static void send_requests(
	struct rte_graph *graph, struct rte_node *node, const struct neighbor_batch *batch)
{
	for (unsigned i = 0; i < batch->nb_requests; i++) {
		const struct neighbor_request *request = &batch->requests[i];
		struct rte_mbuf *mbuf =
			rte_pktmbuf_alloc(interfaces[request->interface].port->pool);

		if (mbuf == NULL)
			return;
		if (!arp_request_fill(mbuf, request->interface, request->target)) {
			rte_pktmbuf_free(mbuf);
			continue;
		}
		node_state(node)->originated++;
		rte_node_enqueue_x1(graph, node, NEXT_OUTPUT, mbuf);
	}
}

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

		if (!adjacency_of_ip4(&adjacencies[packet_adjacency(mbuf)])) {
			node_drop(graph, node, mbuf, UNREACHABLE);
			continue;
		}
		node_state(node)->drops[UNREACHABLE]++;
		packet_set_error(mbuf, ICMP_UNREACH, ICMP_UNREACH_HOST, 0);
		rte_node_enqueue_x1(graph, node, ADJACENCY_UNREACHABLE, mbuf);
	}
}

static uint16_t neighbor_timer_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	struct neighbor_batch *batch = node_private(node);

	(void)objs;
	(void)count;
	if (likely(__atomic_load_n(&neighbors_due, __ATOMIC_RELAXED) == 0))
		return 0;
	neighbors_collect(batch);
	send_requests(graph, node, batch);
	release(graph, node, batch);
	give_up(graph, node, batch);
	/* Counted where they were held, which may have been another worker: the sum is right. */
	ip4_arp_state(node_state(node)->worker)->held -= batch->nb_ready + batch->nb_failed;
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
