/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip6-nd: packets to a neighbour whose MAC address is not known. The packet is held, the
 * neighbour asked for (RFC 4861 7.2.2); neighbor-timer goes on from there. Not the fast path:
 * it takes the neighbour table's lock.
 */
#include "node/neighbor_wait.h"
#include "router/nd.h"
#include "router/routes6.h"

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

static const struct neighbor_wait_family family = {
	.error_edge = ADJACENCY_UNREACHABLE6,
	.expired_type = ICMP6_TIME_EXCEEDED, /* ICMP6_TIME_EXCEED_TRANSIT is 0 */
	.unreachable_type = ICMP6_DST_UNREACH,
	.unreachable_code = ICMP6_DST_UNREACH_ADDR,
};

static uint16_t ip6_nd_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		uint8_t *ip = packet_l3(objs[i]);
		struct ip_address destination = {.family = ADDRESS_NONE};

		if (adjacencies[packet_adjacency(objs[i])].resolved == ADJACENCY_REWRITE6)
			destination = address_ip6(ip6_destination(ip));
		neighbor_wait_resolve(
			&family, graph, node, objs[i], ip[IP6_AT_HOP_LIMIT], destination);
	}
	return count;
}

static struct node_type ip6_nd = {
	.name = "ip6-nd",
	.process = ip6_nd_process,
	.nexts = {[ADJACENCY_DROP] = "drop",
		[ADJACENCY_MPLS_OUTPUT] = "mpls-output",
		[ADJACENCY_MPLS_DISPOSITION] = "mpls-disposition",
		[ADJACENCY_UNREACHABLE6] = "icmp6-error",
		[ADJACENCY_REWRITE6] = "ip6-rewrite",
		[NEIGHBOR_WAIT_OUTPUT] = "interface-output"},
	.reasons = {NEIGHBOR_WAIT_REASONS("hop limit expired")},
};
NODE_REGISTER(ip6_nd)
