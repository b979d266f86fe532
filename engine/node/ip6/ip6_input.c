/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip6-input: the checks of RFC 8200 3 (version, payload length) and of the addresses (RFC 4291
 * 2.5 to 2.7), and takes Ethernet's padding off. The hop limit is looked at where it goes down:
 * a packet for the router itself is delivered whatever it is. Extension headers are not looked
 * at: RFC 8200 4 leaves that to the destination.
 */
#include "core/vector.h"
#include "fib/fib6.h"
#include "router/packet6.h"
#include "router/routes6.h"

#include <netinet/icmp6.h>

enum next {
	NEXT_DROP,
	NEXT_LOOKUP,
	NEXT_LOCAL,
	NEXT_ERROR,
};

enum reason {
	TRUNCATED,
	BAD_VERSION,
	BEYOND_FRAME,
	NO_PAYLOAD_LENGTH,
	SOURCE_MULTICAST,
	SOURCE_LOOPBACK,
	SOURCE_UNSPECIFIED,
	SOURCE_LINK_LOCAL,
	TO_GROUP,
};

/* From a source with link scope only: for the router itself, else dropped. */
static rte_edge_t only_local(struct rte_node *node, struct rte_mbuf *mbuf)
{
	uint8_t *ip = packet_l3(mbuf);
	const struct adjacency *adjacency = &adjacencies[fib6_lookup_one(ip6_destination(ip))];

	/* With labels it may have come over an interface that has no link in IPv6. */
	if (!interface6_enabled[mbuf->port])
		return node_drop_as(node, SOURCE_LINK_LOCAL);
	if (adjacency->kind == ADJACENCY_LOCAL6)
		return NEXT_LOCAL;
	/* Packets that are dropped anyway are counted there, under a better reason. */
	if (adjacency->kind == ADJACENCY_DROP)
		return NEXT_LOOKUP;
	if (ip6_is_unspecified(ip6_source(ip)))
		return node_drop_as(node, SOURCE_UNSPECIFIED);
	node_state(node)->drops[SOURCE_LINK_LOCAL]++;
	packet_set_error(mbuf, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_BEYONDSCOPE, 0);
	return NEXT_ERROR;
}

static rte_edge_t classify_addresses(struct rte_node *node, struct rte_mbuf *mbuf)
{
	uint8_t *ip = packet_l3(mbuf);
	const uint8_t *source = ip6_source(ip);
	const struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, const void *);

	if (ip6_is_multicast(source))
		return node_drop_as(node, SOURCE_MULTICAST);
	if (ip6_is_loopback(source))
		return node_drop_as(node, SOURCE_LOOPBACK);
	/* As IPv4 (RFC 1812 5.3.4): what all stations heard is not forwarded. */
	if (rte_is_multicast_ether_addr(&ethernet->dst_addr) &&
		!ip6_is_multicast(ip6_destination(ip)))
		return node_drop_as(node, TO_GROUP);
	if (ip6_is_unspecified(source) || ip6_is_link_local(source))
		return only_local(node, mbuf);
	return NEXT_LOOKUP;
}

static rte_edge_t classify_one(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const uint8_t *ip = packet_l3(mbuf);
	uint16_t bytes = packet_l3_bytes(mbuf), payload;

	if (bytes < IP6_HEADER_BYTES)
		return node_drop_as(node, TRUNCATED);
	if (ip[0] >> 4 != 6)
		return node_drop_as(node, BAD_VERSION);
	payload = ip6_payload_bytes(ip);
	if (payload > bytes - IP6_HEADER_BYTES)
		return node_drop_as(node, BEYOND_FRAME);
	/* RFC 2675: the length would be in an option, and more than any frame has. */
	if (payload == 0 && bytes > IP6_HEADER_BYTES && ip[IP6_AT_NEXT_HEADER] == IPPROTO_HOPOPTS)
		return node_drop_as(node, NO_PAYLOAD_LENGTH);
	packet_set_l3_bytes(mbuf, IP6_HEADER_BYTES + payload);
	return classify_addresses(node, mbuf);
}

VECTOR_EACH(ip6_input, classify_one, VECTOR_AHEAD)
VECTOR_PROCESS(ip6_input)

static struct node_type ip6_input = {
	.name = "ip6-input",
	.process = ip6_input_process,
	.nexts = {[NEXT_DROP] = "drop",
		[NEXT_LOOKUP] = "ip6-lookup",
		[NEXT_LOCAL] = "ip6-local",
		[NEXT_ERROR] = "icmp6-error"},
	.reasons = {[TRUNCATED] = "shorter than an ip6 header",
		[BAD_VERSION] = "version is not 6",
		[BEYOND_FRAME] = "payload length beyond the frame",
		[NO_PAYLOAD_LENGTH] = "no payload length, hop-by-hop options",
		[SOURCE_MULTICAST] = "source is multicast",
		[SOURCE_LOOPBACK] = "source is the loopback address",
		[SOURCE_UNSPECIFIED] = "source is unspecified",
		[SOURCE_LINK_LOCAL] = "source is link-local",
		[TO_GROUP] = "unicast destination to a group mac address"},
};
NODE_REGISTER(ip6_input)
