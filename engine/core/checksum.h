/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksums of one frame, computed anew, in plain C: IPv4, and UDP and TCP above both IPs. */
#ifndef LINERATE_CHECKSUM_H
#define LINERATE_CHECKSUM_H

#include <netinet/in.h>
#include <rte_branch_prediction.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>
#include <string.h>

#define CSUM_VLANS_MAX 2
#define CSUM_FRAGMENT_MASK RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)

/*
 * Sums 16-bit words in memory order, 32 bits at a time; csum_fold() makes 16 bits of it. The old
 * checksum is subtracted from the sum as it lay in its 32 bits: writing a 0 over it first would
 * make the loads wait for the store.
 */
static __rte_always_inline uint64_t csum_sum(const uint8_t *bytes, unsigned count)
{
	uint64_t total = 0;
	uint32_t word;
	uint16_t half;
	unsigned i = 0;

	for (; i + sizeof(word) <= count; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		total += word;
	}
	if ((count & 2) != 0) {
		memcpy(&half, bytes + i, sizeof(half));
		total += half;
		i += sizeof(half);
	}
	/* An odd byte is the first of a word whose second is 0. */
	if ((count & 1) != 0)
		total += RTE_BE16((uint16_t)(bytes[i] << 8));
	return total;
}

static __rte_always_inline uint16_t csum_fold(uint64_t total)
{
	total = (total >> 32) + (total & 0xffffffff);
	total = (total >> 16) + (total & 0xffff);
	total = (total >> 16) + (total & 0xffff);
	total = (total >> 16) + (total & 0xffff);
	return (uint16_t)~total;
}

/* `pseudo`: of the addresses; `count` bytes of upper layer, all of them in the frame. */
static __rte_always_inline void csum_fill_upper(
	uint8_t *upper, unsigned count, uint8_t protocol, uint64_t pseudo)
{
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)upper;
	struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)upper;

	pseudo += RTE_BE16(protocol);
	pseudo += rte_cpu_to_be_16((uint16_t)count);
	if (likely(protocol == IPPROTO_UDP)) {
		if (count < sizeof(*udp) || udp->dgram_cksum == 0)
			return;
		pseudo -= (uint64_t)udp->dgram_cksum << 16;
		udp->dgram_cksum = csum_fold(pseudo + csum_sum(upper, count));
		/* RFC 768: a sum of 0 is sent as all ones, 0 means none. */
		if (unlikely(udp->dgram_cksum == 0))
			udp->dgram_cksum = UINT16_MAX;
	} else if (protocol == IPPROTO_TCP && count >= sizeof(*tcp)) {
		pseudo -= tcp->cksum;
		tcp->cksum = csum_fold(pseudo + csum_sum(upper, count));
	}
}

static __rte_always_inline void csum_fill_ip4(uint8_t *l3, unsigned room)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)l3;
	unsigned header, total;

	if (unlikely(room < sizeof(*ip) || ip->version_ihl >> 4 != 4))
		return;
	header = rte_ipv4_hdr_len(ip);
	if (unlikely(header < sizeof(*ip) || header > room))
		return;
	ip->hdr_checksum = csum_fold(csum_sum(l3, header) - ((uint64_t)ip->hdr_checksum << 16));
	total = rte_be_to_cpu_16(ip->total_length);
	if (unlikely(total < header || total > room ||
		     (ip->fragment_offset & CSUM_FRAGMENT_MASK) != 0))
		return;
	csum_fill_upper(l3 + header, total - header, ip->next_proto_id,
		(uint64_t)ip->src_addr + ip->dst_addr);
}

static inline void csum_fill_ip6(uint8_t *l3, unsigned room)
{
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)l3;
	unsigned payload;

	if (room < sizeof(*ip) || l3[0] >> 4 != 6)
		return;
	payload = rte_be_to_cpu_16(ip->payload_len);
	if (payload > room - sizeof(*ip))
		return;
	csum_fill_upper(l3 + sizeof(*ip), payload, ip->proto,
		csum_sum(
			l3 + offsetof(struct rte_ipv6_hdr, src_addr), 2 * sizeof(struct in6_addr)));
}

/* Steps over VLAN tags; the frame holds a whole Ethernet header. */
static inline void csum_fill_other(uint8_t *frame, unsigned length)
{
	unsigned offset = RTE_ETHER_HDR_LEN;
	uint16_t type;

	memcpy(&type, frame + offset - sizeof(type), sizeof(type));
	for (unsigned tags = 0; tags < CSUM_VLANS_MAX; tags++) {
		if (type != RTE_BE16(RTE_ETHER_TYPE_VLAN) && type != RTE_BE16(RTE_ETHER_TYPE_QINQ))
			break;
		offset += sizeof(struct rte_vlan_hdr);
		if (offset > length)
			return;
		memcpy(&type, frame + offset - sizeof(type), sizeof(type));
	}
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		csum_fill_ip4(frame + offset, length - offset);
	else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		csum_fill_ip6(frame + offset, length - offset);
}

/* `length` is at least that of an Ethernet header. */
static __rte_always_inline void csum_frame(uint8_t *frame, unsigned length)
{
	if (likely(((struct rte_ether_hdr *)frame)->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4)))
		csum_fill_ip4(frame + RTE_ETHER_HDR_LEN, length - RTE_ETHER_HDR_LEN);
	else
		csum_fill_other(frame, length);
}

#endif
