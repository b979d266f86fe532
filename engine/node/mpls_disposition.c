/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpls-disposition: takes the last label off an IPv4 packet. The label's TTL becomes the
 * packet's (RFC 3443, uniform): less one when it goes straight to the next hop; as it is
 * when the packet is looked up, since ip4-rewrite takes one off then.
 */
#include "../router/adjacency.h"
#include "../router/packet.h"
#include "vector.h"

enum next {
	NEXT_DROP,
	NEXT_OUTPUT,
	NEXT_IP4,
};

enum reason {
	TTL_EXPIRED,
	NOT_IP4,
	BAD_CHECKSUM,
	BAD_LENGTH,
	MTU_EXCEEDED,
};

static rte_edge_t drop_reason(struct rte_node *node, enum reason reason)
{
	node_state(node)->drops[reason]++;
	return NEXT_DROP;
}

static bool holds_ip4(const struct rte_mbuf *mbuf)
{
	const uint8_t *ip = packet_l3(mbuf) + MPLS_LABEL_BYTES;

	return packet_l3_bytes(mbuf) >= MPLS_LABEL_BYTES + IP4_HEADER_BYTES && ip[0] >> 4 == 4 &&
	       (ip[0] & 0xf) >= 5;
}

/* ip4-input checks the rest. A wrong checksum stays wrong when the TTL changes. */
static rte_edge_t to_lookup(struct rte_mbuf *mbuf, uint8_t ttl)
{
	packet_pop(mbuf, MPLS_LABEL_BYTES);
	ip4_set_ttl(packet_ip4(mbuf), ttl);
	return NEXT_IP4;
}

static rte_edge_t to_neighbor(struct rte_node *node, struct rte_mbuf *mbuf,
	const struct adjacency *adjacency, uint8_t ttl)
{
	struct rte_ipv4_hdr *ip = RTE_PTR_ADD(packet_l3(mbuf), MPLS_LABEL_BYTES);
	uint16_t bytes = packet_l3_bytes(mbuf) - MPLS_LABEL_BYTES, header = rte_ipv4_hdr_len(ip);
	uint16_t total = rte_be_to_cpu_16(ip->total_length);

	if (ttl <= 1)
		return drop_reason(node, TTL_EXPIRED);
	if (total < header || total > bytes)
		return drop_reason(node, BAD_LENGTH);
	if (rte_raw_cksum(ip, header) != 0xffff)
		return drop_reason(node, BAD_CHECKSUM);
	if (total > adjacency->mtu)
		return drop_reason(node, MTU_EXCEEDED);
	rte_pktmbuf_adj(mbuf, MPLS_LABEL_BYTES);
	packet_set_l3_bytes(mbuf, total);
	ip4_set_ttl(ip, ttl - 1);
	adjacency_rewrite(adjacency, rte_pktmbuf_mtod(mbuf, uint8_t *));
	mbuf->port = adjacency->interface;
	return NEXT_OUTPUT;
}

static rte_edge_t dispose(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct adjacency *adjacency = &adjacencies[packet_adjacency(mbuf)];
	uint8_t ttl = (uint8_t)(mpls_read(packet_l3(mbuf)) & MPLS_TTL_MASK);

	if (unlikely(!holds_ip4(mbuf)))
		return drop_reason(node, NOT_IP4);
	if (adjacency->resolved == ADJACENCY_MPLS_IP4)
		return to_lookup(mbuf, ttl);
	return to_neighbor(node, mbuf, adjacency, ttl);
}

static bool mpls_disposition_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	rte_edge_t differ = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (likely(i + VECTOR_AHEAD < count))
			vector_prefetch_data(mbufs[i + VECTOR_AHEAD]);
		nexts[i] = dispose(node, mbufs[i]);
		differ |= nexts[i] ^ nexts[0];
	}
	return differ == 0;
}

static uint16_t mpls_disposition_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	return vector_walk(graph, node, objs, count, mpls_disposition_vector);
}

static struct node_type mpls_disposition = {
	.name = "mpls-disposition",
	.process = mpls_disposition_process,
	.nexts = {[NEXT_DROP] = "drop",
		[NEXT_OUTPUT] = "interface-output",
		[NEXT_IP4] = "ip4-input"},
	.reasons = {[TTL_EXPIRED] = "ttl expired",
		[NOT_IP4] = "no ip4 packet beneath the last label",
		[BAD_CHECKSUM] = "bad checksum",
		[BAD_LENGTH] = "bad length",
		[MTU_EXCEEDED] = "mtu exceeded"},
};
NODE_REGISTER(mpls_disposition)
