/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared part of ip4-arp and ip6-nd: a packet whose neighbour's MAC address is not known is held,
 * goes on, or is dropped, as the neighbour table decides.
 */
#ifndef LINERATE_NEIGHBOR_WAIT_H
#define LINERATE_NEIGHBOR_WAIT_H

#include "core/node.h"
#include "router/adjacency.h"
#include "router/neighbor.h"
#include "router/packet.h"
#include "router/router.h"

enum neighbor_wait_reason {
	WAIT_EXPIRED, /* the TTL or hop limit */
	WAIT_UNREACHABLE,
	WAIT_TABLE_FULL,
	WAIT_PENDING_FULL,
	WAIT_DISPLACED,
};

#define NEIGHBOR_WAIT_REASONS(expired) \
	[WAIT_EXPIRED] = (expired), [WAIT_UNREACHABLE] = "neighbor does not answer", \
	[WAIT_TABLE_FULL] = "neighbor table full", \
	[WAIT_PENDING_FULL] = "too many packets wait for neighbors", \
	[WAIT_DISPLACED] = "newer packets wait for the neighbor"

/* The node's edge to interface-output, behind those of all kinds of adjacency. */
#define NEIGHBOR_WAIT_OUTPUT ADJACENCY_KINDS

/* Counts the drop, and tells the sender by way of the node at `edge`. */
static inline void neighbor_wait_tell(struct rte_graph *graph, struct rte_node *node,
	struct rte_mbuf *mbuf, enum neighbor_wait_reason reason, rte_edge_t edge)
{
	node_state(node)->drops[reason]++;
	rte_node_enqueue_x1(graph, node, edge, mbuf);
}

static inline void neighbor_wait_held(
	struct rte_graph *graph, struct rte_node *node, const struct neighbor_answer *answer)
{
	struct node_state *state = node_state(node);

	state->held++;
	if (answer->displaced != NULL) {
		state->held--;
		node_drop(graph, node, answer->displaced, WAIT_DISPLACED);
	}
	if (answer->ask)
		neighbor_request_send(graph, node, NEIGHBOR_WAIT_OUTPUT, &answer->request);
}

/* `destination` is the packet's, of no family when the adjacency alone says who is meant. Returns
 * false when the neighbour does not answer: the packet is still the caller's then. */
static inline bool neighbor_wait(struct rte_graph *graph, struct rte_node *node,
	struct rte_mbuf *mbuf, struct ip_address destination)
{
	struct neighbor_answer answer;

	switch (neighbor_hold(mbuf, destination, &answer)) {
	case NEIGHBOR_READY:
		packet_set_adjacency(mbuf, answer.adjacency);
		rte_node_enqueue_x1(graph, node, adjacencies[answer.adjacency].resolved, mbuf);
		break;
	case NEIGHBOR_HELD:
		neighbor_wait_held(graph, node, &answer);
		break;
	case NEIGHBOR_UNREACHABLE:
		return false;
	case NEIGHBOR_TABLE_FULL:
		node_drop(graph, node, mbuf, WAIT_TABLE_FULL);
		break;
	case NEIGHBOR_PENDING_FULL:
		node_drop(graph, node, mbuf, WAIT_PENDING_FULL);
		break;
	}
	return true;
}

#endif
