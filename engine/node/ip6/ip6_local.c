/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip6-local: packets for the router itself, or for a group that it is in. Takes them through their
 * extension headers; passes neighbour discovery and echo requests to their nodes; all else is
 * answered with an unreachable error.
 */
#include "core/vector.h"
#include "router/interface6.h"
#include "router/ip6_headers.h"
#include "router/packet6.h"

#include <netinet/icmp6.h>

enum next {
	NEXT_DROP,
	NEXT_ECHO,
	NEXT_ND,
	NEXT_ERROR,
};

enum reason {
	OTHER_LINK,
	FRAGMENT,
	TRUNCATED_HEADERS,
	UNKNOWN_OPTION,
	ROUTING_HEADER,
	TRUNCATED_ICMP,
	BAD_CHECKSUM,
	OTHER_ICMP,
	NO_NEXT_HEADER,
	NO_SUCH_PORT,
	NO_SUCH_PROTOCOL,
};

#define ICMP6_HEADER_BYTES 4

static rte_edge_t tell(struct rte_node *node, struct rte_mbuf *mbuf, enum reason reason,
	uint8_t type, uint8_t code, uint16_t pointer)
{
	node_state(node)->drops[reason]++;
	packet_set_error(mbuf, type, code, pointer);
	return NEXT_ERROR;
}

static rte_edge_t classify_icmp6(
	struct rte_node *node, struct rte_mbuf *mbuf, const struct ip6_headers *headers)
{
	const uint8_t *ip = packet_l3(mbuf), *icmp = ip + headers->offset;
	uint16_t bytes = packet_l3_bytes(mbuf) - headers->offset;

	if (bytes < ICMP6_HEADER_BYTES)
		return node_drop_as(node, TRUNCATED_ICMP);
	if (icmp6_sum(ip, icmp, bytes) != 0xffff)
		return node_drop_as(node, BAD_CHECKSUM);
	packet_set_upper(mbuf, headers->offset);
	switch (icmp[0]) {
	case ICMP6_ECHO_REQUEST:
		return NEXT_ECHO;
	case ND_NEIGHBOR_SOLICIT:
	case ND_NEIGHBOR_ADVERT:
		return NEXT_ND;
	default:
		return node_drop_as(node, OTHER_ICMP);
	}
}

static rte_edge_t classify_upper(
	struct rte_node *node, struct rte_mbuf *mbuf, const struct ip6_headers *headers)
{
	switch (headers->next_header) {
	case IPPROTO_ICMPV6:
		return classify_icmp6(node, mbuf, headers);
	case IPPROTO_UDP:
	case IPPROTO_TCP:
		return tell(
			node, mbuf, NO_SUCH_PORT, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_NOPORT, 0);
	case IPPROTO_NONE:
		return node_drop_as(node, NO_NEXT_HEADER);
	default:
		return tell(node, mbuf, NO_SUCH_PROTOCOL, ICMP6_PARAM_PROB,
			ICMP6_PARAMPROB_NEXTHEADER, headers->at);
	}
}

static rte_edge_t classify_one(struct rte_node *node, struct rte_mbuf *mbuf)
{
	uint8_t *ip = packet_l3(mbuf);
	const uint8_t *destination = ip6_destination(ip);
	struct ip6_headers headers;

	/* The same link-local address may be somebody else's on another link. */
	if (ip6_is_link_local(destination) &&
		!interface6_owns(&interfaces[mbuf->port], destination))
		return node_drop_as(node, OTHER_LINK);
	switch (ip6_headers_receive(ip, packet_l3_bytes(mbuf), &headers)) {
	case IP6_HEADERS_FINE:
		return classify_upper(node, mbuf, &headers);
	case IP6_HEADERS_TRUNCATED:
		return node_drop_as(node, TRUNCATED_HEADERS);
	case IP6_HEADERS_FRAGMENT:
		return node_drop_as(node, FRAGMENT);
	case IP6_HEADERS_OPTION_TELL_UNICAST:
		if (ip6_is_multicast(destination))
			break;
		/* fall through */
	case IP6_HEADERS_OPTION_TELL:
		return tell(node, mbuf, UNKNOWN_OPTION, ICMP6_PARAM_PROB, ICMP6_PARAMPROB_OPTION,
			headers.at);
	case IP6_HEADERS_OPTION_DISCARD:
		break;
	case IP6_HEADERS_ROUTING:
		return tell(node, mbuf, ROUTING_HEADER, ICMP6_PARAM_PROB, ICMP6_PARAMPROB_HEADER,
			headers.at);
	}
	return node_drop_as(node, UNKNOWN_OPTION);
}

VECTOR_EACH(ip6_local, classify_one, 0)
VECTOR_PROCESS(ip6_local)

static struct node_type ip6_local = {
	.name = "ip6-local",
	.process = ip6_local_process,
	.nexts = {[NEXT_DROP] = "drop",
		[NEXT_ECHO] = "icmp6-echo",
		[NEXT_ND] = "icmp6-nd-input",
		[NEXT_ERROR] = "icmp6-error"},
	.reasons = {[OTHER_LINK] = "link-local address of another interface",
		[FRAGMENT] = "fragment for the router itself",
		[TRUNCATED_HEADERS] = "malformed extension headers",
		[UNKNOWN_OPTION] = "unknown option",
		[ROUTING_HEADER] = "routing header",
		[TRUNCATED_ICMP] = "shorter than an icmp6 header",
		[BAD_CHECKSUM] = "bad icmp6 checksum",
		[OTHER_ICMP] = "icmp6 message that asks for no answer",
		[NO_NEXT_HEADER] = "no next header",
		[NO_SUCH_PORT] = "no such port",
		[NO_SUCH_PROTOCOL] = "no such protocol"},
	/* Router solicitations too: this router advertises nothing. */
	.consumed = 1u << OTHER_ICMP | 1u << NO_NEXT_HEADER,
};
NODE_REGISTER(ip6_local)
