/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv6 forwarding table: DIR-24-8 carried on, one word for each /24, then 256 words for
 * each further 8 bits where longer prefixes are. Addresses are 16 bytes in network order; a
 * next hop is an adjacency's index and never 0.
 *
 * Readers take no lock. Each word is changed in one store, from one right answer to the other;
 * 256 words that are not needed any more are used again after a time in which no reader can
 * have held them.
 */
#ifndef LINERATE_FIB6_H
#define LINERATE_FIB6_H

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A word: the next hop in the lower 23 bits and the length of its prefix above them; or with
 * the highest bit set the number of the group that goes on. */
#define FIB6_GROUP 0x80000000u
#define FIB6_LENGTH_SHIFT 23
#define FIB6_NEXT_HOP ((1u << FIB6_LENGTH_SHIFT) - 1)
#define FIB6_GROUP_WORDS 256u
#define FIB6_FIRST_BITS 24

struct fib6 {
	uint32_t *first;  /* by the address's upper 24 bits */
	uint32_t *groups; /* by the group's number and 8 bits of the address */
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
/* How many groups are in use. */
unsigned fib6_group_count(void);

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

/* The word that an address leads to, from a word on that its first `bytes` bytes led to. */
static inline uint32_t fib6_descend(const uint8_t *address, uint32_t word, unsigned bytes)
{
	while (word & FIB6_GROUP)
		word = __atomic_load_n(
			&fib6.groups[(uint64_t)(word & ~FIB6_GROUP) * FIB6_GROUP_WORDS +
				     address[bytes++]],
			__ATOMIC_ACQUIRE);
	return word;
}

static inline uint32_t fib6_first_word(const uint8_t *address)
{
	uint32_t index = (uint32_t)address[0] << 16 | (uint32_t)address[1] << 8 | address[2];

	return __atomic_load_n(&fib6.first[index], __ATOMIC_ACQUIRE);
}

static inline uint32_t fib6_lookup_one(const uint8_t *address)
{
	return fib6_descend(address, fib6_first_word(address), FIB6_FIRST_BITS / 8) & FIB6_NEXT_HOP;
}

#endif
