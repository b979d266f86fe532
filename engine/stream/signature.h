/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mark that a tester's frame carries at the end of its payload: 8 bytes in network
 * order, magic 16, stream 16, sequence number 32. It starts at an even offset, so that
 * it adds to the transport checksum as four whole words. At the end of the frame it
 * survives whatever a router does to the headers.
 *
 * A latency stream's has a magic of its own and, before it, 6 bytes more: when the frame was
 * sent, 32 bits in units of STAMP_CLOCKS TSC clocks, and 16 bits that make the sum of the three
 * words 0 in ones' complement. So a frame is stamped, and stamped again, after its checksums
 * were written, and they stay right. A 64-byte frame with one MPLS label, IPv4 and UDP has just
 * room for it.
 */
#ifndef LINERATE_SIGNATURE_H
#define LINERATE_SIGNATURE_H

#include <rte_byteorder.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SIGNATURE_BYTES 8
#define SIGNATURE_MAGIC 0x4c52
/* Of a frame that carries a stamp: differs in the lowest bit. */
#define SIGNATURE_MAGIC_STAMPED 0x4c53

#define STAMP_BYTES 6
/* A stamp is that fine, and comes again after 2^32 times as long: 13 s at 2.5 GHz. */
#define STAMP_CLOCKS 8

/* Where it stands in a frame of `length` bytes (without FCS). */
static inline unsigned signature_offset(unsigned length)
{
	return (length - SIGNATURE_BYTES) & ~1u;
}

static inline uint64_t signature_word(uint16_t magic, uint16_t stream, uint32_t sequence)
{
	return (uint64_t)magic << 48 | (uint64_t)stream << 32 | sequence;
}

static inline void signature_write(void *at, uint64_t word)
{
	uint64_t big = rte_cpu_to_be_64(word);

	memcpy(at, &big, sizeof(big));
}

static inline uint64_t signature_read(const void *at)
{
	uint64_t big;

	memcpy(&big, at, sizeof(big));
	return rte_be_to_cpu_64(big);
}

static inline bool signature_is(uint64_t word)
{
	return (word >> 48 | 1) == SIGNATURE_MAGIC_STAMPED;
}

static inline bool signature_is_stamped(uint64_t word)
{
	return word >> 48 == SIGNATURE_MAGIC_STAMPED;
}

/* Writes the stamp of the frame whose signature stands at `at`; `clock` is the TSC. */
static inline void stamp_write(uint8_t *at, uint64_t clock)
{
	uint32_t stamp = (uint32_t)(clock / STAMP_CLOCKS);
	uint32_t sum = (stamp & 0xffff) + (stamp >> 16);
	uint16_t balance = (uint16_t) ~((sum & 0xffff) + (sum >> 16));

	stamp = rte_cpu_to_be_32(stamp);
	balance = rte_cpu_to_be_16(balance);
	memcpy(at - STAMP_BYTES, &stamp, sizeof(stamp));
	memcpy(at - STAMP_BYTES + sizeof(stamp), &balance, sizeof(balance));
}

/*
 * Clocks from the stamp of the frame whose signature stands at `at` to `clock`: too many by less
 * than STAMP_CLOCKS, never too few. Returns false when the stamp is damaged.
 */
static inline bool stamp_read(const uint8_t *at, uint64_t clock, uint64_t *clocks)
{
	uint32_t stamp, sum;
	uint16_t balance;

	memcpy(&stamp, at - STAMP_BYTES, sizeof(stamp));
	memcpy(&balance, at - STAMP_BYTES + sizeof(stamp), sizeof(balance));
	stamp = rte_be_to_cpu_32(stamp);
	sum = (stamp & 0xffff) + (stamp >> 16) + rte_be_to_cpu_16(balance);
	*clocks = (uint64_t)((uint32_t)(clock / STAMP_CLOCKS) - stamp) * STAMP_CLOCKS +
		  clock % STAMP_CLOCKS;
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

/*
 * Where the signature of a foreign frame of `length` bytes stands, or NULL: at its end, or,
 * because a router that takes labels off leaves a frame that the wire pads, at the end of its
 * IPv4 packet.
 */
const uint8_t *signature_place(const uint8_t *frame, unsigned length);
/* That signature, or 0. */
uint64_t signature_find(const uint8_t *frame, unsigned length);

#endif
