/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-lookup: finds each destination's adjacency, a vector at a time. Prefixes that are not
 * forwarded are in the fib too, as adjacencies that drop, so the others pay nothing for them.
 */
#include "../fib/fib4.h"
#include "../router/adjacency.h"
#include "../router/packet.h"
#include "../router/routes.h"
#include "vector.h"

#include <netinet/ip_icmp.h>

/* Drops and says why; tells the sender of a packet that has no route (RFC 1812 5.2.7.1). */
static __rte_noinline void not_forwarded(
	struct rte_node *node, struct rte_mbuf *mbuf, const struct adjacency *adjacency)
{
	node_state(node)->drops[adjacency->reason]++;
	if (adjacency->kind == ADJACENCY_UNREACHABLE)
		packet_set_error(mbuf, ICMP_UNREACH, ICMP_UNREACH_NET, 0);
}

static bool ip4_lookup_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	uint32_t destinations[NODE_VECTOR_MAX];
	uint64_t found[NODE_VECTOR_MAX];
	rte_edge_t differ = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (likely(i + VECTOR_AHEAD < count))
			vector_prefetch_data(mbufs[i + VECTOR_AHEAD]);
		destinations[i] = rte_be_to_cpu_32(packet_ip4(mbufs[i])->dst_addr);
	}
	fib4_lookup(destinations, found, count);
	for (uint16_t i = 0; i < count; i++) {
		const struct adjacency *adjacency = &adjacencies[found[i]];

		if (likely(i + VECTOR_AHEAD < count))
			rte_prefetch0(&adjacencies[found[i + VECTOR_AHEAD]]);
		packet_set_adjacency(mbufs[i], (uint32_t)found[i]);
		nexts[i] = adjacency_kind(adjacency);
		if (unlikely(nexts[i] <= ADJACENCY_UNREACHABLE))
			not_forwarded(node, mbufs[i], adjacency);
		differ |= nexts[i] ^ nexts[0];
	}
	return differ == 0;
}

static uint16_t ip4_lookup_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	return vector_walk(graph, node, objs, count, ip4_lookup_vector);
}

static struct node_type ip4_lookup = {
	.name = "ip4-lookup",
	.process = ip4_lookup_process,
	.nexts = {ADJACENCY_NEXTS},
	.reasons = {[LOOKUP_NO_ROUTE] = "no route",
		[LOOKUP_THIS_NETWORK] = "destination in 0.0.0.0/8",
		[LOOKUP_LOOPBACK] = "destination in 127.0.0.0/8",
		[LOOKUP_MULTICAST] = "multicast destination",
		[LOOKUP_RESERVED] = "destination in 240.0.0.0/4",
		[LOOKUP_LIMITED_BROADCAST] = "limited broadcast",
		[LOOKUP_DIRECTED_BROADCAST] = "directed broadcast"},
};
NODE_REGISTER(ip4_lookup)
