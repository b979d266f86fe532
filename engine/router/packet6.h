/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv6 header as bytes, and ICMPv6's checksum. */
#ifndef LINERATE_PACKET6_H
#define LINERATE_PACKET6_H

#include "core/ip_address.h"
#include "packet.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>

#define IP6_HEADER_BYTES 40
#define IP6_AT_PAYLOAD_BYTES 4
#define IP6_AT_NEXT_HEADER 6
#define IP6_AT_HOP_LIMIT 7
#define IP6_AT_SOURCE 8
#define IP6_AT_DESTINATION 24

/* RFC 4861: neighbours' messages have this hop limit, so none can come from beyond the link. */
#define ND_HOP_LIMIT 255
#define ICMP6_AT_CHECKSUM 2

/* Neighbour messages (RFC 4861 4.3, 4.4), from the ICMPv6 header on. */
#define ND_AT_FLAGS 4
#define ND_AT_TARGET 8
#define ND_AT_OPTIONS 24
/* With one option, a MAC address. */
#define ND_OPTION_BYTES 8
#define ND_MESSAGE_BYTES (ND_AT_OPTIONS + ND_OPTION_BYTES)

#define ND_FLAG_ROUTER 0x80
#define ND_FLAG_SOLICITED 0x40
#define ND_FLAG_OVERRIDE 0x20

static inline uint8_t *ip6_source(uint8_t *ip)
{
	return ip + IP6_AT_SOURCE;
}

static inline uint8_t *ip6_destination(uint8_t *ip)
{
	return ip + IP6_AT_DESTINATION;
}

static inline uint16_t ip6_payload_bytes(const uint8_t *ip)
{
	return (uint16_t)(ip[IP6_AT_PAYLOAD_BYTES] << 8 | ip[IP6_AT_PAYLOAD_BYTES + 1]);
}

/* Version 6, no traffic class, no flow label. */
static inline void ip6_fill(uint8_t *ip, uint8_t next_header, uint16_t payload_bytes,
	uint8_t hop_limit, const uint8_t *source, const uint8_t *destination)
{
	memset(ip, 0, IP6_AT_SOURCE);
	ip[0] = 0x60;
	ip[IP6_AT_PAYLOAD_BYTES] = (uint8_t)(payload_bytes >> 8);
	ip[IP6_AT_PAYLOAD_BYTES + 1] = (uint8_t)payload_bytes;
	ip[IP6_AT_NEXT_HEADER] = next_header;
	ip[IP6_AT_HOP_LIMIT] = hop_limit;
	memmove(ip6_source(ip), source, IP6_BYTES);
	memmove(ip6_destination(ip), destination, IP6_BYTES);
}

/* RFC 4291 appendix A: the MAC address with ff:fe in its middle and one bit turned. */
static inline void ip6_set_link_local(const struct rte_ether_addr *mac, uint8_t *address)
{
	memset(address, 0, IP6_BYTES);
	address[0] = 0xfe;
	address[1] = 0x80;
	memcpy(address + 8, mac->addr_bytes, 3);
	address[8] ^= 2;
	address[11] = 0xff;
	address[12] = 0xfe;
	memcpy(address + 13, mac->addr_bytes + 3, 3);
}

/* The sum of RFC 4443 2.3, pseudo-header included: 0xffff when the message's checksum is right. */
static inline uint16_t icmp6_sum(const uint8_t *ip, const uint8_t *icmp, uint16_t bytes)
{
	uint32_t sum = rte_raw_cksum(ip + IP6_AT_SOURCE, 2 * (size_t)IP6_BYTES);

	sum += rte_raw_cksum(icmp, bytes);
	sum += rte_cpu_to_be_16(bytes) + (uint32_t)RTE_BE16(IPPROTO_ICMPV6);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

static inline void icmp6_set_checksum(const uint8_t *ip, uint8_t *icmp, uint16_t bytes)
{
	uint16_t sum = 0;

	memcpy(icmp + ICMP6_AT_CHECKSUM, &sum, sizeof(sum));
	sum = (uint16_t)~icmp6_sum(ip, icmp, bytes);
	memcpy(icmp + ICMP6_AT_CHECKSUM, &sum, sizeof(sum));
}

/* The address in the option of that type; false when the options are malformed. */
static inline bool nd_read_options(
	const uint8_t *option, const uint8_t *end, uint8_t type, const struct rte_ether_addr **mac)
{
	*mac = NULL;
	while (option < end) {
		if (end - option < 8 || option[1] == 0 || 8 * (ptrdiff_t)option[1] > end - option)
			return false;
		if (option[0] == type && *mac == NULL)
			*mac = (const struct rte_ether_addr *)(option + 2);
		option += (size_t)8 * option[1];
	}
	return true;
}

/* From ip6-local to who answers: where the upper layer starts, counted from the IPv6 header. */
static inline void packet_set_upper(struct rte_mbuf *mbuf, uint16_t offset)
{
	mbuf->hash.fdir.hi = offset;
}

static inline uint16_t packet_upper(const struct rte_mbuf *mbuf)
{
	return (uint16_t)mbuf->hash.fdir.hi;
}

#endif
