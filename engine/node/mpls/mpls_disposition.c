/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpls-disposition: takes the last label off. What is beneath goes straight to the next hop,
 * IPv4 or IPv6 (this is the penultimate hop), or it is looked up.
 *
 * Uniform model: the label's TTL becomes the packet's, less one when it goes straight to the
 * next hop; as it is when it is looked up, since ip4-rewrite takes one off then. Pipe model:
 * the packet's stays, and the penultimate hop is none of its hops (RFC 3443 3.2).
 */
#include "core/vector.h"
#include "router/adjacency.h"
#include "router/interface6.h"
#include "router/mpls.h"

#include <netinet/ip_icmp.h>

enum next {
	NEXT_DROP,
	NEXT_OUTPUT,
	NEXT_IP4,
	NEXT_ERROR,
	NEXT_IP6,
};

enum reason {
	TTL_EXPIRED,
	NOT_IP,
	NO_IP6,
	BAD_CHECKSUM,
	BAD_LENGTH,
	MTU_EXCEEDED,
};

/* Its loss is counted. The sender of an intact IPv4 packet gets an ICMP error (RFC 3032 2.3.2,
 * 3.4). */
static rte_edge_t tell_sender(struct rte_mbuf *mbuf, uint8_t type, uint8_t code, uint16_t mtu)
{
	if (!mpls_uncover_ip4(mbuf))
		return NEXT_DROP;
	if (code == ICMP_UNREACH_NEEDFRAG && type == ICMP_UNREACH &&
		!(packet_ip4(mbuf)->fragment_offset & RTE_BE16(RTE_IPV4_HDR_DF_FLAG)))
		return NEXT_DROP;
	packet_set_error(mbuf, type, code, mtu);
	return NEXT_ERROR;
}

/* ip6-input checks the rest. */
static rte_edge_t to_lookup6(struct rte_node *node, struct rte_mbuf *mbuf, uint8_t ttl)
{
	struct rte_ipv6_hdr *ip = RTE_PTR_ADD(packet_l3(mbuf), MPLS_LABEL_BYTES);

	if (!interfaces6_any())
		return node_drop_as(node, NO_IP6);
	if (!mpls_model.pipe)
		ip->hop_limits = ttl;
	packet_pop(mbuf, MPLS_LABEL_BYTES);
	return NEXT_IP6;
}

/* ip4-input checks the rest. A wrong checksum stays wrong when the TTL changes. */
static rte_edge_t to_lookup(struct rte_node *node, struct rte_mbuf *mbuf, uint8_t ttl)
{
	const uint8_t *ip = packet_l3(mbuf) + MPLS_LABEL_BYTES;

	if (packet_l3_bytes(mbuf) >= MPLS_LABEL_BYTES + sizeof(struct rte_ipv6_hdr) &&
		ip[0] >> 4 == 6)
		return to_lookup6(node, mbuf, ttl);
	if (packet_l3_bytes(mbuf) < MPLS_LABEL_BYTES + IP4_HEADER_BYTES || ip[0] >> 4 != 4 ||
		(ip[0] & 0xf) < 5)
		return node_drop_as(node, NOT_IP);
	packet_pop(mbuf, MPLS_LABEL_BYTES);
	if (!mpls_model.pipe)
		ip4_set_ttl(packet_ip4(mbuf), ttl);
	return NEXT_IP4;
}

/* Takes the label off what goes out as `bytes` bytes of that type. */
static rte_edge_t send_on(struct rte_mbuf *mbuf, const struct adjacency *adjacency, uint16_t bytes,
	rte_be16_t ethertype)
{
	uint8_t *frame;

	rte_pktmbuf_adj(mbuf, MPLS_LABEL_BYTES);
	packet_set_l3_bytes(mbuf, bytes);
	frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	adjacency_rewrite(adjacency, frame);
	memcpy(frame + offsetof(struct rte_ether_hdr, ether_type), &ethertype, sizeof(ethertype));
	mbuf->port = adjacency->interface;
	return NEXT_OUTPUT;
}

static rte_edge_t ip4_to_neighbor(struct rte_node *node, struct rte_mbuf *mbuf,
	const struct adjacency *adjacency, uint8_t ttl)
{
	struct rte_ipv4_hdr *ip = RTE_PTR_ADD(packet_l3(mbuf), MPLS_LABEL_BYTES);
	uint16_t bytes = packet_l3_bytes(mbuf) - MPLS_LABEL_BYTES, header = rte_ipv4_hdr_len(ip);
	uint16_t total = rte_be_to_cpu_16(ip->total_length);

	if (total < header || total > bytes)
		return node_drop_as(node, BAD_LENGTH);
	if (rte_raw_cksum(ip, header) != 0xffff)
		return node_drop_as(node, BAD_CHECKSUM);
	if (total > adjacency->mtu) {
		node_state(node)->drops[MTU_EXCEEDED]++;
		return tell_sender(mbuf, ICMP_UNREACH, ICMP_UNREACH_NEEDFRAG, adjacency->mtu);
	}
	ip4_set_ttl(ip, (uint8_t)mpls_ttl_beneath(ttl - 1u, ip->time_to_live));
	return send_on(mbuf, adjacency, total, RTE_BE16(RTE_ETHER_TYPE_IPV4));
}

static rte_edge_t ip6_to_neighbor(struct rte_node *node, struct rte_mbuf *mbuf,
	const struct adjacency *adjacency, uint8_t ttl)
{
	struct rte_ipv6_hdr *ip = RTE_PTR_ADD(packet_l3(mbuf), MPLS_LABEL_BYTES);
	uint32_t total = sizeof(*ip) + rte_be_to_cpu_16(ip->payload_len);

	if (total > (uint32_t)packet_l3_bytes(mbuf) - MPLS_LABEL_BYTES)
		return node_drop_as(node, BAD_LENGTH);
	if (total > adjacency->mtu)
		return node_drop_as(node, MTU_EXCEEDED);
	ip->hop_limits = (uint8_t)mpls_ttl_beneath(ttl - 1u, ip->hop_limits);
	return send_on(mbuf, adjacency, (uint16_t)total, RTE_BE16(RTE_ETHER_TYPE_IPV6));
}

/* The version says what it is (RFC 4928 3 has all others begin otherwise). */
static rte_edge_t to_neighbor(struct rte_node *node, struct rte_mbuf *mbuf,
	const struct adjacency *adjacency, uint8_t ttl)
{
	const uint8_t *ip = packet_l3(mbuf) + MPLS_LABEL_BYTES;
	int bytes = packet_l3_bytes(mbuf) - MPLS_LABEL_BYTES;

	if (ttl <= 1) {
		node_state(node)->drops[TTL_EXPIRED]++;
		return tell_sender(mbuf, ICMP_TIMXCEED, ICMP_TIMXCEED_INTRANS, 0);
	}
	if (bytes >= IP4_HEADER_BYTES && ip[0] >> 4 == 4 && (ip[0] & 0xf) >= 5)
		return ip4_to_neighbor(node, mbuf, adjacency, ttl);
	if (bytes >= (int)sizeof(struct rte_ipv6_hdr) && ip[0] >> 4 == 6)
		return ip6_to_neighbor(node, mbuf, adjacency, ttl);
	return node_drop_as(node, NOT_IP);
}

static rte_edge_t dispose(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct adjacency *adjacency = &adjacencies[packet_adjacency(mbuf)];
	uint8_t ttl = (uint8_t)(mpls_read(packet_l3(mbuf)) & MPLS_TTL_MASK);

	if (adjacency->resolved == ADJACENCY_MPLS_IP4)
		return to_lookup(node, mbuf, ttl);
	return to_neighbor(node, mbuf, adjacency, ttl);
}

VECTOR_EACH(mpls_disposition, dispose, VECTOR_AHEAD)
VECTOR_PROCESS(mpls_disposition)

static struct node_type mpls_disposition = {
	.name = "mpls-disposition",
	.process = mpls_disposition_process,
	.nexts = {[NEXT_DROP] = "drop",
		[NEXT_OUTPUT] = "interface-output",
		[NEXT_IP4] = "ip4-input",
		[NEXT_ERROR] = "icmp4-error",
		[NEXT_IP6] = "ip6-input"},
	.reasons = {[TTL_EXPIRED] = "ttl expired",
		[NOT_IP] = "no ip packet beneath the last label",
		[NO_IP6] = "no interface has ip6",
		[BAD_CHECKSUM] = "bad checksum",
		[BAD_LENGTH] = "bad length",
		[MTU_EXCEEDED] = "mtu exceeded"},
};
NODE_REGISTER(mpls_disposition)
