/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame_check.h"

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mpls.h>
#include <rte_tcp.h>
#include <rte_udp.h>
#include <string.h>

#define ETHER_TYPE_BYTES 2
/* Types of RFC 792 that quote a packet: destination unreachable, source quench, redirect, time
 * exceeded, parameter problem. */
#define ICMP4_ERRORS (1u << 3 | 1u << 4 | 1u << 5 | 1u << 11 | 1u << 12)
/* RFC 4443, 2.1: errors are below. */
#define ICMP6_INFORMATION 128

static uint16_t read16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

unsigned frame_find_ip(const uint8_t *frame, unsigned length, unsigned *version)
{
	unsigned at = 2 * RTE_ETHER_ADDR_LEN;
	uint16_t type = 0;

	for (; at + ETHER_TYPE_BYTES <= length; at += RTE_VLAN_HLEN) {
		type = read16(frame + at);
		if (type != RTE_ETHER_TYPE_VLAN && type != RTE_ETHER_TYPE_QINQ)
			break;
	}
	at += ETHER_TYPE_BYTES;
	*version = type == RTE_ETHER_TYPE_IPV4 ? 4 : type == RTE_ETHER_TYPE_IPV6 ? 6 : 0;
	if (*version != 0)
		return at;
	if (type != RTE_ETHER_TYPE_MPLS)
		return 0;
	for (; at + sizeof(struct rte_mpls_hdr) <= length; at += sizeof(struct rte_mpls_hdr))
		if (frame[at + 2] & 1)
			return at + (unsigned)sizeof(struct rte_mpls_hdr);
	return 0;
}

/* Checks the transport header and its payload, `bytes` at `l4`, with the pseudo-header's words at
 * `addresses`. */
static bool transport_holds(const uint8_t *l4, unsigned bytes, uint8_t protocol,
	const uint8_t *addresses, unsigned address_bytes)
{
	bool udp = protocol == IPPROTO_UDP;
	uint32_t sum;

	if (!udp && protocol != IPPROTO_TCP)
		return true;
	if (bytes < (udp ? sizeof(struct rte_udp_hdr) : sizeof(struct rte_tcp_hdr)))
		return false;
	if (udp && read16(l4 + 6) == 0)
		return address_bytes == 8;
	if (udp) {
		if (read16(l4 + 4) > bytes)
			return false;
		bytes = read16(l4 + 4);
	}
	sum = rte_be_to_cpu_16(rte_raw_cksum(l4, bytes));
	sum += rte_be_to_cpu_16(rte_raw_cksum(addresses, address_bytes));
	sum += protocol + bytes;
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

static bool ip4_holds(const uint8_t *ip, unsigned room)
{
	unsigned header, total;

	if (room < sizeof(struct rte_ipv4_hdr))
		return false;
	header = (ip[0] & 15u) * RTE_IPV4_IHL_MULTIPLIER;
	total = read16(ip + 2);
	if (header < sizeof(struct rte_ipv4_hdr) || header > total || total > room ||
		rte_raw_cksum(ip, header) != 0xffff)
		return false;
	if (read16(ip + 6) & (RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK))
		return true;
	return transport_holds(ip + header, total - header, ip[9], ip + 12, 8);
}

static bool ip6_holds(const uint8_t *ip, unsigned room)
{
	unsigned bytes;

	if (room < sizeof(struct rte_ipv6_hdr))
		return false;
	bytes = read16(ip + 4);
	if (sizeof(struct rte_ipv6_hdr) + bytes > room)
		return false;
	return transport_holds(ip + sizeof(struct rte_ipv6_hdr), bytes, ip[6], ip + 8, 32);
}

bool frame_checksums_hold(const uint8_t *frame, unsigned length)
{
	unsigned version, at = frame_find_ip(frame, length, &version);

	if (at == 0 || at >= length)
		return at == 0;
	if (version != 0 && frame[at] >> 4 != version)
		return false;
	switch (frame[at] >> 4) {
	case 4:
		return ip4_holds(frame + at, length - at);
	case 6:
		return ip6_holds(frame + at, length - at);
	default:
		return false;
	}
}

bool frame_is_icmp_error(const uint8_t *frame, unsigned length)
{
	unsigned version, at = frame_find_ip(frame, length, &version);
	const uint8_t *ip = frame + at;
	unsigned header, type;

	if (at == 0 || at + sizeof(struct rte_ipv6_hdr) > length)
		return false;
	if (ip[0] >> 4 == 6)
		return ip[6] == IPPROTO_ICMPV6 && at + sizeof(struct rte_ipv6_hdr) < length &&
		       ip[sizeof(struct rte_ipv6_hdr)] < ICMP6_INFORMATION;
	header = (ip[0] & 15u) * RTE_IPV4_IHL_MULTIPLIER;
	if (ip[0] >> 4 != 4 || ip[9] != IPPROTO_ICMP || at + header >= length)
		return false;
	type = ip[header];
	return type < 32 && (ICMP4_ERRORS >> type & 1) != 0;
}
