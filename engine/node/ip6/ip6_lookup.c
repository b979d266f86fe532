/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip6-lookup: finds each destination's adjacency, a vector at a time. Prefixes that are not
 * forwarded are in the fib too, as adjacencies that drop, so the others pay nothing for them.
 *
 * A packet that only needs the usual rewrite gets it here, while its header is at hand, and
 * goes straight to its port: ip6-rewrite and interface-output see those with a hop limit that
 * expires, too long for the MTU, or for an interface that is down.
 */
#include "core/vector.h"
#include "fib/fib6.h"
#include "node/fused.h"
#include "router/adjacency_text.h"
#include "router/packet6.h"
#include "router/routes6.h"

#include <arpa/inet.h>
#include <netinet/icmp6.h>

/* Drops and says why; tells the sender of a packet that has no route (RFC 4443 3.1). */
static __rte_noinline void not_forwarded(
	struct rte_node *node, struct rte_mbuf *mbuf, const struct adjacency *adjacency)
{
	node_state(node)->drops[adjacency->reason]++;
	if (adjacency->kind == ADJACENCY_UNREACHABLE6)
		packet_set_error(mbuf, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_NOROUTE, 0);
}

/* The rewrite of most packets; false when this one is none of them. */
static __rte_always_inline bool rewrite_usual(const struct rte_mbuf *mbuf, uint8_t *ip,
	const struct adjacency *adjacency, uint32_t max_bytes)
{
	uint8_t hop_limit = ip[IP6_AT_HOP_LIMIT];

	if (unlikely((hop_limit <= 1) | (mbuf->data_len > max_bytes)))
		return false;
	ip[IP6_AT_HOP_LIMIT] = hop_limit - 1;
	adjacency_rewrite(adjacency, ip - RTE_ETHER_HDR_LEN);
	return true;
}

/* The longest frame that the usual rewrite takes; 0 when it takes none. */
static __rte_always_inline uint32_t usual_bytes(const struct adjacency *adjacency, rte_edge_t edge)
{
	bool usual = adjacency_kind(adjacency) == ADJACENCY_REWRITE6 && edge != INTERFACE_EDGE_DOWN;

	return usual ? (uint32_t)adjacency->mtu + RTE_ETHER_HDR_LEN : 0;
}

static __rte_noinline rte_edge_t send_other(
	struct rte_node *node, struct rte_mbuf *mbuf, uint32_t found)
{
	const struct adjacency *adjacency = &adjacencies[found];
	rte_edge_t next = adjacency_kind(adjacency);

	packet_set_adjacency(mbuf, found);
	if (next == ADJACENCY_DROP || next == ADJACENCY_UNREACHABLE6)
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
	struct rte_mbuf **mbufs, uint32_t found, rte_edge_t *edge, uint16_t count)
{
	const struct adjacency *adjacency = &adjacencies[found];
	uint32_t max_bytes;
	uint16_t i = 0;

	*edge = interface_edge[adjacency->interface];
	max_bytes = usual_bytes(adjacency, *edge);
	*edge = ADJACENCY_TX_EDGE(*edge);
	while (i < count && rewrite_usual(mbufs[i], packet_l3(mbufs[i]), adjacency, max_bytes))
		i++;
	return i;
}

/* Each its own way; returns how many went the usual one. */
static uint16_t rewrite_each(struct rte_node *node, struct rte_mbuf **mbufs, const uint32_t *found,
	rte_edge_t *nexts, uint16_t count)
{
	uint16_t usual = 0;

	for (uint16_t i = 0; i < count; i++) {
		const struct adjacency *adjacency = &adjacencies[found[i]];
		rte_edge_t edge = interface_edge[adjacency->interface];

		if (likely(rewrite_usual(mbufs[i], packet_l3(mbufs[i]), adjacency,
			    usual_bytes(adjacency, edge)))) {
			nexts[i] = ADJACENCY_TX_EDGE(edge);
			usual++;
		} else {
			nexts[i] = send_other(node, mbufs[i], found[i]);
		}
	}
	return usual;
}

static bool ip6_lookup_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	const uint8_t *destinations[NODE_VECTOR_MAX];
	uint32_t found[NODE_VECTOR_MAX];
	rte_edge_t edge = 0, differ = 0;
	uint16_t usual = 0, i;

	for (i = 0; i < count; i++)
		destinations[i] = ip6_destination(packet_l3(mbufs[i]));
	fib6_lookup(destinations, found, count);
	if (likely(all_the_same(found, count)))
		usual = rewrite_all(mbufs, found[0], &edge, count);
	nexts[0] = edge;
	if (likely(usual == count)) {
		fused_count(node, usual);
		return true;
	}
	for (i = 0; i < usual; i++)
		nexts[i] = edge;
	fused_count(node, usual + rewrite_each(node, mbufs + usual, found + usual, nexts + usual,
					  count - usual));
	for (i = 0; i < count; i++)
		differ |= nexts[i] ^ nexts[0];
	return differ == 0;
}

static uint16_t ip6_lookup_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	return vector_walk(graph, node, objs, count, ip6_lookup_vector);
}

static void ip6_lookup_trace(
	struct rte_node *node, const struct rte_mbuf *mbuf, char *text, size_t bytes)
{
	const uint8_t *destination = ip6_destination(packet_l3(mbuf));
	char address[INET6_ADDRSTRLEN];

	(void)node;
	inet_ntop(AF_INET6, destination, address, sizeof(address));
	adjacency_text(address, fib6_lookup_one(destination), text, bytes);
}

static struct node_type ip6_lookup = {
	.name = "ip6-lookup",
	.process = ip6_lookup_process,
	.trace = ip6_lookup_trace,
	.init = fused_find,
	.fused = FUSED_NODES("ip6-rewrite"),
	.private_bytes = sizeof(struct fused),
	.nexts = {ADJACENCY_NEXTS},
	.reasons = {[LOOKUP6_NO_ROUTE] = "no route",
		[LOOKUP6_UNSPECIFIED] = "destination is unspecified",
		[LOOKUP6_LOOPBACK] = "destination is the loopback address",
		[LOOKUP6_IP4_MAPPED] = "destination in ::ffff:0:0/96",
		[LOOKUP6_LINK_LOCAL] = "link-local destination",
		[LOOKUP6_MULTICAST] = "multicast destination"},
};
NODE_REGISTER(ip6_lookup)
