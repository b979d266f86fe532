/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive side scaling: Toeplitz hash over the IP 4-tuple, as the cards' datasheets and
 * Microsoft's "RSS hashing types" describe it; hash modulo queues stands for the
 * redirection table filled round robin.
 */
#include "card.h"

#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <string.h>

#define TUPLE_BYTES_MAX 36 /* IPv6 addresses and ports */
#define LABELS_MAX 16

/* The key of Microsoft's verification suite, and the 0x6d5a key of "Scalable TCP Session
 * Monitoring with Symmetric Receive-side Scaling" (Woo, Park; 2012). */
static const uint8_t microsoft_key[40] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41,
	0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
	0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01,
	0xfa};

/* table[symmetric][byte position][byte value]: one look-up a byte instead of eight bit steps. */
static uint32_t table[2][TUPLE_BYTES_MAX][256];

static void table_fill(uint32_t rows[TUPLE_BYTES_MAX][256], const uint8_t key[40])
{
	for (unsigned position = 0; position < TUPLE_BYTES_MAX; position++) {
		uint64_t window = 0; /* 40 bits of key from this byte on */

		for (unsigned i = 0; i < 5; i++)
			window = window << 8 | key[position + i];
		for (unsigned value = 0; value < 256; value++) {
			uint32_t hash = 0;

			for (unsigned bit = 0; bit < 8; bit++)
				if (value & (0x80u >> bit))
					hash ^= (uint32_t)(window >> (8 - bit));
			rows[position][value] = hash;
		}
	}
}

void card_rss_init(void)
{
	uint8_t symmetric_key[40];

	for (unsigned i = 0; i < sizeof(symmetric_key); i++)
		symmetric_key[i] = i % 2 == 0 ? 0x6d : 0x5a;
	table_fill(table[0], microsoft_key);
	table_fill(table[1], symmetric_key);
}

static uint32_t toeplitz(bool symmetric, const uint8_t *tuple, unsigned bytes)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < bytes; i++)
		hash ^= table[symmetric][i][tuple[i]];
	return hash;
}

static bool has_ports(uint8_t protocol)
{
	return protocol == IPPROTO_UDP || protocol == IPPROTO_TCP || protocol == IPPROTO_SCTP;
}

static unsigned tuple_of_ip4(const uint8_t *ip, unsigned bytes, uint8_t *tuple)
{
	unsigned header;

	if (bytes < sizeof(struct rte_ipv4_hdr) || ip[0] >> 4 != 4)
		return 0;
	header = (ip[0] & 0xf) * 4u;
	memcpy(tuple, ip + 12, 8);
	/* Any fragment is hashed over addresses only, so that all of them meet. */
	if (((ip[6] & 0x3f) | ip[7]) != 0 || !has_ports(ip[9]) || bytes < header + 4 || header < 20)
		return 8;
	memcpy(tuple + 8, ip + header, 4);
	return 12;
}

static unsigned tuple_of_ip6(const uint8_t *ip, unsigned bytes, uint8_t *tuple)
{
	if (bytes < sizeof(struct rte_ipv6_hdr) || ip[0] >> 4 != 6)
		return 0;
	memcpy(tuple, ip + 8, 32);
	if (!has_ports(ip[6]) || bytes < 44)
		return 32;
	memcpy(tuple + 32, ip + 40, 4);
	return 36;
}

/* Offset of the network header, its kind in *type; 0 when the frame is cut short. */
static unsigned network_header(const uint8_t *frame, unsigned bytes, uint16_t *type)
{
	unsigned offset = 12;

	do {
		if (offset + 2 > bytes)
			return 0;
		*type = (uint16_t)(frame[offset] << 8 | frame[offset + 1]);
		offset += *type == RTE_ETHER_TYPE_VLAN || *type == RTE_ETHER_TYPE_QINQ ? 4 : 2;
	} while (*type == RTE_ETHER_TYPE_VLAN || *type == RTE_ETHER_TYPE_QINQ);
	return offset < bytes ? offset : 0;
}

/* Skips the label stack. What is below it tells its kind by the first nibble only. */
static unsigned below_labels(const uint8_t *frame, unsigned bytes, unsigned offset, uint16_t *type)
{
	for (unsigned labels = 0; labels < LABELS_MAX && offset + 4 < bytes; labels++) {
		bool bottom = frame[offset + 2] & 1;

		offset += 4;
		if (bottom) {
			*type = frame[offset] >> 4 == 6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4;
			return offset;
		}
	}
	return 0;
}

uint32_t card_rss_hash(const struct card *card, const uint8_t *frame, unsigned bytes, bool *hashed)
{
	uint8_t tuple[TUPLE_BYTES_MAX];
	unsigned offset, length = 0;
	uint16_t type = 0;

	*hashed = false;
	offset = network_header(frame, bytes, &type);
	if (offset != 0 && type == RTE_ETHER_TYPE_MPLS)
		offset = card->rss_mpls_inner ? below_labels(frame, bytes, offset, &type) : 0;
	if (offset == 0)
		return 0;
	if (type == RTE_ETHER_TYPE_IPV4)
		length = tuple_of_ip4(frame + offset, bytes - offset, tuple);
	else if (type == RTE_ETHER_TYPE_IPV6)
		length = tuple_of_ip6(frame + offset, bytes - offset, tuple);
	if (length == 0)
		return 0;
	*hashed = true;
	return toeplitz(card->rss_symmetric, tuple, length);
}

uint16_t card_rss_queue(const struct card *card, const void *frame, unsigned bytes, uint32_t *hash)
{
	bool hashed;

	*hash = card_rss_hash(card, frame, bytes, &hashed);
	return hashed ? (uint16_t)(*hash % card->nb_queues) : 0;
}
