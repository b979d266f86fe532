/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip6-rewrite: the last steps before a packet leaves: hop limit down by one, MTU of the
 * interface, and the neighbour's Ethernet header in one store.
 */
#include "core/vector.h"
#include "router/adjacency.h"
#include "router/packet6.h"

#include <netinet/icmp6.h>

enum next {
	NEXT_DROP,
	NEXT_OUTPUT,
	NEXT_ERROR,
};

enum reason {
	HOP_LIMIT_EXPIRED,
	MTU_EXCEEDED,
};

static __rte_noinline rte_edge_t not_forwarded(
	struct rte_node *node, struct rte_mbuf *mbuf, const struct adjacency *adjacency)
{
	uint64_t *drops = node_state(node)->drops;

	if (packet_l3(mbuf)[IP6_AT_HOP_LIMIT] <= 1) {
		drops[HOP_LIMIT_EXPIRED]++;
		packet_set_error(mbuf, ICMP6_TIME_EXCEEDED, ICMP6_TIME_EXCEED_TRANSIT, 0);
	} else {
		drops[MTU_EXCEEDED]++;
		packet_set_error(mbuf, ICMP6_PACKET_TOO_BIG, 0, adjacency->mtu);
	}
	return NEXT_ERROR;
}

static __rte_always_inline rte_edge_t rewrite_one(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct adjacency *adjacency = &adjacencies[packet_adjacency(mbuf)];
	uint8_t *ip = packet_l3(mbuf);

	if (unlikely(ip[IP6_AT_HOP_LIMIT] <= 1 || packet_l3_bytes(mbuf) > adjacency->mtu))
		return not_forwarded(node, mbuf, adjacency);
	ip[IP6_AT_HOP_LIMIT]--;
	adjacency_rewrite(adjacency, ip - RTE_ETHER_HDR_LEN);
	mbuf->port = adjacency->interface;
	return NEXT_OUTPUT;
}

VECTOR_EACH(ip6_rewrite, rewrite_one, VECTOR_AHEAD)
VECTOR_PROCESS(ip6_rewrite)

static struct node_type ip6_rewrite = {
	.name = "ip6-rewrite",
	.process = ip6_rewrite_process,
	.nexts = {[NEXT_DROP] = "drop",
		[NEXT_OUTPUT] = "interface-output",
		[NEXT_ERROR] = "icmp6-error"},
	.reasons = {[HOP_LIMIT_EXPIRED] = "hop limit expired", [MTU_EXCEEDED] = "mtu exceeded"},
};
NODE_REGISTER(ip6_rewrite)
