/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metadata of a packet between the router's nodes, and the arithmetic of its headers. The data
 * always starts with 14 bytes of Ethernet header; mbuf->port is the index of the interface where
 * the packet came in until a rewrite node makes it that where it goes out.
 */
#ifndef LINERATE_PACKET_H
#define LINERATE_PACKET_H

#include <rte_arp.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define IP4_HEADER_BYTES 20
#define IP4_PLAIN_VERSION_IHL 0x45
#define MPLS_LABEL_BYTES 4
/* TTL of the router's own packets; ip4-rewrite takes one off. */
#define ROUTER_TTL (64 + 1)

/* The lookup's result, an adjacency, travels in a word of the mbuf's first cache line. */
static inline uint32_t packet_adjacency(const struct rte_mbuf *mbuf)
{
	return mbuf->hash.fdir.hi;
}

static inline void packet_set_adjacency(struct rte_mbuf *mbuf, uint32_t adjacency)
{
	mbuf->hash.fdir.hi = adjacency;
}

/* On its way to icmp4-error the same word says what to tell the sender; `detail` is the MTU
 * that was exceeded, or the place in the header that is wrong. */
static inline void packet_set_error(
	struct rte_mbuf *mbuf, uint8_t type, uint8_t code, uint16_t detail)
{
	mbuf->hash.fdir.hi = (uint32_t)type << 24 | (uint32_t)code << 16 | detail;
}

static inline uint8_t packet_error_type(const struct rte_mbuf *mbuf)
{
	return (uint8_t)(mbuf->hash.fdir.hi >> 24);
}

static inline uint8_t packet_error_code(const struct rte_mbuf *mbuf)
{
	return (uint8_t)(mbuf->hash.fdir.hi >> 16);
}

static inline uint16_t packet_error_detail(const struct rte_mbuf *mbuf)
{
	return (uint16_t)mbuf->hash.fdir.hi;
}

/* The header after the Ethernet header. */
static inline uint8_t *packet_l3(const struct rte_mbuf *mbuf)
{
	return rte_pktmbuf_mtod_offset(mbuf, uint8_t *, RTE_ETHER_HDR_LEN);
}

static inline struct rte_ipv4_hdr *packet_ip4(const struct rte_mbuf *mbuf)
{
	return (struct rte_ipv4_hdr *)packet_l3(mbuf);
}

static inline uint16_t packet_l3_bytes(const struct rte_mbuf *mbuf)
{
	return mbuf->data_len - RTE_ETHER_HDR_LEN;
}

static inline void packet_set_l3_bytes(struct rte_mbuf *mbuf, uint16_t bytes)
{
	mbuf->data_len = bytes + RTE_ETHER_HDR_LEN;
	mbuf->pkt_len = mbuf->data_len;
}

/* The Internet checksum of a header without options is right. */
static __rte_always_inline bool ip4_plain_checksum_ok(const uint8_t *ip)
{
	uint64_t first, second, sum;
	uint32_t third;
	bool carry;

	memcpy(&first, ip, sizeof(first));
	memcpy(&second, ip + 8, sizeof(second));
	memcpy(&third, ip + 16, sizeof(third));
	/* 2^16 and 2^64 are 1 modulo 65535, so this has the remainder of the sum of its words. */
	carry = __builtin_add_overflow(first, second, &sum);
	carry = __builtin_add_overflow(sum, (uint64_t)third + carry, &sum);
	sum += carry;
	/* The sum must be 0 modulo 65535. For an odd divisor d, x is a multiple of d exactly when
	 * x times d's inverse modulo 2^64 is at most (2^64 - 1) / d: Granlund and Montgomery,
	 * "Division by Invariant Integers using Multiplication", 9 (1994). */
	return sum * 0xfffefffefffeffffull <= UINT64_MAX / 65535;
}

/* RFC 1624 for a TTL that goes down by one. */
static __rte_always_inline void ip4_decrement_ttl(struct rte_ipv4_hdr *ip)
{
	uint32_t sum = ip->hdr_checksum + (uint32_t)RTE_BE16(0x0100);

	ip->hdr_checksum = (uint16_t)(sum + (sum >= 0xffff));
	ip->time_to_live--;
}

/* RFC 1624 for a TTL that becomes any other. */
static inline void ip4_set_ttl(struct rte_ipv4_hdr *ip, uint8_t ttl)
{
	uint16_t before, after;
	uint32_t sum;

	memcpy(&before, &ip->time_to_live, sizeof(before));
	ip->time_to_live = ttl;
	memcpy(&after, &ip->time_to_live, sizeof(after));
	sum = (uint16_t)~ip->hdr_checksum + (uint32_t)(uint16_t)~before + after;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	ip->hdr_checksum = (uint16_t)~sum;
}

/* A label stack entry in host order: label 20, traffic class 3, bottom of stack 1, TTL 8. */
#define MPLS_TTL_MASK 0xffu
#define MPLS_BOTTOM 0x100u
#define MPLS_TC_MASK 0xe00u
#define MPLS_TC_SHIFT 9
#define MPLS_LABEL_SHIFT 12

static __rte_always_inline uint32_t mpls_read(const uint8_t *l3)
{
	rte_be32_t word;

	memcpy(&word, l3, sizeof(word));
	return rte_be_to_cpu_32(word);
}

static __rte_always_inline void mpls_write(uint8_t *l3, uint32_t entry)
{
	rte_be32_t word = rte_cpu_to_be_32(entry);

	memcpy(l3, &word, sizeof(word));
}

/* Takes `bytes` off the front of what follows the Ethernet header, which moves along. */
static inline void packet_pop(struct rte_mbuf *mbuf, uint16_t bytes)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);

	memmove(frame + bytes, frame, RTE_ETHER_HDR_LEN);
	rte_pktmbuf_adj(mbuf, bytes);
}

#endif
