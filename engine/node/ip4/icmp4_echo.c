/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * icmp4-echo: turns an echo request for the router into the reply, in place. The request is
 * consumed and the reply originated.
 */
#include "core/vector.h"
#include "fib/fib4.h"
#include "router/packet.h"
#include "router/routes.h"

#include <netinet/ip_icmp.h>

enum next {
	NEXT_DROP,
	NEXT_LOOKUP,
};

enum reason {
	ANSWERED,
	BAD_CHECKSUM,
	SOURCE_NOT_UNICAST,
};

static bool icmp_checksum_ok(const uint8_t *icmp, uint16_t bytes)
{
	return rte_raw_cksum(icmp, bytes) == 0xffff;
}

static void make_reply(struct rte_mbuf *mbuf)
{
	struct rte_ipv4_hdr *ip = packet_ip4(mbuf);
	uint16_t header = rte_ipv4_hdr_len(ip), bytes = packet_l3_bytes(mbuf) - header;
	struct rte_icmp_hdr *icmp = RTE_PTR_ADD(ip, header);
	rte_be32_t requester = ip->src_addr;

	icmp->icmp_type = ICMP_ECHOREPLY;
	icmp->icmp_cksum = 0;
	icmp->icmp_cksum = (uint16_t)~rte_raw_cksum(icmp, bytes);
	ip->src_addr = ip->dst_addr;
	ip->dst_addr = requester;
	ip->time_to_live = ROUTER_TTL;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, header);
}

static rte_edge_t answer(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct rte_ipv4_hdr *ip = packet_ip4(mbuf);
	uint16_t header = rte_ipv4_hdr_len(ip);
	uint32_t source = fib4_lookup_one(rte_be_to_cpu_32(ip->src_addr));
	struct node_state *state = node_state(node);

	if (!icmp_checksum_ok((const uint8_t *)ip + header, packet_l3_bytes(mbuf) - header))
		return node_drop_as(node, BAD_CHECKSUM);
	/* Prefixes that the fib drops are those that are not a host's own address. */
	if (adjacencies[source].kind == ADJACENCY_DROP)
		return node_drop_as(node, SOURCE_NOT_UNICAST);
	state->drops[ANSWERED]++;
	state->originated++;
	make_reply(mbuf);
	return NEXT_LOOKUP;
}

VECTOR_EACH(icmp4_echo, answer, 0)
VECTOR_PROCESS(icmp4_echo)

static struct node_type icmp4_echo = {
	.name = "icmp4-echo",
	.process = icmp4_echo_process,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_LOOKUP] = "ip4-lookup"},
	.reasons = {[ANSWERED] = "echo request answered",
		[BAD_CHECKSUM] = "bad icmp checksum",
		[SOURCE_NOT_UNICAST] = "source is no unicast address"},
	.consumed = 1u << ANSWERED,
};
NODE_REGISTER(icmp4_echo)
