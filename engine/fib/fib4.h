/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv4 forwarding table: DIR-24-8 (Gupta, Lin, McKeown, "Routing Lookups in Hardware at
 * Memory Access Speeds", 1998). One word for each /24, and 256 words for each /24 that holds
 * longer prefixes. Addresses are in host order; a next hop is an adjacency's index.
 *
 * Readers take no lock. Each word is changed in one store, from one right answer to the other;
 * 256 words that are not needed any more are used again when no reader can hold them (rcu.h).
 * See docs/routes.md.
 */
#ifndef LINERATE_FIB4_H
#define LINERATE_FIB4_H

#include <stdbool.h>
#include <stdint.h>

/* A word: the next hop, or the group's number, in the lower 24 bits; the length of the prefix
 * that it comes from above them. */
#define FIB4_VALUE 0x00ffffffu
#define FIB4_GROUP 0x80000000u
#define FIB4_GROUP_WORDS 256u
#define FIB4_NEXT_HOPS (FIB4_VALUE + 1)

struct fib4 {
	uint32_t *first;  /* by the address's upper 24 bits */
	uint32_t *groups; /* by the group's number and the address's lower 8 bits */
};

extern struct fib4 fib4;

/* Empty, with room for `routes` prefixes, more if need be; what has no route gets
 * `default_next_hop`. Returns 0 or -errno after saying why. */
int fib4_create(unsigned routes, uint32_t default_next_hop);
/* One writer at a time; readers need not wait. No bit of `prefix` beyond the length is set.
 * Each returns 0 or -errno: -ENOENT no such prefix, -ENOSPC no group left, -ENOMEM. */
int fib4_add(uint32_t prefix, uint8_t length, uint32_t next_hop);
int fib4_delete(uint32_t prefix, uint8_t length);
/* Whether exactly this prefix is there, and its next hop. */
bool fib4_find(uint32_t prefix, uint8_t length, uint32_t *next_hop);
/* Number of prefixes, and of /24s that hold longer ones. */
unsigned fib4_count(void);
unsigned fib4_group_count(void);

/* The ways to look up, which all find the same; the best comes last. */
struct fib4_lookup_way {
	const char *name;
	void (*lookup)(const uint32_t *addresses, uint32_t *next_hops, unsigned count);
	bool (*present)(void); /* does this machine have it? */
};
#define FIB4_LOOKUP_WAYS 3
extern const struct fib4_lookup_way fib4_lookup_ways[FIB4_LOOKUP_WAYS];
/* The one chosen by fib4_create(). */
extern void (*fib4_lookup)(const uint32_t *addresses, uint32_t *next_hops, unsigned count);

/* The word that the address leads to. */
static inline uint32_t fib4_word(uint32_t address)
{
	uint32_t word = __atomic_load_n(&fib4.first[address >> 8], __ATOMIC_ACQUIRE);

	if (word & FIB4_GROUP)
		word = __atomic_load_n(
			&fib4.groups[(uint64_t)(word & FIB4_VALUE) * FIB4_GROUP_WORDS +
				     (address & 255)],
			__ATOMIC_RELAXED);
	return word;
}

static inline uint32_t fib4_lookup_one(uint32_t address)
{
	return fib4_word(address) & FIB4_VALUE;
}

/* The length of the prefix that the word comes from; 0 also when it comes from none. */
static inline uint8_t fib4_word_length(uint32_t word)
{
	return (uint8_t)(word >> 24 & 63);
}

#endif
