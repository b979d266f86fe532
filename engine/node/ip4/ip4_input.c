/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-input: the checks of RFC 1812 5.2.2 (length, checksum, version, header length, total
 * length), and takes Ethernet's padding off. The TTL is looked at where it goes down: a
 * packet for the router itself is delivered whatever it is.
 */
#include "core/vector.h"
#include "router/packet.h"

#include <netinet/ip_icmp.h>

enum next {
	NEXT_DROP,
	NEXT_LOOKUP,
	NEXT_ERROR,
};

enum reason {
	TRUNCATED,
	BAD_VERSION,
	BAD_HEADER_LENGTH,
	BAD_CHECKSUM,
	BAD_TOTAL_LENGTH,
	BEYOND_FRAME,
	BAD_OPTIONS,
	SOURCE_ROUTE,
};

#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_LOOSE_SOURCE_ROUTE 131
#define OPTION_STRICT_SOURCE_ROUTE 137

/* RFC 1812 4.3.3.5: the error names the wrong byte of the sender's header. */
static rte_edge_t bad_option(struct rte_node *node, struct rte_mbuf *mbuf, const uint8_t *option)
{
	node_state(node)->drops[BAD_OPTIONS]++;
	packet_set_error(mbuf, ICMP_PARAMPROB, 0, (uint16_t)(option - packet_l3(mbuf)));
	return NEXT_ERROR;
}

/* Options are forwarded as they are; those that would let the sender choose the way are not. */
static rte_edge_t check_options(struct rte_node *node, struct rte_mbuf *mbuf, const uint8_t *end)
{
	const uint8_t *option = packet_l3(mbuf) + IP4_HEADER_BYTES;

	while (option < end && *option != OPTION_END) {
		if (*option == OPTION_LOOSE_SOURCE_ROUTE || *option == OPTION_STRICT_SOURCE_ROUTE)
			return node_drop_as(node, SOURCE_ROUTE);
		if (*option == OPTION_NOP) {
			option++;
			continue;
		}
		if (end - option < 2 || option[1] < 2 || option[1] > end - option)
			return bad_option(node, mbuf, option);
		option += option[1];
	}
	return NEXT_LOOKUP;
}

static __rte_noinline rte_edge_t classify_other(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct rte_ipv4_hdr *ip = packet_ip4(mbuf);
	uint16_t bytes = packet_l3_bytes(mbuf), header, total;

	if (bytes < IP4_HEADER_BYTES)
		return node_drop_as(node, TRUNCATED);
	if (ip->version_ihl >> 4 != 4)
		return node_drop_as(node, BAD_VERSION);
	header = rte_ipv4_hdr_len(ip);
	if (header < IP4_HEADER_BYTES || header > bytes)
		return node_drop_as(node, BAD_HEADER_LENGTH);
	if (rte_raw_cksum(ip, header) != 0xffff)
		return node_drop_as(node, BAD_CHECKSUM);
	total = rte_be_to_cpu_16(ip->total_length);
	if (total < header)
		return node_drop_as(node, BAD_TOTAL_LENGTH);
	if (total > bytes)
		return node_drop_as(node, BEYOND_FRAME);
	packet_set_l3_bytes(mbuf, total);
	return check_options(node, mbuf, (const uint8_t *)ip + header);
}

static __rte_always_inline rte_edge_t classify_one(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct rte_ipv4_hdr *ip = packet_ip4(mbuf);
	uint16_t total = rte_be_to_cpu_16(ip->total_length);

	if (likely(mbuf->data_len >= RTE_ETHER_HDR_LEN + IP4_HEADER_BYTES &&
		    ip->version_ihl == IP4_PLAIN_VERSION_IHL &&
		    total + RTE_ETHER_HDR_LEN == mbuf->data_len &&
		    ip4_plain_checksum_ok((const uint8_t *)ip)))
		return NEXT_LOOKUP;
	return classify_other(node, mbuf);
}

VECTOR_EACH(ip4_input, classify_one, VECTOR_AHEAD)
VECTOR_PROCESS(ip4_input)

static struct node_type ip4_input = {
	.name = "ip4-input",
	.process = ip4_input_process,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_LOOKUP] = "ip4-lookup", [NEXT_ERROR] = "icmp4-error"},
	.reasons = {[TRUNCATED] = "shorter than an ip4 header",
		[BAD_VERSION] = "version is not 4",
		[BAD_HEADER_LENGTH] = "bad header length",
		[BAD_CHECKSUM] = "bad checksum",
		[BAD_TOTAL_LENGTH] = "total length below header length",
		[BEYOND_FRAME] = "total length beyond the frame",
		[BAD_OPTIONS] = "malformed options",
		[SOURCE_ROUTE] = "source route option"},
};
NODE_REGISTER(ip4_input)
