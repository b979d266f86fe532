/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The usual rewrite, for the nodes that do it while the header is at hand: what ip4-rewrite
 * does with a packet whose TTL and length allow it.
 */
#ifndef LINERATE_IP4_REWRITE_H
#define LINERATE_IP4_REWRITE_H

#include "node/ip_lookup.h"

#include <netinet/ip_icmp.h>

/*
 * TTL less one and the checksum with it (RFC 1624), in the word that holds both: one more in
 * the checksum's first byte, carried around. The TTL is at least 2.
 */
static __rte_always_inline uint32_t ttl_word_decremented(uint32_t word)
{
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
	return word + 0xffff + ((uint32_t)(word >= 0xfffe0000) << 16);
#else
	uint32_t sum = (word & 0xffff) + 0x0100;

	return ((word - 0x01000000) & 0xffff0000) | ((sum + (sum >= 0xffff)) & 0xffff);
#endif
}

/* The rewrite of most packets; false when this one is none of them. */
static __rte_always_inline bool rewrite_usual(const struct rte_mbuf *mbuf, uint8_t *ip,
	const struct adjacency *adjacency, uint32_t max_bytes)
{
	uint32_t word;

	memcpy(&word, ip + offsetof(struct rte_ipv4_hdr, time_to_live), sizeof(word));
	if (unlikely((ip[offsetof(struct rte_ipv4_hdr, time_to_live)] <= 1) |
		     (mbuf->data_len > max_bytes)))
		return false;
	word = ttl_word_decremented(word);
	memcpy(ip + offsetof(struct rte_ipv4_hdr, time_to_live), &word, sizeof(word));
	adjacency_rewrite(adjacency, ip - RTE_ETHER_HDR_LEN);
	return true;
}

static const struct ip_lookup ip4_family = {
	.rewrite = rewrite_usual,
	.rewrite_kind = ADJACENCY_REWRITE,
	.unreachable_kind = ADJACENCY_UNREACHABLE,
	.error_type = ICMP_UNREACH,
	.error_code = ICMP_UNREACH_NET,
};

#endif
