/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip6-lookup: finds each destination's adjacency, a vector at a time. Prefixes that are not
 * forwarded are in the fib too, as adjacencies that drop, so the others pay nothing for them.
 *
 * A packet that only needs the usual rewrite gets it here, while its header is at hand, and
 * goes straight to its port: ip6-rewrite and interface-output see those with a hop limit that
 * expires, too long for the MTU, or for an interface that is down.
 */
#include "fib/fib6.h"
#include "node/ip_lookup.h"
#include "router/adjacency_text.h"
#include "router/packet6.h"
#include "router/routes6.h"

#include <arpa/inet.h>
#include <netinet/icmp6.h>

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

static const struct ip_lookup ip6_family = {
	.rewrite = rewrite_usual,
	.rewrite_kind = ADJACENCY_REWRITE6,
	.unreachable_kind = ADJACENCY_UNREACHABLE6,
	.error_type = ICMP6_DST_UNREACH,
	.error_code = ICMP6_DST_UNREACH_NOROUTE,
};

static bool ip6_lookup_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	const uint8_t *destinations[NODE_VECTOR_MAX];
	uint32_t found[NODE_VECTOR_MAX];
	uint8_t *ip[NODE_VECTOR_MAX];

	for (uint16_t i = 0; i < count; i++) {
		ip[i] = packet_l3(mbufs[i]);
		destinations[i] = ip6_destination(ip[i]);
	}
	fib6_lookup(destinations, found, count);
	return ip_lookup_send(&ip6_family, node, mbufs, ip, found, nexts, count);
}

VECTOR_PROCESS(ip6_lookup)

static void ip6_lookup_trace(
	__rte_unused struct rte_node *node, const struct rte_mbuf *mbuf, char *text, size_t bytes)
{
	const uint8_t *destination = ip6_destination(packet_l3(mbuf));
	char address[INET6_ADDRSTRLEN];

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
