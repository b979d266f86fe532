/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mark that a tester's frame carries at the end of its payload: 8 bytes in network
 * order, magic 16, stream 16, sequence number 32. It starts at an even offset, so that
 * it adds to the transport checksum as four whole words. At the end of the frame it
 * survives whatever a router does to the headers.
 */
#ifndef LINERATE_SIGNATURE_H
#define LINERATE_SIGNATURE_H

#include <rte_byteorder.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SIGNATURE_BYTES 8
#define SIGNATURE_MAGIC 0x4c52

/* Where it stands in a frame of `length` bytes (without FCS). */
static inline unsigned signature_offset(unsigned length)
{
	return (length - SIGNATURE_BYTES) & ~1u;
}

static inline uint64_t signature_word(uint16_t stream, uint32_t sequence)
{
	return (uint64_t)SIGNATURE_MAGIC << 48 | (uint64_t)stream << 32 | sequence;
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
	return word >> 48 == SIGNATURE_MAGIC;
}

/*
 * The signature of a foreign frame of `length` bytes, or 0: at its end, or, because a router
 * that takes labels off leaves a frame that the wire pads, at the end of its IPv4 packet.
 */
uint64_t signature_find(const uint8_t *frame, unsigned length);

#endif
