/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-rewrite: the last steps before a packet leaves: TTL down by one, checksum with it
 * (RFC 1624), MTU of the interface, and the neighbour's Ethernet header in one store.
 */
#include "core/vector.h"
#include "router/adjacency.h"
#include "router/adjacency_text.h"
#include "router/packet.h"

#include <stdio.h>
#include <netinet/ip_icmp.h>

enum next {
	NEXT_DROP,
	NEXT_OUTPUT,
	NEXT_ERROR,
	NEXT_FRAGMENT,
};

enum reason {
	TTL_EXPIRED,
	MTU_DONT_FRAGMENT,
};

static __rte_noinline rte_edge_t not_forwarded(
	struct rte_node *node, struct rte_mbuf *mbuf, const struct adjacency *adjacency)
{
	const struct rte_ipv4_hdr *ip = packet_ip4(mbuf);
	uint64_t *drops = node_state(node)->drops;

	if (ip->time_to_live <= 1) {
		drops[TTL_EXPIRED]++;
		packet_set_error(mbuf, ICMP_TIMXCEED, ICMP_TIMXCEED_INTRANS, 0);
		return NEXT_ERROR;
	}
	if (ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_DF_FLAG)) {
		drops[MTU_DONT_FRAGMENT]++;
		packet_set_error(mbuf, ICMP_UNREACH, ICMP_UNREACH_NEEDFRAG, adjacency->mtu);
		return NEXT_ERROR;
	}
	return NEXT_FRAGMENT;
}

static __rte_always_inline rte_edge_t rewrite_one(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct adjacency *adjacency = &adjacencies[packet_adjacency(mbuf)];
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + RTE_ETHER_HDR_LEN);

	if (unlikely(ip->time_to_live <= 1 || packet_l3_bytes(mbuf) > adjacency->mtu))
		return not_forwarded(node, mbuf, adjacency);
	ip4_decrement_ttl(ip);
	adjacency_rewrite(adjacency, frame);
	mbuf->port = adjacency->interface;
	return NEXT_OUTPUT;
}

VECTOR_EACH(ip4_rewrite, rewrite_one, VECTOR_AHEAD)
VECTOR_PROCESS(ip4_rewrite)

static void ip4_rewrite_trace(
	__rte_unused struct rte_node *node, const struct rte_mbuf *mbuf, char *text, size_t bytes)
{
	char ttl[48];

	snprintf(ttl, sizeof(ttl), "TTL %u, %u bytes, MTU %u", packet_ip4(mbuf)->time_to_live,
		packet_l3_bytes(mbuf), adjacencies[packet_adjacency(mbuf)].mtu);
	adjacency_text(ttl, packet_adjacency(mbuf), text, bytes);
}

static struct node_type ip4_rewrite = {
	.name = "ip4-rewrite",
	.process = ip4_rewrite_process,
	.trace = ip4_rewrite_trace,
	.nexts = {[NEXT_DROP] = "drop",
		[NEXT_OUTPUT] = "interface-output",
		[NEXT_ERROR] = "icmp4-error",
		[NEXT_FRAGMENT] = "ip4-frag"},
	.reasons = {[TTL_EXPIRED] = "ttl expired",
		[MTU_DONT_FRAGMENT] = "mtu exceeded, don't fragment set"},
};
NODE_REGISTER(ip4_rewrite)
