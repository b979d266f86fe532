/* SPDX-License-Identifier: BSD-3-Clause */
/* The key of the packets that most are, without a jump between fields. */
#ifndef LINERATE_FLOW_PLAIN_H
#define LINERATE_FLOW_PLAIN_H

#include "flow_place.h"

#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_ether.h>

/* Where the fields of plain IPv4 in plain Ethernet are. */
#define FLOW_PLAIN_TYPE 12
#define FLOW_PLAIN_L3 14
#define FLOW_PLAIN_TOTAL 16
#define FLOW_PLAIN_FRAGMENT 20
#define FLOW_PLAIN_PROTOCOL 23
#define FLOW_PLAIN_ADDRESSES 26
#define FLOW_PLAIN_PORTS 34
#define FLOW_PLAIN_TCP_FLAGS 47
#define FLOW_PLAIN_BYTE 0x45

static __rte_always_inline uint16_t flow_read16(const uint8_t *at)
{
	uint16_t word;

	memcpy(&word, at, sizeof(word));
	return rte_be_to_cpu_16(word);
}

static __rte_always_inline uint32_t flow_read32(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return rte_be_to_cpu_32(word);
}

static __rte_always_inline uint64_t flow_read64(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return rte_be_to_cpu_64(word);
}

/*
 * UDP or TCP in IPv4 without options, tags, labels or fragments; all else is flow_key_parse()'s,
 * which says the same of these too. Returns false then. Reads 48 bytes of the buffer.
 */
static __rte_always_inline bool flow_plain_parse(const uint8_t *frame, uint32_t bytes,
	struct flow_words *words, struct flow_addition *addition)
{
	uint8_t protocol = frame[FLOW_PLAIN_PROTOCOL];
	bool tcp = protocol == IPPROTO_TCP;
	uint32_t total = flow_read16(frame + FLOW_PLAIN_TOTAL);
	uint64_t addresses = flow_read64(frame + FLOW_PLAIN_ADDRESSES);
	uint32_t ports = flow_read32(frame + FLOW_PLAIN_PORTS);
	unsigned reversed;

	if (unlikely((flow_read32(frame + FLOW_PLAIN_TYPE) & 0xffffff00) !=
			     ((uint32_t)RTE_ETHER_TYPE_IPV4 << 16 | FLOW_PLAIN_BYTE << 8) ||
		     (flow_read16(frame + FLOW_PLAIN_FRAGMENT) & 0x3fff) != 0 ||
		     (!tcp && protocol != IPPROTO_UDP) || total + FLOW_PLAIN_L3 > bytes ||
		     total < (tcp ? 40u : 28u)))
		return false;
	reversed = (addresses >> 32 << 16 | ports >> 16) >
		   ((addresses & UINT32_MAX) << 16 | (ports & UINT16_MAX));
	/* The lower half is the lower endpoint's. */
	words->first = reversed ? addresses : addresses >> 32 | addresses << 32;
	ports = reversed ? ports : ports >> 16 | ports << 16;
	words->second = ports | (uint64_t)protocol << 32 | 4ull << 40;
	addition->bytes = bytes;
	addition->direction = (uint8_t)reversed;
	addition->tcp_flags = tcp ? frame[FLOW_PLAIN_TCP_FLAGS] : 0;
	addition->l3_offset = FLOW_PLAIN_L3;
	addition->l3_byte = FLOW_PLAIN_BYTE;
	return true;
}

#endif
