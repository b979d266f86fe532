/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * icmp4-error: tells a packet's sender why it was dropped. The node that sends a packet here
 * has counted its loss; the message made in its buffer counts as originated. A message that
 * must not be sent (RFC 1812 4.3.2.7) or is over the rate (4.3.2.8) counts as originated too
 * and is dropped here, under that reason.
 */
#include "core/vector.h"
#include "core/worker.h"
#include "fib/fib4.h"
#include "node/error_bucket.h"
#include "router/packet.h"
#include "router/routes.h"

#include <netinet/in.h>
#include <netinet/ip_icmp.h>

enum next {
	NEXT_DROP,
	NEXT_LOOKUP,
};

enum reason {
	RATE_LIMITED,
	ABOUT_ICMP_ERROR,
	ABOUT_FRAGMENT,
	ABOUT_GROUP,
	SOURCE_NOT_UNICAST,
	SOURCE_IS_ROUTER,
	NO_ADDRESS,
	NO_HEADROOM,
	REASON_NONE,
};

#define ICMP_HEADER_BYTES 8
/* The whole message is at most this long. */
#define MESSAGE_BYTES_MAX 576
#define MESSAGE_HEAD_BYTES (IP4_HEADER_BYTES + ICMP_HEADER_BYTES)
/* RFC 1812 4.3.2.5: precedence "internetwork control", and of the packet's own the TOS bits,
 * but not those two that are ECN's now. */
#define MESSAGE_PRECEDENCE 0xc0
#define MESSAGE_TOS_MASK 0x1c

struct errors4 {
	struct error_bucket bucket;
	uint16_t packet_id;
};

static bool is_icmp_error(const struct rte_mbuf *mbuf)
{
	const struct rte_ipv4_hdr *ip = packet_ip4(mbuf);
	uint16_t header = rte_ipv4_hdr_len(ip);

	if (ip->next_proto_id != IPPROTO_ICMP)
		return false;
	/* A packet too short for its type may be an error. */
	if (packet_l3_bytes(mbuf) <= header)
		return true;
	switch (packet_l3(mbuf)[header]) {
	case ICMP_UNREACH:
	case ICMP_SOURCEQUENCH:
	case ICMP_REDIRECT:
	case ICMP_TIMXCEED:
	case ICMP_PARAMPROB:
		return true;
	default:
		return false;
	}
}

/* Why no message may be sent about the packet, or REASON_NONE. */
static enum reason forbidden(const struct rte_mbuf *mbuf)
{
	const struct rte_ipv4_hdr *ip = packet_ip4(mbuf);
	uint32_t sender = fib4_lookup_one(rte_be_to_cpu_32(ip->src_addr));
	uint32_t destination = fib4_lookup_one(rte_be_to_cpu_32(ip->dst_addr));

	if (ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK))
		return ABOUT_FRAGMENT;
	if (is_icmp_error(mbuf))
		return ABOUT_ICMP_ERROR;
	/* Prefixes that the fib drops are those that are not a host's own address. */
	if (adjacencies[destination].kind == ADJACENCY_DROP)
		return ABOUT_GROUP;
	if (adjacencies[sender].kind == ADJACENCY_DROP)
		return SOURCE_NOT_UNICAST;
	if (adjacencies[sender].kind == ADJACENCY_LOCAL)
		return SOURCE_IS_ROUTER;
	return REASON_NONE;
}

/* RFC 1812 4.3.2.4: an address of the interface that the message goes out of. Which one that
 * is, is not known when the sender's network is not: then of the one that the packet came by. */
static uint32_t message_source(const struct rte_mbuf *mbuf, uint32_t sender)
{
	const struct adjacency *way = &adjacencies[fib4_lookup_one(sender)];
	uint8_t kind = adjacency_kind(way);
	bool known = kind == ADJACENCY_REWRITE || kind == ADJACENCY_ARP;

	return interface_source(&interfaces[known ? way->interface : mbuf->port], sender);
}

static void fill_ip4(struct rte_ipv4_hdr *ip, uint16_t bytes, uint16_t id, uint32_t source,
	const struct rte_ipv4_hdr *quoted)
{
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = IP4_PLAIN_VERSION_IHL,
		.type_of_service =
			MESSAGE_PRECEDENCE | (quoted->type_of_service & MESSAGE_TOS_MASK),
		.total_length = rte_cpu_to_be_16(bytes),
		.packet_id = rte_cpu_to_be_16(id),
		.time_to_live = ROUTER_TTL,
		.next_proto_id = IPPROTO_ICMP,
		.src_addr = rte_cpu_to_be_32(source),
		.dst_addr = quoted->src_addr,
	};
	ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, sizeof(*ip));
}

/* Puts the message's headers before the packet, which it quotes as far as there is room. */
static enum reason make_message(struct rte_mbuf *mbuf, struct errors4 *own)
{
	const struct rte_ipv4_hdr *quoted = packet_ip4(mbuf);
	uint8_t type = packet_error_type(mbuf), code = packet_error_code(mbuf);
	uint16_t detail = packet_error_detail(mbuf);
	uint32_t source = message_source(mbuf, rte_be_to_cpu_32(quoted->src_addr));
	uint16_t bytes = RTE_MIN(packet_l3_bytes(mbuf) + MESSAGE_HEAD_BYTES, MESSAGE_BYTES_MAX);
	uint8_t *icmp;
	uint16_t sum;

	if (source == 0)
		return NO_ADDRESS;
	if (rte_pktmbuf_prepend(mbuf, MESSAGE_HEAD_BYTES) == NULL)
		return NO_HEADROOM;
	packet_set_l3_bytes(mbuf, bytes);
	icmp = packet_l3(mbuf) + IP4_HEADER_BYTES;
	memset(icmp, 0, ICMP_HEADER_BYTES);
	icmp[0] = type;
	icmp[1] = code;
	if (type == ICMP_PARAMPROB) {
		icmp[4] = (uint8_t)detail;
	} else {
		icmp[6] = (uint8_t)(detail >> 8);
		icmp[7] = (uint8_t)detail;
	}
	sum = (uint16_t)~rte_raw_cksum(icmp, bytes - IP4_HEADER_BYTES);
	memcpy(icmp + 2, &sum, sizeof(sum));
	fill_ip4(packet_ip4(mbuf), bytes, own->packet_id++, source, quoted);
	return REASON_NONE;
}

static rte_edge_t tell(struct rte_node *node, struct rte_mbuf *mbuf)
{
	struct errors4 *own = node_private(node);
	enum reason reason = forbidden(mbuf);

	node_state(node)->originated++;
	if (reason == REASON_NONE && !error_bucket_take(&own->bucket))
		reason = RATE_LIMITED;
	if (reason == REASON_NONE)
		reason = make_message(mbuf, own);
	return reason == REASON_NONE ? NEXT_LOOKUP : node_drop_as(node, reason);
}

VECTOR_EACH(icmp4_error, tell, 0)
VECTOR_PROCESS(icmp4_error)

static struct node_type icmp4_error = {
	.name = "icmp4-error",
	.process = icmp4_error_process,
	.init = error_bucket_init,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_LOOKUP] = "ip4-lookup"},
	.reasons = {[RATE_LIMITED] = "rate limited",
		[ABOUT_ICMP_ERROR] = "about an icmp error",
		[ABOUT_FRAGMENT] = "about a fragment that is not the first",
		[ABOUT_GROUP] = "about a broadcast or multicast",
		[SOURCE_NOT_UNICAST] = "source is no unicast address",
		[SOURCE_IS_ROUTER] = "source is the router itself",
		[NO_ADDRESS] = "interface has no address",
		[NO_HEADROOM] = "no headroom in the buffer"},
	.private_bytes = sizeof(struct errors4),
};
NODE_REGISTER(icmp4_error)
