/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * icmp6-echo: turns an echo request for the router into the reply, in place, without its
 * extension headers (RFC 4443 4.2). The request is consumed and the reply originated.
 */
#include "core/vector.h"
#include "router/packet6.h"
#include "router/routes6.h"

#include <netinet/icmp6.h>

enum next {
	NEXT_DROP,
	NEXT_LOOKUP,
	NEXT_ND,
};

enum reason {
	ANSWERED,
	TRUNCATED,
	SOURCE_UNSPECIFIED,
	NO_ADDRESS,
};

#define ECHO_BYTES 8

/* The reply comes from where the request went, or from the interface if that was a group. */
static const uint8_t *source_of_reply(const struct rte_mbuf *mbuf, uint8_t *ip)
{
	const struct interface *interface = &interfaces[mbuf->port];

	if (!ip6_is_multicast(ip6_destination(ip)))
		return ip6_destination(ip);
	return ip6_is_link_local(ip6_source(ip)) ? interface6_of(interface)->link_local
						 : interface6_global(interface);
}

static void make_reply(struct rte_mbuf *mbuf, const uint8_t *source, const uint8_t *destination)
{
	uint16_t upper = packet_upper(mbuf), bytes = packet_l3_bytes(mbuf) - upper;
	uint8_t *ip, *icmp;

	/* The Ethernet header need not move along: ip6-rewrite writes one. */
	rte_pktmbuf_adj(mbuf, upper - IP6_HEADER_BYTES);
	ip = packet_l3(mbuf);
	icmp = ip + IP6_HEADER_BYTES;
	ip6_fill(ip, IPPROTO_ICMPV6, bytes, ROUTER_TTL, source, destination);
	icmp[0] = ICMP6_ECHO_REPLY;
	icmp6_set_checksum(ip, icmp, bytes);
}

static rte_edge_t answer(struct rte_node *node, struct rte_mbuf *mbuf)
{
	uint8_t *ip = packet_l3(mbuf), requester[IP6_BYTES], own[IP6_BYTES];
	struct node_state *state = node_state(node);
	const uint8_t *source = source_of_reply(mbuf, ip);

	if (packet_l3_bytes(mbuf) - packet_upper(mbuf) < ECHO_BYTES)
		return node_drop_as(node, TRUNCATED);
	if (ip6_is_unspecified(ip6_source(ip)))
		return node_drop_as(node, SOURCE_UNSPECIFIED);
	if (source == NULL)
		return node_drop_as(node, NO_ADDRESS);
	state->drops[ANSWERED]++;
	state->originated++;
	memcpy(requester, ip6_source(ip), IP6_BYTES);
	memcpy(own, source, IP6_BYTES);
	make_reply(mbuf, own, requester);
	if (!ip6_is_link_local(requester))
		return NEXT_LOOKUP;
	packet_set_adjacency(mbuf, interface6_of(&interfaces[mbuf->port])->glean);
	return NEXT_ND;
}

VECTOR_EACH(icmp6_echo, answer, 0)
VECTOR_PROCESS(icmp6_echo)

static struct node_type icmp6_echo = {
	.name = "icmp6-echo",
	.process = icmp6_echo_process,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_LOOKUP] = "ip6-lookup", [NEXT_ND] = "ip6-nd"},
	.reasons = {[ANSWERED] = "echo request answered",
		[TRUNCATED] = "shorter than an echo request",
		[SOURCE_UNSPECIFIED] = "source is unspecified",
		[NO_ADDRESS] = "interface has no address"},
	.consumed = 1u << ANSWERED,
};
NODE_REGISTER(icmp6_echo)
