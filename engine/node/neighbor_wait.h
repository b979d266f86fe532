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

/* Differences between ip4-arp and ip6-nd. */
struct neighbor_wait_family {
	rte_edge_t error_edge; /* to the node that tells the sender */
	uint8_t expired_type, unreachable_type, unreachable_code;
};

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

/* The whole work on a packet. One under labels has no `destination`: its TTL was checked before,
 * and its sender gets no error. */
static inline void neighbor_wait_resolve(const struct neighbor_wait_family *family,
	struct rte_graph *graph, struct rte_node *node, struct rte_mbuf *mbuf, uint8_t ttl,
	struct ip_address destination)
{
	bool plain = destination.family != ADDRESS_NONE;

	if (plain && ttl <= 1) {
		packet_set_error(mbuf, family->expired_type, 0, 0);
		neighbor_wait_tell(graph, node, mbuf, WAIT_EXPIRED, family->error_edge);
	} else if (!neighbor_wait(graph, node, mbuf, destination)) {
		packet_set_error(mbuf, family->unreachable_type, family->unreachable_code, 0);
		neighbor_wait_tell(graph, node, mbuf, WAIT_UNREACHABLE,
			plain ? family->error_edge : ADJACENCY_DROP);
	}
}

#endif
