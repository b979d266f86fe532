/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One number a flow, to choose among paths with. The same flow always has the same, and its
 * upper bits are spread evenly; those are the ones to use.
 *
 * The flow is source, destination, protocol, and the ports of TCP, UDP, UDP-Lite, DCCP and SCTP.
 * Fragments, the first one too, are hashed without their ports: all fragments of a packet take one
 * path.
 */
#ifndef LINERATE_PATH_HASH_H
#define LINERATE_PATH_HASH_H

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_hash_crc.h>
#include <rte_ip.h>
#include <stdint.h>
#include <string.h>

#define FLOW_HASH_SEED 0x6c696e65u
#define FLOW_HASH_IP6_BYTES 40

/* CRC32C of 8 more bytes. */
static __rte_always_inline uint32_t flow_hash_word(uint32_t hash, uint64_t word)
{
#ifdef __SSE4_2__
	return (uint32_t)__builtin_ia32_crc32di(hash, word);
#else
	return rte_hash_crc_8byte(word, hash);
#endif
}

/* A CRC is linear: flows that differ by a pattern could fall on a few of its values' low or
 * high bits. The product is not (Knuth, "Sorting and Searching", 6.4: 2^32 by the golden ratio). */
static __rte_always_inline uint32_t flow_hash_finish(uint32_t hash)
{
	return hash * 0x9e3779b1u;
}

/* The protocol's header starts with two ports. */
static __rte_always_inline bool flow_hash_has_ports(uint8_t protocol)
{
	static const uint64_t bits[4] = {
		1ull << 6 | 1ull << 17 | 1ull << 33, 0, 1ull << (132 - 128) | 1ull << (136 - 128)};

	return bits[protocol >> 6] >> (protocol & 63) & 1;
}

/* The protocol in the lower half, the ports in the upper. */
static __rte_always_inline uint64_t flow_hash_ports(
	uint8_t protocol, const uint8_t *transport, bool there)
{
	uint32_t ports;

	if (!there || !flow_hash_has_ports(protocol))
		return protocol;
	memcpy(&ports, transport, sizeof(ports));
	return (uint64_t)ports << 32 | protocol;
}

/* Hash of `bytes` bytes that start with an IPv4 header, 20 at least. */
static __rte_always_inline uint32_t flow_hash_ip4(const uint8_t *ip, uint32_t bytes)
{
	uint32_t header = (ip[0] & 15u) * 4;
	uint64_t addresses;
	uint16_t fragment;

	memcpy(&addresses, ip + offsetof(struct rte_ipv4_hdr, src_addr), sizeof(addresses));
	memcpy(&fragment, ip + offsetof(struct rte_ipv4_hdr, fragment_offset), sizeof(fragment));
	return flow_hash_finish(flow_hash_word(flow_hash_word(FLOW_HASH_SEED, addresses),
		flow_hash_ports(ip[offsetof(struct rte_ipv4_hdr, next_proto_id)], ip + header,
			(fragment & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) ==
					0 &&
				bytes >= header + 4)));
}

/*
 * Hash of `bytes` bytes that start with an IPv6 header, 40 at least. The flow label is part of it
 * (RFC 6438 3): it distinguishes flows whose ports are hidden behind extension headers.
 */
static __rte_always_inline uint32_t flow_hash_ip6(const uint8_t *ip, uint32_t bytes)
{
	uint64_t words[4];
	uint32_t label, hash = FLOW_HASH_SEED;

	memcpy(&label, ip, sizeof(label));
	memcpy(words, ip + 8, sizeof(words));
	for (unsigned i = 0; i < RTE_DIM(words); i++)
		hash = flow_hash_word(hash, words[i]);
	hash = flow_hash_word(hash, label & RTE_BE32(0xfffff));
	return flow_hash_finish(
		flow_hash_word(hash, flow_hash_ports(ip[6], ip + FLOW_HASH_IP6_BYTES,
					     bytes >= FLOW_HASH_IP6_BYTES + 4)));
}

#endif
