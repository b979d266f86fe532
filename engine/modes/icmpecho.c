/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * icmpecho: answers ARP requests for any address, and ICMP echo requests to any, out of the
 * port that they came in on; testpmd's word and meaning. Anything else is dropped. A request
 * is consumed and its answer originated. One VLAN tag may lie before either.
 */
#include "core/vector.h"
#include "forwarder.h"

#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <rte_arp.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <stdio.h>
#include <string.h>

enum next {
	NEXT_DROP,
	NEXT_TX,
};

enum reason {
	ARP_ANSWERED,
	ECHO_ANSWERED,
	TRUNCATED,
	UNKNOWN_ETHERTYPE,
	ARP_OTHER,
	NOT_A_STATION,
	IP4_MALFORMED,
	IP4_BAD_CHECKSUM,
	IP4_FRAGMENT,
	NOT_ICMP,
	NOT_ECHO,
	ICMP_BAD_CHECKSUM,
	REASONS,
};

#define FRAGMENT_MASK RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)

/* The frame goes back to its sender, from the port. */
static void turn_round(struct rte_ether_hdr *ethernet, const struct port *port)
{
	ethernet->dst_addr = ethernet->src_addr;
	ethernet->src_addr = port->mac;
}

static enum reason answer_arp(struct rte_ether_hdr *ethernet, struct rte_arp_hdr *arp,
	unsigned room, const struct port *port)
{
	struct rte_arp_ipv4 *data = &arp->arp_data;
	rte_be32_t wanted;

	if (room < sizeof(*arp))
		return TRUNCATED;
	if (arp->arp_hardware != RTE_BE16(RTE_ARP_HRD_ETHER) ||
		arp->arp_protocol != RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
		arp->arp_hlen != RTE_ETHER_ADDR_LEN || arp->arp_plen != sizeof(uint32_t) ||
		arp->arp_opcode != RTE_BE16(RTE_ARP_OP_REQUEST))
		return ARP_OTHER;
	turn_round(ethernet, port);
	wanted = data->arp_tip;
	arp->arp_opcode = RTE_BE16(RTE_ARP_OP_REPLY);
	data->arp_tha = data->arp_sha;
	data->arp_tip = data->arp_sip;
	data->arp_sha = port->mac;
	data->arp_sip = wanted;
	return ARP_ANSWERED;
}

/* Everything that must hold for the packet to be an echo request; ECHO_ANSWERED when it is. */
static enum reason check_echo(const struct rte_ipv4_hdr *ip, unsigned room)
{
	const struct rte_icmp_hdr *icmp;
	unsigned header, total;

	if (room < sizeof(*ip))
		return TRUNCATED;
	header = rte_ipv4_hdr_len(ip);
	total = rte_be_to_cpu_16(ip->total_length);
	if (ip->version_ihl >> 4 != IPVERSION || header < sizeof(*ip) || total < header)
		return IP4_MALFORMED;
	if (total > room)
		return TRUNCATED;
	if (rte_raw_cksum(ip, header) != UINT16_MAX)
		return IP4_BAD_CHECKSUM;
	if (ip->next_proto_id != IPPROTO_ICMP)
		return NOT_ICMP;
	if ((ip->fragment_offset & FRAGMENT_MASK) != 0)
		return IP4_FRAGMENT;
	if (total < header + sizeof(*icmp))
		return IP4_MALFORMED;
	icmp = RTE_PTR_ADD(ip, header);
	if (icmp->icmp_type != ICMP_ECHO || icmp->icmp_code != 0)
		return NOT_ECHO;
	return rte_raw_cksum(icmp, total - header) == UINT16_MAX ? ECHO_ANSWERED
								 : ICMP_BAD_CHECKSUM;
}

/* The answer to a group comes from a neighbour of the sender's address, as testpmd has it. */
static rte_be32_t answer_source(const struct rte_ipv4_hdr *ip)
{
	uint32_t sender = rte_be_to_cpu_32(ip->src_addr);

	if (!IN_MULTICAST(rte_be_to_cpu_32(ip->dst_addr)))
		return ip->dst_addr;
	return rte_cpu_to_be_32((sender & ~3u) | ((sender & 3) == 1 ? 2 : 1));
}

static enum reason answer_echo(struct rte_ether_hdr *ethernet, struct rte_ipv4_hdr *ip,
	unsigned room, const struct port *port)
{
	enum reason reason = check_echo(ip, room);
	struct rte_icmp_hdr *icmp;
	rte_be32_t source;
	uint32_t sum;

	if (reason != ECHO_ANSWERED)
		return reason;
	turn_round(ethernet, port);
	source = answer_source(ip);
	ip->dst_addr = ip->src_addr;
	ip->src_addr = source;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, rte_ipv4_hdr_len(ip));
	icmp = RTE_PTR_ADD(ip, rte_ipv4_hdr_len(ip));
	icmp->icmp_type = ICMP_ECHOREPLY;
	/* RFC 1624: the type goes from 8 to 0, and the data need not be read again. */
	sum = (uint16_t)~icmp->icmp_cksum + (uint32_t)(uint16_t)~RTE_BE16(ICMP_ECHO << 8);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	icmp->icmp_cksum = (uint16_t) ~((sum & UINT16_MAX) + (sum >> 16));
	return ECHO_ANSWERED;
}

static enum reason answer(struct rte_mbuf *mbuf, const struct port *port)
{
	struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);
	unsigned offset = sizeof(*ethernet), length = mbuf->data_len;
	rte_be16_t type;

	if (length < offset)
		return TRUNCATED;
	type = ethernet->ether_type;
	if (type == RTE_BE16(RTE_ETHER_TYPE_VLAN)) {
		offset += sizeof(struct rte_vlan_hdr);
		if (length < offset)
			return TRUNCATED;
		type = rte_pktmbuf_mtod_offset(mbuf, struct rte_vlan_hdr *, sizeof(*ethernet))
			       ->eth_proto;
	}
	if (rte_is_multicast_ether_addr(&ethernet->src_addr))
		return NOT_A_STATION;
	if (type == RTE_BE16(RTE_ETHER_TYPE_ARP))
		return answer_arp(ethernet, rte_pktmbuf_mtod_offset(mbuf, void *, offset),
			length - offset, port);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return answer_echo(ethernet, rte_pktmbuf_mtod_offset(mbuf, void *, offset),
			length - offset, port);
	return UNKNOWN_ETHERTYPE;
}

static rte_edge_t edge_of(struct rte_node *node, struct rte_mbuf *mbuf)
{
	enum reason reason = answer(mbuf, node_object(node));

	node_state(node)->drops[reason]++;
	if (reason != ARP_ANSWERED && reason != ECHO_ANSWERED)
		return NEXT_DROP;
	node_state(node)->originated++;
	return NEXT_TX;
}

VECTOR_EACH(icmpecho, edge_of, VECTOR_AHEAD)
VECTOR_PROCESS(icmpecho)

static struct node_type icmpecho = {
	.name = "icmpecho",
	.process = icmpecho_process,
	.nexts = {[NEXT_DROP] = "drop"},
	.reasons = {[ARP_ANSWERED] = "arp request answered",
		[ECHO_ANSWERED] = "echo request answered",
		[TRUNCATED] = "truncated",
		[UNKNOWN_ETHERTYPE] = "unknown ethertype",
		[ARP_OTHER] = "no arp request for an ip4 address",
		[NOT_A_STATION] = "source mac is a group's",
		[IP4_MALFORMED] = "malformed ip4 header",
		[IP4_BAD_CHECKSUM] = "bad ip4 checksum",
		[IP4_FRAGMENT] = "fragment",
		[NOT_ICMP] = "not icmp",
		[NOT_ECHO] = "no echo request",
		[ICMP_BAD_CHECKSUM] = "bad icmp checksum"},
	.consumed = 1u << ARP_ANSWERED | 1u << ECHO_ANSWERED,
	.template = true,
};
_Static_assert(REASONS <= NODE_REASONS_MAX, "too many reasons");
NODE_REGISTER(icmpecho)

static int icmpecho_entry(
	struct port *port, __rte_unused struct port *peer, char name[RTE_NODE_NAMESIZE])
{
	char tx[RTE_NODE_NAMESIZE];

	snprintf(tx, sizeof(tx), "port-tx-%s", port->name);
	return node_clone_to("icmpecho", port->name, port, tx, name);
}

static struct forwarding_mode icmpecho_mode = {
	.name = "icmpecho",
	.entry = icmpecho_entry,
};
FORWARDING_MODE_REGISTER(icmpecho_mode)
