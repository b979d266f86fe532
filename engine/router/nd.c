/* SPDX-License-Identifier: BSD-3-Clause */
#include "nd.h"

/* RFC 2464 7: a group's MAC address is 33:33 and the last four bytes of it. */
static void group_mac(const uint8_t *group, struct rte_ether_addr *mac)
{
	mac->addr_bytes[0] = mac->addr_bytes[1] = 0x33;
	memcpy(mac->addr_bytes + 2, group + IP6_BYTES - 4, 4);
}

void nd_fill(
	struct rte_mbuf *mbuf, const struct interface *interface, const struct nd_message *message)
{
	struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);
	uint8_t *ip = packet_l3(mbuf), *icmp = ip + IP6_HEADER_BYTES;

	packet_set_l3_bytes(mbuf, IP6_HEADER_BYTES + ND_MESSAGE_BYTES);
	mbuf->port = (uint16_t)(interface - interfaces);
	if (message->mac != NULL)
		ethernet->dst_addr = *message->mac;
	else
		group_mac(message->destination, &ethernet->dst_addr);
	ethernet->src_addr = interface->port->mac;
	ethernet->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV6);
	ip6_fill(ip, IPPROTO_ICMPV6, ND_MESSAGE_BYTES, ND_HOP_LIMIT, message->source,
		message->destination);
	memset(icmp, 0, ND_AT_TARGET);
	icmp[0] = message->type;
	icmp[ND_AT_FLAGS] = message->flags;
	memcpy(icmp + ND_AT_TARGET, message->target, IP6_BYTES);
	icmp[ND_AT_OPTIONS] = message->option;
	icmp[ND_AT_OPTIONS + 1] = ND_OPTION_BYTES / 8;
	memcpy(icmp + ND_AT_OPTIONS + 2, &interface->port->mac, RTE_ETHER_ADDR_LEN);
	icmp6_set_checksum(ip, icmp, ND_MESSAGE_BYTES);
}
