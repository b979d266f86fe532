/* SPDX-License-Identifier: BSD-3-Clause */
#include "connection_frame.h"

#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>

#define VLAN_TAGS_MAX 2
#define IP4_BYTES 20
#define IP6_BYTES 40
#define UDP_BYTES 8
#define TCP_BYTES 20

static uint16_t read16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* Sum of the other words as implied by a checksum, without those that become zero: RFC 1624. */
static uint16_t brought_along(const uint8_t *checksum, uint64_t changed)
{
	uint16_t word;

	memcpy(&word, checksum, sizeof(word));
	return inet_checksum_fold(
		(uint64_t)(uint16_t)~word + (uint16_t)~inet_checksum_fold(changed));
}

/* Fields of a network header that the checksums beneath need. */
struct header {
	uint8_t *addresses;
	unsigned address_bytes; /* of both */
	unsigned bytes;         /* with options or extension headers */
	unsigned total;         /* of the packet, as it says */
	uint8_t protocol;
	bool first; /* no fragment, or the first */
	bool whole; /* no fragment */
};

static const char *find_ip(struct connection_packet *packet, const uint8_t *frame, unsigned length)
{
	unsigned offset = 12;

	for (unsigned tags = 0; offset + 2 <= length; offset += 4, tags++) {
		uint16_t type = read16(frame + offset);

		if (type == RTE_ETHER_TYPE_IPV4 || type == RTE_ETHER_TYPE_IPV6) {
			packet->ip6 = type == RTE_ETHER_TYPE_IPV6;
			packet->l3_offset = (uint16_t)(offset + 2);
			return NULL;
		}
		if (tags == VLAN_TAGS_MAX ||
			(type != RTE_ETHER_TYPE_VLAN && type != RTE_ETHER_TYPE_QINQ))
			break;
	}
	return "expected an Ethernet frame of IPv4 or IPv6";
}

static const char *read_ip4(struct header *header, uint8_t *ip, unsigned room)
{
	unsigned fragment;

	if (room < IP4_BYTES || ip[0] >> 4 != 4 || (ip[0] & 15) < 5)
		return "expected a whole IPv4 header";
	fragment = read16(ip + 6);
	*header = (struct header){
		.addresses = ip + 12,
		.address_bytes = 8,
		.bytes = (ip[0] & 15) * 4u,
		.total = read16(ip + 2),
		.protocol = ip[9],
		.first = (fragment & 0x1fff) == 0,
		.whole = (fragment & 0x3fff) == 0,
	};
	return room < header->bytes || header->total < header->bytes
		       ? "expected a whole IPv4 header"
		       : NULL;
}

/* Whether the header is between IPv6 and the transport and leaves its checksum as it is. */
static bool is_passed(uint8_t protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_DSTOPTS;
}

static const char *read_ip6(struct header *header, uint8_t *ip, unsigned room)
{
	if (room < IP6_BYTES || ip[0] >> 4 != 6)
		return "expected a whole IPv6 header";
	*header = (struct header){
		.addresses = ip + 8,
		.address_bytes = 32,
		.bytes = IP6_BYTES,
		.total = IP6_BYTES + read16(ip + 4),
		.protocol = ip[6],
		.first = true,
		.whole = true,
	};
	while (is_passed(header->protocol) && header->bytes + 8 <= room) {
		header->protocol = ip[header->bytes];
		header->bytes += (ip[header->bytes + 1] + 1u) * 8;
	}
	if (header->protocol != IPPROTO_UDP && header->protocol != IPPROTO_TCP)
		return "expected UDP or TCP over IPv6";
	return room < header->bytes || header->total < header->bytes ? "expected whole IPv6 headers"
								     : NULL;
}

/* IPv4 addresses, and what is replaced of IPv6 ones, become zero. */
static void clear_addresses(const struct connection_packet *packet, const struct header *header,
	const struct connection_prefixes *prefixes)
{
	memset(header->addresses, 0, header->address_bytes);
	if (!packet->ip6)
		return;
	memcpy(header->addresses, prefixes->of[packet->side], sizeof(prefixes->of[0]));
	memcpy(header->addresses + 16, prefixes->of[!packet->side], sizeof(prefixes->of[0]));
}

/* The transport header and its checksum. */
static void read_l4(struct connection_packet *packet, uint8_t *frame, const struct header *header,
	unsigned room, const struct connection_prefixes *prefixes)
{
	uint8_t *l4 = frame + packet->l3_offset + header->bytes, *checksum;
	unsigned bytes = RTE_MIN(room, header->total) - header->bytes;
	unsigned port_at = packet->side == SIDE_CLIENT ? 0 : 2;
	uint64_t changed = rte_raw_cksum(header->addresses, header->address_bytes), kept;

	clear_addresses(packet, header, prefixes);
	packet->udp = header->protocol == IPPROTO_UDP;
	if (bytes < (packet->udp ? UDP_BYTES : TCP_BYTES))
		return;
	packet->l4_offset = (uint16_t)(l4 - frame);
	changed += rte_raw_cksum(l4 + port_at, 2);
	memset(l4 + port_at, 0, 2);
	kept = rte_raw_cksum(header->addresses, header->address_bytes);
	checksum = l4 + (packet->udp ? 6 : 16);
	if (packet->udp && !packet->ip6 && read16(checksum) == 0)
		return;
	packet->l4_checksum_offset = (uint16_t)(checksum - frame);
	if (!header->whole || header->total > room) {
		packet->l4_sum = inet_checksum_fold(brought_along(checksum, changed) + kept);
		return;
	}
	memset(checksum, 0, 2);
	packet->l4_sum = inet_checksum_fold(rte_raw_cksum(l4, bytes) + kept +
					    rte_cpu_to_be_16(header->protocol) +
					    rte_cpu_to_be_16((uint16_t)bytes));
}

const char *connection_frame_read(struct connection_packet *packet, uint8_t *frame, unsigned length,
	const struct connection_prefixes *prefixes)
{
	const char *mistake = find_ip(packet, frame, length);
	uint8_t *ip = frame + packet->l3_offset;
	unsigned room = length - packet->l3_offset;
	struct header header;

	if (mistake == NULL)
		mistake = packet->ip6 ? read_ip6(&header, ip, room) : read_ip4(&header, ip, room);
	if (mistake != NULL)
		return mistake;
	if ((header.protocol == IPPROTO_UDP || header.protocol == IPPROTO_TCP) && header.first)
		read_l4(packet, frame, &header, room, prefixes);
	else
		clear_addresses(packet, &header, prefixes);
	if (!packet->ip6) {
		memset(ip + 10, 0, 2);
		packet->l3_sum = inet_checksum_fold(rte_raw_cksum(ip, header.bytes));
	}
	packet->length = (uint16_t)length;
	if (length < CONNECTION_FRAME_MIN) {
		memset(frame + length, 0, CONNECTION_FRAME_MIN - length);
		packet->length = CONNECTION_FRAME_MIN;
	}
	return NULL;
}
