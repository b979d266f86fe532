/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-local: packets for the router itself. It answers ICMP echo; all else is answered with an
 * unreachable error.
 */
#include "core/vector.h"
#include "router/packet.h"

#include <netinet/in.h>
#include <netinet/ip_icmp.h>

enum next {
	NEXT_DROP,
	NEXT_ECHO,
	NEXT_ERROR,
};

enum reason {
	FRAGMENT,
	TRUNCATED_ICMP,
	OTHER_ICMP,
	NO_SUCH_PORT,
	NO_SUCH_PROTOCOL,
};

static rte_edge_t unreachable(
	struct rte_node *node, struct rte_mbuf *mbuf, enum reason reason, uint8_t code)
{
	node_state(node)->drops[reason]++;
	packet_set_error(mbuf, ICMP_UNREACH, code, 0);
	return NEXT_ERROR;
}

static rte_edge_t classify_one(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct rte_ipv4_hdr *ip = packet_ip4(mbuf);
	uint16_t header = rte_ipv4_hdr_len(ip);

	if (ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK | RTE_IPV4_HDR_MF_FLAG))
		return node_drop_as(node, FRAGMENT);
	switch (ip->next_proto_id) {
	case IPPROTO_ICMP:
		if (packet_l3_bytes(mbuf) < header + sizeof(struct rte_icmp_hdr))
			return node_drop_as(node, TRUNCATED_ICMP);
		if (packet_l3(mbuf)[header] != ICMP_ECHO)
			return node_drop_as(node, OTHER_ICMP);
		return NEXT_ECHO;
	case IPPROTO_UDP:
	case IPPROTO_TCP:
		return unreachable(node, mbuf, NO_SUCH_PORT, ICMP_UNREACH_PORT);
	default:
		return unreachable(node, mbuf, NO_SUCH_PROTOCOL, ICMP_UNREACH_PROTOCOL);
	}
}

VECTOR_EACH(ip4_local, classify_one, 0)
VECTOR_PROCESS(ip4_local)

static struct node_type ip4_local = {
	.name = "ip4-local",
	.process = ip4_local_process,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_ECHO] = "icmp4-echo", [NEXT_ERROR] = "icmp4-error"},
	.reasons = {[FRAGMENT] = "fragment for the router itself",
		[TRUNCATED_ICMP] = "shorter than an icmp header",
		[OTHER_ICMP] = "icmp message that asks for no answer",
		[NO_SUCH_PORT] = "no such port",
		[NO_SUCH_PROTOCOL] = "no such protocol"},
	.consumed = 1u << OTHER_ICMP,
};
NODE_REGISTER(ip4_local)
