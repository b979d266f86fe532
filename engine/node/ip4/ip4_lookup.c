/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-lookup: finds each destination's adjacency, a vector at a time. Prefixes that are not
 * forwarded are in the fib too, as adjacencies that drop, so the others pay nothing for them.
 *
 * A packet that only needs the usual rewrite gets it here, while its header is at hand, and
 * goes straight to its port: ip4-rewrite and interface-output see those with a TTL that
 * expires, too long for the MTU, or for an interface that is down.
 */
#include "core/vector.h"
#include "fib/fib4.h"
#include "node/fused.h"
#include "router/adjacency.h"
#include "router/adjacency_text.h"
#include "router/interface.h"
#include "router/packet.h"
#include "router/routes.h"
#include "ip4_rewrite.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <netinet/ip_icmp.h>

/* Drops and says why; tells the sender of a packet that has no route (RFC 1812 5.2.7.1). */
static __rte_noinline void not_forwarded(
	struct rte_node *node, struct rte_mbuf *mbuf, const struct adjacency *adjacency)
{
	node_state(node)->drops[adjacency->reason]++;
	if (adjacency->kind == ADJACENCY_UNREACHABLE)
		packet_set_error(mbuf, ICMP_UNREACH, ICMP_UNREACH_NET, 0);
}

static __rte_always_inline rte_edge_t send_other(
	struct rte_node *node, struct rte_mbuf *mbuf, uint32_t found)
{
	const struct adjacency *adjacency = &adjacencies[found];
	rte_edge_t next = adjacency_kind(adjacency);

	packet_set_adjacency(mbuf, found);
	if (unlikely(next <= ADJACENCY_UNREACHABLE))
		not_forwarded(node, mbuf, adjacency);
	return next;
}

static bool all_the_same(const uint32_t *found, uint16_t count)
{
	uint32_t differ = 0;

	for (uint16_t i = 1; i < count; i++)
		differ |= found[i] ^ found[0];
	return differ == 0;
}

/* One adjacency for all: how many from the first on were sent the usual way. */
static uint16_t rewrite_all(
	struct rte_mbuf **mbufs, uint8_t **ip, uint32_t found, rte_edge_t *edge, uint16_t count)
{
	const struct adjacency *adjacency = &adjacencies[found];
	uint32_t max_bytes;
	uint16_t i = 0;

	*edge = interface_edge[adjacency->interface];
	max_bytes = usual_bytes(adjacency, *edge);
	*edge = ADJACENCY_TX_EDGE(*edge);
	while (i < count && rewrite_usual(mbufs[i], ip[i], adjacency, max_bytes))
		i++;
	return i;
}

/* Each its own way; returns how many went the usual one. */
static uint16_t rewrite_each(struct rte_node *node, struct rte_mbuf **mbufs, uint8_t **ip,
	const uint32_t *found, rte_edge_t *nexts, uint16_t count)
{
	uint16_t usual = 0;

	for (uint16_t i = 0; i < count; i++) {
		const struct adjacency *adjacency = &adjacencies[found[i]];
		rte_edge_t edge = interface_edge[adjacency->interface];

		if (likely(rewrite_usual(
			    mbufs[i], ip[i], adjacency, usual_bytes(adjacency, edge)))) {
			nexts[i] = ADJACENCY_TX_EDGE(edge);
			usual++;
		} else {
			nexts[i] = send_other(node, mbufs[i], found[i]);
		}
	}
	return usual;
}

/* One adjacency for all, that has a node of its own which all go to. */
static bool is_for_another_node(uint32_t found)
{
	uint8_t kind = adjacency_kind(&adjacencies[found]);

	return kind == ADJACENCY_LOAD_BALANCE || kind == ADJACENCY_MPLS_IMPOSITION;
}

static bool ip4_lookup_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	uint32_t destinations[NODE_VECTOR_MAX];
	uint32_t found[NODE_VECTOR_MAX];
	uint8_t *ip[NODE_VECTOR_MAX];
	rte_edge_t edge = 0, differ = 0;
	uint16_t usual = 0, i;

	for (i = 0; i < count; i++) {
		ip[i] = packet_l3(mbufs[i]);
		memcpy(&destinations[i], ip[i] + offsetof(struct rte_ipv4_hdr, dst_addr), 4);
	}
	for (i = 0; i < count; i++)
		destinations[i] = rte_be_to_cpu_32(destinations[i]);
	fib4_lookup(destinations, found, count);
	if (likely(all_the_same(found, count))) {
		usual = rewrite_all(mbufs, ip, found[0], &edge, count);
		if (usual == 0 && is_for_another_node((uint32_t)found[0])) {
			for (i = 0; i < count; i++)
				packet_set_adjacency(mbufs[i], (uint32_t)found[0]);
			nexts[0] = adjacency_kind(&adjacencies[found[0]]);
			return true;
		}
	}
	nexts[0] = edge;
	if (likely(usual == count)) {
		fused_count(node, usual);
		return true;
	}
	for (i = 0; i < usual; i++)
		nexts[i] = edge;
	fused_count(node, usual + rewrite_each(node, mbufs + usual, ip + usual, found + usual,
					  nexts + usual, count - usual));
	for (i = 0; i < count; i++)
		differ |= nexts[i] ^ nexts[0];
	return differ == 0;
}

static uint16_t ip4_lookup_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	return vector_walk(graph, node, objs, count, ip4_lookup_vector);
}

static void ip4_lookup_trace(
	struct rte_node *node, const struct rte_mbuf *mbuf, char *text, size_t bytes)
{
	uint32_t word = fib4_word(rte_be_to_cpu_32(packet_ip4(mbuf)->dst_addr));
	uint32_t prefix = packet_ip4(mbuf)->dst_addr;
	char address[INET_ADDRSTRLEN], route[32];

	(void)node;
	prefix &= rte_cpu_to_be_32(prefix_mask(fib4_word_length(word)));
	inet_ntop(AF_INET, &prefix, address, sizeof(address));
	snprintf(route, sizeof(route), "%s/%u", address, fib4_word_length(word));
	adjacency_text(route, word & FIB4_VALUE, text, bytes);
}

static struct node_type ip4_lookup = {
	.name = "ip4-lookup",
	.process = ip4_lookup_process,
	.trace = ip4_lookup_trace,
	.init = fused_find,
	.fused = FUSED_NODES("ip4-rewrite"),
	.private_bytes = sizeof(struct fused),
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
