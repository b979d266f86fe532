/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arp-input: answers requests for the interface's own addresses and learns neighbours (RFC
 * 826): whoever talks to the router is added, whoever is known already is updated. Only
 * senders on the interface's own subnets are believed.
 */
#include "core/vector.h"
#include "router/neighbor.h"
#include "router/packet.h"

#include <rte_arp.h>

enum next {
	NEXT_DROP,
	NEXT_OUTPUT,
};

enum reason {
	ANSWERED,
	LEARNT,
	NOT_FOR_US,
	TRUNCATED,
	NOT_IP4_OVER_ETHERNET,
	UNKNOWN_OPERATION,
	BAD_SENDER_MAC,
	ADDRESS_CONFLICT,
	SENDER_NOT_ON_SUBNET,
};

static bool is_ip4_over_ethernet(const struct rte_arp_hdr *arp)
{
	return arp->arp_hardware == RTE_BE16(RTE_ARP_HRD_ETHER) &&
	       arp->arp_protocol == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
	       arp->arp_hlen == RTE_ETHER_ADDR_LEN && arp->arp_plen == sizeof(uint32_t);
}

static bool is_station(const struct rte_ether_addr *mac)
{
	return !rte_is_multicast_ether_addr(mac) && !rte_is_zero_ether_addr(mac);
}

/* The request becomes the reply; it goes out where it came in. */
static rte_edge_t reply(struct rte_node *node, struct rte_mbuf *mbuf)
{
	struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);
	struct rte_arp_hdr *arp = (struct rte_arp_hdr *)(ethernet + 1);
	struct rte_arp_ipv4 *data = &arp->arp_data;
	rte_be32_t own = data->arp_tip;

	packet_set_l3_bytes(mbuf, sizeof(*arp));
	arp->arp_opcode = RTE_BE16(RTE_ARP_OP_REPLY);
	data->arp_tha = data->arp_sha;
	data->arp_tip = data->arp_sip;
	data->arp_sha = interfaces[mbuf->port].port->mac;
	data->arp_sip = own;
	ethernet->dst_addr = data->arp_tha;
	ethernet->src_addr = data->arp_sha;
	node_state(node)->drops[ANSWERED]++;
	node_state(node)->originated++;
	return NEXT_OUTPUT;
}

static rte_edge_t take(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct rte_arp_hdr *arp = (const struct rte_arp_hdr *)packet_l3(mbuf);
	const struct interface *interface = &interfaces[mbuf->port];
	uint32_t sender = rte_be_to_cpu_32(arp->arp_data.arp_sip);
	bool request = arp->arp_opcode == RTE_BE16(RTE_ARP_OP_REQUEST);
	bool for_us = interface_owns(interface, rte_be_to_cpu_32(arp->arp_data.arp_tip));
	bool known;

	/* RFC 5227: a probe has no sender address yet; it is answered, nothing is learnt. */
	if (sender == 0)
		return request && for_us ? reply(node, mbuf) : node_drop_as(node, NOT_FOR_US);
	if (interface_owner(sender) != NULL)
		return node_drop_as(node, ADDRESS_CONFLICT);
	if (!interface_on_subnet(interface, sender))
		return node_drop_as(node, SENDER_NOT_ON_SUBNET);
	known = neighbor_learn(interface, address_ip4(sender), &arp->arp_data.arp_sha, for_us);
	if (request && for_us)
		return reply(node, mbuf);
	return node_drop_as(node, known ? LEARNT : NOT_FOR_US);
}

static rte_edge_t classify_one(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct rte_arp_hdr *arp = (const struct rte_arp_hdr *)packet_l3(mbuf);

	if (packet_l3_bytes(mbuf) < sizeof(*arp))
		return node_drop_as(node, TRUNCATED);
	if (!is_ip4_over_ethernet(arp))
		return node_drop_as(node, NOT_IP4_OVER_ETHERNET);
	if (arp->arp_opcode != RTE_BE16(RTE_ARP_OP_REQUEST) &&
		arp->arp_opcode != RTE_BE16(RTE_ARP_OP_REPLY))
		return node_drop_as(node, UNKNOWN_OPERATION);
	if (!is_station(&arp->arp_data.arp_sha))
		return node_drop_as(node, BAD_SENDER_MAC);
	return take(node, mbuf);
}

VECTOR_EACH(arp_input, classify_one, 0)
VECTOR_PROCESS(arp_input)

static struct node_type arp_input = {
	.name = "arp-input",
	.process = arp_input_process,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_OUTPUT] = "interface-output"},
	.reasons = {[ANSWERED] = "request answered",
		[LEARNT] = "neighbor learnt",
		[NOT_FOR_US] = "not for the router",
		[TRUNCATED] = "shorter than an arp packet",
		[NOT_IP4_OVER_ETHERNET] = "not ip4 over ethernet",
		[UNKNOWN_OPERATION] = "neither request nor reply",
		[BAD_SENDER_MAC] = "sender mac is no station's",
		[ADDRESS_CONFLICT] = "sender has an address of the router",
		[SENDER_NOT_ON_SUBNET] = "sender not on the interface's subnet"},
	.consumed = 1u << ANSWERED | 1u << LEARNT | 1u << NOT_FOR_US,
};
NODE_REGISTER(arp_input)
