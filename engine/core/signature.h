/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mark that a tester's frame carries at the end of its payload: 8 bytes in network order,
 * a number of 48 bits times 65,535: an AN code (D. T. Brown, "Error detecting and correcting
 * binary codes for arithmetic operations", 1960). Of the number's bits 2 are a mark, 16 are
 * the stream, 30 the low bits of the sequence number.
 *
 * - A damaged one is found: a flip of one bit never makes another multiple, and of random
 *   words one in 65,535 is one. A single flip is even undone, so that the frame is known to be a
 *   damaged one of ours and not a foreign one.
 * - It starts at an even offset and its four words sum to 0 in ones' complement, whatever the
 *   number: frames of one stream have one transport checksum.
 * - At the end of the frame it survives whatever a router does to the headers.
 *
 * A latency stream's frame has, before it, 6 bytes more: its time of transmission, 32 bits in units
 * of STAMP_CLOCKS TSC cycles, and 16 bits that make the sum of the three words 0 in ones'
 * complement. So a frame is stamped, and stamped again, after its checksums were written, and they
 * stay right. A 64-byte frame with one MPLS label, IPv4 and UDP has just room for it.
 */
#ifndef LINERATE_SIGNATURE_H
#define LINERATE_SIGNATURE_H

#include <rte_byteorder.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SIGNATURE_BYTES 8
/* Words of frames that follow each other differ by this. */
#define SIGNATURE_FACTOR 65535ull
/* Its inverse modulo 2^64: (2^16 - 1) * (2^48 + 2^32 + 2^16 + 1) = 2^64 - 1. */
#define SIGNATURE_INVERSE (-0x0001000100010001ull)
/* The two highest bits of the number. */
#define SIGNATURE_MARK 2u
#define SIGNATURE_STREAMS 65536u
/* Number of sequence numbers: then they begin anew. */
#define SIGNATURE_NUMBERS (1u << 30)

struct signature {
	uint16_t stream;
	uint32_t sequence; /* less than SIGNATURE_NUMBERS */
};

#define STAMP_BYTES 6
/* A stamp is that fine, and comes again after 2^32 times as long: 13 s at 2.5 GHz. */
#define STAMP_CLOCKS 8

/* Where it stands in a frame of `length` bytes (without FCS). */
static inline unsigned signature_offset(unsigned length)
{
	return (length - SIGNATURE_BYTES) & ~1u;
}

static inline uint64_t signature_word(uint16_t stream, uint32_t sequence)
{
	uint64_t number = (uint64_t)SIGNATURE_MARK << 46 | (uint64_t)stream << 30 |
			  sequence % SIGNATURE_NUMBERS;

	return number * SIGNATURE_FACTOR;
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

/* Decodes the word; false: it is no signature, or damaged. */
static inline bool signature_decode(uint64_t word, struct signature *signature)
{
	uint64_t number = word * SIGNATURE_INVERSE;

	signature->sequence = (uint32_t)number % SIGNATURE_NUMBERS;
	signature->stream = (uint16_t)(number >> 30);
	/* A number of less than 48 bits times the factor does not overflow: it is the quotient. */
	return number >> 46 == SIGNATURE_MARK;
}

/* The newest number before `end` that a signature with these low bits can mean. */
static inline uint32_t signature_number(uint32_t sequence, uint32_t end)
{
	return end - 1 - (end - 1 - sequence) % SIGNATURE_NUMBERS;
}

static inline bool signature_is(uint64_t word)
{
	return word * SIGNATURE_INVERSE >> 46 == SIGNATURE_MARK;
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

/* Calls `is_sent` with each signature that differs from `word` in one bit until it says true;
 * false: there is none. */
bool signature_repair(uint64_t word, bool (*is_sent)(const struct signature *signature),
	struct signature *signature);

#endif
