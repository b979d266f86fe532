/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared part of ip4-lookup, ip6-lookup and ip4-load-balance: each packet goes where its adjacency
 * says, and one that only needs the usual rewrite gets it here. Families are constants, so that
 * each node is compiled for its own.
 */
#ifndef LINERATE_IP_LOOKUP_H
#define LINERATE_IP_LOOKUP_H

#include "core/vector.h"
#include "node/fused.h"
#include "router/adjacency.h"
#include "router/interface.h"
#include "router/packet.h"

struct ip_lookup {
	/* TTL or hop limit down by one and the neighbour's Ethernet header, for most packets; false
	 * when it expires or the frame is longer than `max_bytes`. */
	bool (*rewrite)(const struct rte_mbuf *mbuf, uint8_t *ip, const struct adjacency *adjacency,
		uint32_t max_bytes);
	uint8_t rewrite_kind; /* of the adjacencies that it is for */
	/* No route: the sender gets this error. */
	uint8_t unreachable_kind, error_type, error_code;
};

/* The longest frame that the usual rewrite takes; 0 when it takes none. */
static __rte_always_inline uint32_t ip_lookup_max_bytes(
	const struct ip_lookup *family, const struct adjacency *adjacency, rte_edge_t edge)
{
	bool usual =
		adjacency_kind(adjacency) == family->rewrite_kind && edge != INTERFACE_EDGE_DOWN;

	return usual ? (uint32_t)adjacency->mtu + RTE_ETHER_HDR_LEN : 0;
}

/* Drops and says why; tells the sender of a packet that has no route (RFC 1812 5.2.7.1, RFC 4443
 * 3.1). */
static __rte_noinline void ip_lookup_not_forwarded(const struct ip_lookup *family,
	struct rte_node *node, struct rte_mbuf *mbuf, const struct adjacency *adjacency)
{
	node_state(node)->drops[adjacency->reason]++;
	if (adjacency->kind == family->unreachable_kind)
		packet_set_error(mbuf, family->error_type, family->error_code, 0);
}

static __rte_always_inline rte_edge_t ip_lookup_send_other(const struct ip_lookup *family,
	struct rte_node *node, struct rte_mbuf *mbuf, uint32_t found)
{
	const struct adjacency *adjacency = &adjacencies[found];
	rte_edge_t next = adjacency_kind(adjacency);

	packet_set_adjacency(mbuf, found);
	if (unlikely(next == ADJACENCY_DROP || next == family->unreachable_kind))
		ip_lookup_not_forwarded(family, node, mbuf, adjacency);
	return next;
}

static inline bool ip_lookup_all_the_same(const uint32_t *found, uint16_t count)
{
	uint32_t differ = 0;

	for (uint16_t i = 1; i < count; i++)
		differ |= found[i] ^ found[0];
	return differ == 0;
}

/* One adjacency for all: how many from the first on were sent the usual way. */
static __rte_always_inline uint16_t ip_lookup_rewrite_all(const struct ip_lookup *family,
	struct rte_mbuf **mbufs, uint8_t **ip, uint32_t found, rte_edge_t *edge, uint16_t count)
{
	const struct adjacency *adjacency = &adjacencies[found];
	uint32_t max_bytes;
	uint16_t i = 0;

	*edge = interface_edge[adjacency->interface];
	max_bytes = ip_lookup_max_bytes(family, adjacency, *edge);
	*edge = ADJACENCY_TX_EDGE(*edge);
	while (i < count && family->rewrite(mbufs[i], ip[i], adjacency, max_bytes))
		i++;
	return i;
}

/* Each its own way; returns how many went the usual one. */
static __rte_always_inline uint16_t ip_lookup_rewrite_each(const struct ip_lookup *family,
	struct rte_node *node, struct rte_mbuf **mbufs, uint8_t **ip, const uint32_t *found,
	rte_edge_t *nexts, uint16_t count)
{
	uint16_t usual = 0;

	for (uint16_t i = 0; i < count; i++) {
		const struct adjacency *adjacency = &adjacencies[found[i]];
		rte_edge_t edge = interface_edge[adjacency->interface];

		if (likely(family->rewrite(mbufs[i], ip[i], adjacency,
			    ip_lookup_max_bytes(family, adjacency, edge)))) {
			nexts[i] = ADJACENCY_TX_EDGE(edge);
			usual++;
		} else {
			nexts[i] = ip_lookup_send_other(family, node, mbufs[i], found[i]);
		}
	}
	return usual;
}

/* One adjacency for all, that has a node of its own which all go to. */
static inline bool ip_lookup_is_for_another_node(uint32_t found)
{
	uint8_t kind = adjacency_kind(&adjacencies[found]);

	return kind == ADJACENCY_LOAD_BALANCE || kind == ADJACENCY_MPLS_IMPOSITION;
}

/* Sends a vector whose adjacencies were found; as vector_classify_t returns. */
static __rte_always_inline bool ip_lookup_send(const struct ip_lookup *family,
	struct rte_node *node, struct rte_mbuf **mbufs, uint8_t **ip, const uint32_t *found,
	rte_edge_t *nexts, uint16_t count)
{
	rte_edge_t edge = 0, differ = 0;
	uint16_t usual = 0, i;

	if (likely(ip_lookup_all_the_same(found, count))) {
		usual = ip_lookup_rewrite_all(family, mbufs, ip, found[0], &edge, count);
		if (usual == 0 && ip_lookup_is_for_another_node(found[0])) {
			for (i = 0; i < count; i++)
				packet_set_adjacency(mbufs[i], found[0]);
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
	fused_count(node, usual + ip_lookup_rewrite_each(family, node, mbufs + usual, ip + usual,
					  found + usual, nexts + usual, count - usual));
	for (i = 0; i < count; i++)
		differ |= nexts[i] ^ nexts[0];
	return differ == 0;
}

#endif
