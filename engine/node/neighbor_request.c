/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for neighbours, by whichever node finds that one is due. */
#include "router/router.h"

void neighbor_request_send(struct rte_graph *graph, struct rte_node *node, rte_edge_t edge,
	const struct neighbor_request *request)
{
	struct rte_mbuf *mbuf;

	if (!interface_is_up(&interfaces[request->interface]))
		return;
	mbuf = rte_pktmbuf_alloc(interfaces[request->interface].port->pool);
	if (mbuf == NULL)
		return;
	if (request->target.family == ADDRESS_IP6)
		nd_solicitation_fill(mbuf, request);
	else
		arp_request_fill(mbuf, request);
	node_state(node)->originated++;
	rte_node_enqueue_x1(graph, node, edge, mbuf);
}
