/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ethernet-input: takes frames that are meant for the interface that they came in on and
 * parts them by ethertype. Most are IPv4 to the interface's own address: that needs one
 * comparison of the address and one of the type.
 */
#include "../router/interface.h"
#include "../router/packet.h"
#include "vector.h"

enum next {
	NEXT_DROP,
	NEXT_IP4,
	NEXT_ARP,
	NEXT_MPLS,
};

enum reason {
	TRUNCATED,
	INTERFACE_DOWN,
	L3_MAC_MISMATCH,
	VLAN_TAGGED,
	UNKNOWN_ETHERTYPE,
	IP4_TO_GROUP,
	MPLS_TO_GROUP,
};

#define MAC_MASK 0xffffffffffffull

static rte_edge_t drop_reason(struct rte_node *node, enum reason reason)
{
	node_state(node)->drops[reason]++;
	return NEXT_DROP;
}

static rte_edge_t by_ethertype(struct rte_node *node, const struct rte_ether_hdr *ethernet)
{
	bool group = rte_is_multicast_ether_addr(&ethernet->dst_addr);

	switch (rte_be_to_cpu_16(ethernet->ether_type)) {
	case RTE_ETHER_TYPE_IPV4:
		/* RFC 1812 5.3.4: what came as a link layer broadcast is not forwarded. */
		return group ? drop_reason(node, IP4_TO_GROUP) : NEXT_IP4;
	case RTE_ETHER_TYPE_ARP:
		return NEXT_ARP;
	case RTE_ETHER_TYPE_MPLS:
		return group ? drop_reason(node, MPLS_TO_GROUP) : NEXT_MPLS;
	case RTE_ETHER_TYPE_VLAN:
	case RTE_ETHER_TYPE_QINQ:
		return drop_reason(node, VLAN_TAGGED);
	default:
		return drop_reason(node, UNKNOWN_ETHERTYPE);
	}
}

static __rte_noinline rte_edge_t classify_other(struct rte_node *node, const struct rte_mbuf *mbuf)
{
	const struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, const void *);

	if (mbuf->data_len < RTE_ETHER_HDR_LEN)
		return drop_reason(node, TRUNCATED);
	if (interface_mac[mbuf->port] == INTERFACE_MAC_DOWN)
		return drop_reason(node, INTERFACE_DOWN);
	if (!rte_is_multicast_ether_addr(&ethernet->dst_addr) &&
		!rte_is_same_ether_addr(&ethernet->dst_addr, &interfaces[mbuf->port].port->mac))
		return drop_reason(node, L3_MAC_MISMATCH);
	return by_ethertype(node, ethernet);
}

static __rte_always_inline rte_edge_t classify_one(
	struct rte_node *node, const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint16_t ethertype;
	uint64_t mac;

	memcpy(&mac, frame, sizeof(mac));
	memcpy(&ethertype, frame + 12, sizeof(ethertype));
	if (likely((mac & MAC_MASK) == interface_mac[mbuf->port] &&
		    mbuf->data_len >= RTE_ETHER_HDR_LEN)) {
		if (likely(ethertype == RTE_BE16(RTE_ETHER_TYPE_IPV4)))
			return NEXT_IP4;
		if (ethertype == RTE_BE16(RTE_ETHER_TYPE_MPLS))
			return NEXT_MPLS;
	}
	return classify_other(node, mbuf);
}

static bool ethernet_input_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	rte_edge_t differ = 0;

	for (unsigned i = 0; i < VECTOR_AHEAD && i < count; i++)
		vector_prefetch_data(mbufs[i]);
	for (uint16_t i = 0; i < count; i++) {
		if (likely(i + 2 * VECTOR_AHEAD < count))
			rte_prefetch0(mbufs[i + 2 * VECTOR_AHEAD]);
		if (likely(i + VECTOR_AHEAD < count))
			vector_prefetch_data(mbufs[i + VECTOR_AHEAD]);
		nexts[i] = classify_one(node, mbufs[i]);
		differ |= nexts[i] ^ nexts[0];
	}
	return differ == 0;
}

static uint16_t ethernet_input_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	return vector_walk(graph, node, objs, count, ethernet_input_vector);
}

static struct node_type ethernet_input = {
	.name = "ethernet-input",
	.process = ethernet_input_process,
	.nexts = {[NEXT_DROP] = "drop",
		[NEXT_IP4] = "ip4-input",
		[NEXT_ARP] = "arp-input",
		[NEXT_MPLS] = "mpls-input"},
	.reasons = {[TRUNCATED] = "shorter than an Ethernet header",
		[INTERFACE_DOWN] = "interface down",
		[L3_MAC_MISMATCH] = "l3 mac mismatch",
		[VLAN_TAGGED] = "vlan tagged",
		[UNKNOWN_ETHERTYPE] = "unknown ethertype",
		[IP4_TO_GROUP] = "ip4 to a group mac address",
		[MPLS_TO_GROUP] = "mpls to a group mac address"},
};
NODE_REGISTER(ethernet_input)
