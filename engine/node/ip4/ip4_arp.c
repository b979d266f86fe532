/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-arp: packets to a neighbour whose MAC address is not known. The packet is held, the
 * neighbour asked for; neighbor-timer goes on from there. Not the fast path: it takes the
 * neighbour table's lock.
 */
#include "node/neighbor_wait.h"
#include "router/routes.h"

#include <netinet/ip_icmp.h>

static void fill_arp(struct rte_arp_hdr *arp, const struct interface *interface, uint32_t target)
{
	*arp = (struct rte_arp_hdr){
		.arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER),
		.arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4),
		.arp_hlen = RTE_ETHER_ADDR_LEN,
		.arp_plen = sizeof(uint32_t),
		.arp_opcode = RTE_BE16(RTE_ARP_OP_REQUEST),
	};
	arp->arp_data.arp_sha = interface->port->mac;
	arp->arp_data.arp_sip = rte_cpu_to_be_32(interface_source(interface, target));
	arp->arp_data.arp_tip = rte_cpu_to_be_32(target);
}

void arp_request_fill(struct rte_mbuf *mbuf, const struct neighbor_request *request)
{
	const struct interface *interface = &interfaces[request->interface];
	struct rte_ether_hdr *ethernet;

	packet_set_l3_bytes(mbuf, sizeof(struct rte_arp_hdr));
	mbuf->port = request->interface;
	ethernet = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);
	if (request->unicast)
		ethernet->dst_addr = request->mac;
	else
		memset(&ethernet->dst_addr, 0xff, sizeof(ethernet->dst_addr));
	ethernet->src_addr = interface->port->mac;
	ethernet->ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP);
	fill_arp((struct rte_arp_hdr *)(ethernet + 1), interface, request->target.ip4);
}

static const struct neighbor_wait_family family = {
	.error_edge = ADJACENCY_UNREACHABLE,
	.expired_type = ICMP_TIMXCEED, /* ICMP_TIMXCEED_INTRANS is 0 */
	.unreachable_type = ICMP_UNREACH,
	.unreachable_code = ICMP_UNREACH_HOST,
};

static uint16_t ip4_arp_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		const struct rte_ipv4_hdr *ip = packet_ip4(objs[i]);
		struct ip_address destination = {.family = ADDRESS_NONE};

		if (adjacency_of_ip4(&adjacencies[packet_adjacency(objs[i])]))
			destination = address_ip4(rte_be_to_cpu_32(ip->dst_addr));
		neighbor_wait_resolve(&family, graph, node, objs[i], ip->time_to_live, destination);
	}
	return count;
}

static struct node_type ip4_arp = {
	.name = "ip4-arp",
	.process = ip4_arp_process,
	.nexts = {[ADJACENCY_DROP] = "drop",
		[ADJACENCY_UNREACHABLE] = "icmp4-error",
		[ADJACENCY_REWRITE] = "ip4-rewrite",
		[ADJACENCY_MPLS_OUTPUT] = "mpls-output",
		[ADJACENCY_MPLS_DISPOSITION] = "mpls-disposition",
		[ADJACENCY_MPLS_IMPOSITION] = "ip4-mpls-label-imposition",
		[NEIGHBOR_WAIT_OUTPUT] = "interface-output"},
	.reasons = {NEIGHBOR_WAIT_REASONS("ttl expired")},
};
NODE_REGISTER(ip4_arp)
