/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv6 forwarding table: DIR-24-8 carried on, one word for each /24, then 256 words for
 * each further 8 bits where longer prefixes are. Where these are few, as in most /32s of the
 * Internet, they lie in one cache line instead, which is searched as a whole. Addresses are 16
 * bytes in network order; a next hop is an adjacency's index and never 0.
 *
 * Readers take no lock. Each word is changed in one store, from one right answer to the other;
 * words and lines that are not needed any more are used again when no reader can hold them
 * (rcu.h).
 */
#ifndef LINERATE_FIB6_H
#define LINERATE_FIB6_H

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_common.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A word: the next hop in the lower 22 bits and the length of its prefix above them; or with
 * the highest bit set the number of the group that goes on; or with the next the number of the
 * line. */
#define FIB6_GROUP 0x80000000u
#define FIB6_LINE 0x40000000u
#define FIB6_LINE_NUMBER 0x0fffffffu
/* Above it, how many bits of the address led to the line: 24, 32 or 40, as 0, 1 or 2. */
#define FIB6_LINE_DEPTH_SHIFT 28
#define FIB6_LENGTH_SHIFT 22
#define FIB6_NEXT_HOP ((1u << FIB6_LENGTH_SHIFT) - 1)
#define FIB6_GROUP_WORDS 256u
#define FIB6_FIRST_BITS 24

/*
 * Up to 7 prefixes, the longest first, then the route that holds them all. An entry's key is
 * the 32 bits of the address that follow those that led to the line; its word has the next hop
 * and in place of a length how many of the key's bits, from the last on, are not compared: the
 * route that holds the others compares none, and all entries from the last prefix on are it.
 */
#define FIB6_LINE_PREFIXES 7u
#define FIB6_LINE_BITS 32u
struct fib6_line {
	uint32_t keys[FIB6_LINE_PREFIXES + 1];
	uint32_t words[FIB6_LINE_PREFIXES + 1];
} __rte_cache_aligned;

struct fib6 {
	uint32_t *first;  /* by the address's upper 24 bits */
	uint32_t *groups; /* by the group's number and 8 bits of the address */
	struct fib6_line *lines;
};

extern struct fib6 fib6;

/* Empty, with room for `routes` prefixes; what has no route gets `default_next_hop`. Returns 0
 * or -errno after saying why. */
int fib6_create(unsigned routes, uint32_t default_next_hop);
/* One writer at a time; readers need not wait. Bits of `prefix` beyond the length are 0. Each
 * returns 0 or -errno: -ENOENT no such prefix, -ENOSPC full, -EINVAL. */
int fib6_add(const uint8_t *prefix, uint8_t length, uint32_t next_hop);
int fib6_delete(const uint8_t *prefix, uint8_t length);
/* Whether exactly this prefix is there, and its next hop. */
bool fib6_find(const uint8_t *prefix, uint8_t length, uint32_t *next_hop);
/* Number in use. */
unsigned fib6_group_count(void);
unsigned fib6_line_count(void);

/* The ways to look up, which all find the same; the best comes last. `addresses` points to
 * each address, with no alignment. */
typedef void (*fib6_lookup_t)(const uint8_t *const *addresses, uint32_t *next_hops, unsigned count);
struct fib6_lookup_way {
	const char *name;
	fib6_lookup_t lookup;
	bool (*present)(void); /* does this machine have it? */
};
extern const struct fib6_lookup_way fib6_lookup_ways[];
extern const unsigned nb_fib6_lookup_ways;
/* The one chosen by fib6_create(). */
extern fib6_lookup_t fib6_lookup;

/* Number of address bits that led to the line's word. */
static inline unsigned fib6_line_depth(uint32_t line_word)
{
	return FIB6_FIRST_BITS + 8 * (line_word >> FIB6_LINE_DEPTH_SHIFT & 3);
}

/* The 32 bits of the address from that depth on; 0 stands for those beyond 64. */
static inline uint32_t fib6_line_bits(const uint8_t *address, unsigned depth)
{
	uint64_t upper;

	memcpy(&upper, address, sizeof(upper));
	return (uint32_t)(rte_be_to_cpu_64(upper) << depth >> 32);
}

static inline bool fib6_entry_matches(uint32_t differ, uint32_t not_compared)
{
	return not_compared >= FIB6_LINE_BITS || differ >> not_compared == 0;
}

/* The word of the longest prefix that matches. */
static inline uint32_t fib6_line_match(const uint8_t *address, uint32_t line_word)
{
	const struct fib6_line *line = &fib6.lines[line_word & FIB6_LINE_NUMBER];
	uint32_t bits = fib6_line_bits(address, fib6_line_depth(line_word));
	unsigned i = 0;

	while (!fib6_entry_matches(line->keys[i] ^ bits, line->words[i] >> FIB6_LENGTH_SHIFT))
		i++;
	return line->words[i];
}

/* The next hop that an address leads to, from a word on that its first `bytes` bytes led to. */
static inline uint32_t fib6_descend(const uint8_t *address, uint32_t word, unsigned bytes)
{
	while (word & FIB6_GROUP)
		word = __atomic_load_n(
			&fib6.groups[(uint64_t)(word & ~FIB6_GROUP) * FIB6_GROUP_WORDS +
				     address[bytes++]],
			__ATOMIC_ACQUIRE);
	if (word & FIB6_LINE)
		word = fib6_line_match(address, word);
	return word & FIB6_NEXT_HOP;
}

static inline uint32_t fib6_first_word(const uint8_t *address)
{
	uint32_t index = (uint32_t)address[0] << 16 | (uint32_t)address[1] << 8 | address[2];

	return __atomic_load_n(&fib6.first[index], __ATOMIC_ACQUIRE);
}

static inline uint32_t fib6_lookup_one(const uint8_t *address)
{
	return fib6_descend(address, fib6_first_word(address), FIB6_FIRST_BITS / 8);
}

#endif
