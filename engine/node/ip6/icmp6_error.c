/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * icmp6-error: tells a packet's sender why it was dropped (RFC 4443). The node that sends a
 * packet here has counted its loss; the message made in its buffer counts as originated. A
 * message that must not be sent (2.4 e) or is over the rate (2.4 f) counts as originated too
 * and is dropped here, under that reason.
 */
#include "core/vector.h"
#include "core/worker.h"
#include "fib/fib6.h"
#include "node/error_bucket.h"
#include "router/ip6_headers.h"
#include "router/packet6.h"
#include "router/routes6.h"

#include <netinet/icmp6.h>

enum next {
	NEXT_DROP,
	NEXT_LOOKUP,
	NEXT_ND,
};

enum reason {
	RATE_LIMITED,
	ABOUT_ICMP_ERROR,
	ABOUT_GROUP,
	SOURCE_NOT_UNICAST,
	SOURCE_IS_ROUTER,
	NO_ADDRESS,
	NO_HEADROOM,
	REASON_NONE,
};

#define ICMP_HEADER_BYTES 8
#define ICMP_AT_PARAMETER 4
/* The whole message fits into the smallest MTU (2.4 c). */
#define MESSAGE_BYTES_MAX 1280
#define MESSAGE_HEAD_BYTES (IP6_HEADER_BYTES + ICMP_HEADER_BYTES)

/* An error or a redirect; what is too malformed to tell may be one. */
static bool is_icmp6_error(const struct rte_mbuf *mbuf)
{
	const uint8_t *ip = packet_l3(mbuf);
	uint16_t bytes = packet_l3_bytes(mbuf);
	struct ip6_headers headers;

	if (!ip6_headers_skip(ip, bytes, &headers))
		return true;
	if (headers.next_header != IPPROTO_ICMPV6 || headers.later_fragment)
		return false;
	return headers.offset >= bytes || ip[headers.offset] < ICMP6_ECHO_REQUEST ||
	       ip[headers.offset] == ND_REDIRECT;
}

/* 2.4 e.3: the errors that may be sent about a packet to a group, since path MTU discovery needs
 * them. */
static bool is_for_groups_too(const struct rte_mbuf *mbuf)
{
	uint8_t type = packet_error_type(mbuf);

	return type == ICMP6_PACKET_TOO_BIG ||
	       (type == ICMP6_PARAM_PROB && packet_error_code(mbuf) == ICMP6_PARAMPROB_OPTION);
}

static bool is_to_group(const struct rte_mbuf *mbuf)
{
	const struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, const void *);

	return rte_is_multicast_ether_addr(&ethernet->dst_addr) ||
	       ip6_is_multicast(ip6_destination(packet_l3(mbuf)));
}

static enum reason check_source(const struct rte_mbuf *mbuf)
{
	const uint8_t *source = ip6_source(packet_l3(mbuf));
	uint8_t kind;

	if (ip6_is_link_local(source))
		return interface6_owns(&interfaces[mbuf->port], source) ? SOURCE_IS_ROUTER
									: REASON_NONE;
	/* Prefixes that the fib drops are those that are not a host's own address. */
	kind = adjacencies[fib6_lookup_one(source)].kind;
	if (kind == ADJACENCY_DROP)
		return SOURCE_NOT_UNICAST;
	return kind == ADJACENCY_LOCAL6 ? SOURCE_IS_ROUTER : REASON_NONE;
}

/* Why no message may be sent about the packet, or REASON_NONE. */
static enum reason forbidden(const struct rte_mbuf *mbuf)
{
	if (is_icmp6_error(mbuf))
		return ABOUT_ICMP_ERROR;
	if (is_to_group(mbuf) && !is_for_groups_too(mbuf))
		return ABOUT_GROUP;
	return check_source(mbuf);
}

/* 2.2: the address that the packet was for, else one of the interface that it came in on. */
static const uint8_t *source_of_message(const struct rte_mbuf *mbuf)
{
	const struct interface *interface = &interfaces[mbuf->port];
	uint8_t *ip = packet_l3(mbuf);

	if (!ip6_is_multicast(ip6_destination(ip)) && interfaces6_own(ip6_destination(ip)))
		return ip6_destination(ip);
	if (ip6_is_link_local(ip6_source(ip)))
		return interface6_of(interface)->link_local;
	return interface6_global(interface);
}

/* A packet too big has the MTU, a parameter problem where it is; others have 0. */
static void fill_icmp6(uint8_t *icmp, const struct rte_mbuf *mbuf)
{
	rte_be32_t parameter = rte_cpu_to_be_32(packet_error_detail(mbuf));

	icmp[0] = packet_error_type(mbuf);
	icmp[1] = packet_error_code(mbuf);
	memcpy(icmp + ICMP_AT_PARAMETER, &parameter, sizeof(parameter));
}

/* Puts the message's headers before the packet, which it quotes as far as there is room. */
static enum reason make_message(struct rte_mbuf *mbuf)
{
	uint8_t *quoted = packet_l3(mbuf), *ip, source[IP6_BYTES], destination[IP6_BYTES];
	uint16_t bytes = RTE_MIN(packet_l3_bytes(mbuf) + MESSAGE_HEAD_BYTES, MESSAGE_BYTES_MAX);
	const uint8_t *own = source_of_message(mbuf);

	if (own == NULL)
		return NO_ADDRESS;
	memcpy(source, own, IP6_BYTES);
	memcpy(destination, ip6_source(quoted), IP6_BYTES);
	if (rte_pktmbuf_prepend(mbuf, MESSAGE_HEAD_BYTES) == NULL)
		return NO_HEADROOM;
	packet_set_l3_bytes(mbuf, bytes);
	ip = packet_l3(mbuf);
	ip6_fill(ip, IPPROTO_ICMPV6, bytes - IP6_HEADER_BYTES, ROUTER_TTL, source, destination);
	fill_icmp6(ip + IP6_HEADER_BYTES, mbuf);
	icmp6_set_checksum(ip, ip + IP6_HEADER_BYTES, bytes - IP6_HEADER_BYTES);
	return REASON_NONE;
}

static rte_edge_t edge_of_message(struct rte_mbuf *mbuf)
{
	if (!ip6_is_link_local(ip6_destination(packet_l3(mbuf))))
		return NEXT_LOOKUP;
	packet_set_adjacency(mbuf, interface6_of(&interfaces[mbuf->port])->glean);
	return NEXT_ND;
}

static rte_edge_t tell(struct rte_node *node, struct rte_mbuf *mbuf)
{
	enum reason reason = forbidden(mbuf);

	node_state(node)->originated++;
	if (reason == REASON_NONE && !error_bucket_take(node_private(node)))
		reason = RATE_LIMITED;
	if (reason == REASON_NONE)
		reason = make_message(mbuf);
	return reason == REASON_NONE ? edge_of_message(mbuf) : node_drop_as(node, reason);
}

VECTOR_EACH(icmp6_error, tell, 0)
VECTOR_PROCESS(icmp6_error)

static struct node_type icmp6_error = {
	.name = "icmp6-error",
	.process = icmp6_error_process,
	.init = error_bucket_init,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_LOOKUP] = "ip6-lookup", [NEXT_ND] = "ip6-nd"},
	.reasons = {[RATE_LIMITED] = "rate limited",
		[ABOUT_ICMP_ERROR] = "about an icmp6 error",
		[ABOUT_GROUP] = "about a multicast",
		[SOURCE_NOT_UNICAST] = "source is no unicast address",
		[SOURCE_IS_ROUTER] = "source is the router itself",
		[NO_ADDRESS] = "interface has no address",
		[NO_HEADROOM] = "no headroom in the buffer"},
	.private_bytes = sizeof(struct error_bucket),
};
NODE_REGISTER(icmp6_error)
