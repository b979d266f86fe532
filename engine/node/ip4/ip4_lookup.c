/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-lookup: finds each destination's adjacency, a vector at a time. Prefixes that are not
 * forwarded are in the fib too, as adjacencies that drop, so the others pay nothing for them.
 *
 * A packet that only needs the usual rewrite gets it here, while its header is at hand, and
 * goes straight to its port: ip4-rewrite and interface-output see those with a TTL that
 * expires, too long for the MTU, or for an interface that is down.
 */
#include "fib/fib4.h"
#include "node/ip_lookup.h"
#include "router/adjacency_text.h"
#include "router/routes.h"
#include "ip4_rewrite.h"

#include <arpa/inet.h>
#include <stdio.h>

static bool ip4_lookup_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	uint32_t destinations[NODE_VECTOR_MAX];
	uint32_t found[NODE_VECTOR_MAX];
	uint8_t *ip[NODE_VECTOR_MAX];

	for (uint16_t i = 0; i < count; i++) {
		ip[i] = packet_l3(mbufs[i]);
		memcpy(&destinations[i], ip[i] + offsetof(struct rte_ipv4_hdr, dst_addr), 4);
	}
	for (uint16_t i = 0; i < count; i++)
		destinations[i] = rte_be_to_cpu_32(destinations[i]);
	fib4_lookup(destinations, found, count);
	return ip_lookup_send(&ip4_family, node, mbufs, ip, found, nexts, count);
}
VECTOR_PROCESS(ip4_lookup)

static void ip4_lookup_trace(
	__rte_unused struct rte_node *node, const struct rte_mbuf *mbuf, char *text, size_t bytes)
{
	uint32_t word = fib4_word(rte_be_to_cpu_32(packet_ip4(mbuf)->dst_addr));
	uint32_t prefix = packet_ip4(mbuf)->dst_addr;
	char address[INET_ADDRSTRLEN], route[32];

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
