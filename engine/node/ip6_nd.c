/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip6-nd: packets to a neighbour whose MAC address is not known. The packet is held, the
 * neighbour asked for (RFC 4861 7.2.2); neighbor-timer goes on from there. Not the fast path:
 * it takes the neighbour table's lock.
 */
#include "../router/nd.h"
#include "../router/router.h"
#include "../router/routes6.h"
#include "../worker.h"

enum next {
	NEXT_OUTPUT = ADJACENCY_KINDS, /* after those of ADJACENCY_NEXTS */
};

enum reason {
	HOP_LIMIT_EXPIRED,
	UNREACHABLE,
	TABLE_FULL,
	PENDING_FULL,
	DISPLACED,
};

static struct node_state *states[WORKERS_MAX];

struct node_state *ip6_nd_state(const struct worker *worker)
{
	return states[worker->index];
}

void nd_solicitation_fill(struct rte_mbuf *mbuf, const struct neighbor_request *request)
{
	const struct interface *interface = &interfaces[request->interface];
	const uint8_t *target = request->target.ip6;
	uint8_t group[IP6_BYTES];
	struct nd_message message = {
		.type = ND_NEIGHBOR_SOLICIT,
		.option = ND_OPT_SOURCE_LINKADDR,
		.source = interface6_source(interface, target),
		.destination = request->unicast ? target : group,
		.target = target,
		.mac = request->unicast ? &request->mac : NULL,
	};

	ip6_solicited_node(target, group);
	nd_fill(mbuf, interface, &message);
}

static void drop_ip6(struct rte_graph *graph, struct rte_node *node, struct rte_mbuf *mbuf,
	enum reason reason, uint8_t type, uint8_t code)
{
	node_state(node)->drops[reason]++;
	packet_set_error(mbuf, type, code, 0);
	rte_node_enqueue_x1(graph, node, ADJACENCY_UNREACHABLE6, mbuf);
}

static void held(
	struct rte_graph *graph, struct rte_node *node, const struct neighbor_answer *answer)
{
	struct node_state *state = node_state(node);

	state->held++;
	if (answer->displaced != NULL) {
		state->held--;
		node_drop(graph, node, answer->displaced, DISPLACED);
	}
	if (answer->ask)
		neighbor_request_send(graph, node, NEXT_OUTPUT, &answer->request);
}

static void resolve(struct rte_graph *graph, struct rte_node *node, struct rte_mbuf *mbuf)
{
	bool plain = adjacencies[packet_adjacency(mbuf)].resolved == ADJACENCY_REWRITE6;
	struct ip_address destination = {.family = ADDRESS_NONE};
	struct neighbor_answer answer;
	uint8_t *ip = packet_l3(mbuf);

	if (plain && ip[IP6_AT_HOP_LIMIT] <= 1) {
		drop_ip6(graph, node, mbuf, HOP_LIMIT_EXPIRED, ICMP6_TIME_EXCEEDED,
			ICMP6_TIME_EXCEED_TRANSIT);
		return;
	}
	if (plain)
		destination = address_ip6(ip6_destination(ip));
	switch (neighbor_hold(mbuf, destination, &answer)) {
	case NEIGHBOR_READY:
		packet_set_adjacency(mbuf, answer.adjacency);
		rte_node_enqueue_x1(graph, node, adjacencies[answer.adjacency].resolved, mbuf);
		break;
	case NEIGHBOR_HELD:
		held(graph, node, &answer);
		break;
	case NEIGHBOR_UNREACHABLE:
		if (plain)
			drop_ip6(graph, node, mbuf, UNREACHABLE, ICMP6_DST_UNREACH,
				ICMP6_DST_UNREACH_ADDR);
		else
			node_drop(graph, node, mbuf, UNREACHABLE);
		break;
	case NEIGHBOR_TABLE_FULL:
		node_drop(graph, node, mbuf, TABLE_FULL);
		break;
	case NEIGHBOR_PENDING_FULL:
		node_drop(graph, node, mbuf, PENDING_FULL);
		break;
	}
}

static uint16_t ip6_nd_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++)
		resolve(graph, node, objs[i]);
	return count;
}

static int ip6_nd_init(struct node_state *state, struct rte_node *node)
{
	(void)node;
	states[state->worker->index] = state;
	return 0;
}

static struct node_type ip6_nd = {
	.name = "ip6-nd",
	.process = ip6_nd_process,
	.init = ip6_nd_init,
	/* To itself a node has no edge, and nothing goes there. */
	.nexts = {[ADJACENCY_DROP] = "drop",
		[ADJACENCY_UNREACHABLE] = "drop",
		[ADJACENCY_REWRITE] = "drop",
		[ADJACENCY_ARP] = "drop",
		[ADJACENCY_LOCAL] = "drop",
		[ADJACENCY_MPLS_OUTPUT] = "mpls-output",
		[ADJACENCY_MPLS_DISPOSITION] = "mpls-disposition",
		[ADJACENCY_MPLS_IP4] = "drop",
		[ADJACENCY_MPLS_AGAIN] = "drop",
		[ADJACENCY_LOAD_BALANCE] = "drop",
		[ADJACENCY_MPLS_IMPOSITION] = "drop",
		[ADJACENCY_UNREACHABLE6] = "icmp6-error",
		[ADJACENCY_REWRITE6] = "ip6-rewrite",
		[ADJACENCY_ND] = "drop",
		[ADJACENCY_LOCAL6] = "drop",
		[NEXT_OUTPUT] = "interface-output"},
	.reasons = {[HOP_LIMIT_EXPIRED] = "hop limit expired",
		[UNREACHABLE] = "neighbor does not answer",
		[TABLE_FULL] = "neighbor table full",
		[PENDING_FULL] = "too many packets wait for neighbors",
		[DISPLACED] = "newer packets wait for the neighbor"},
};
NODE_REGISTER(ip6_nd)
