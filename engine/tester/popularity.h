/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws ranks by Zipf's law: rank r (from 0) comes with a share in proportion to 1 / (r + 1)^s.
 *
 * An alias table (Walker 1977, Vose 1991) over groups of ranks: the first POPULARITY_SINGLES are a
 * group each, behind them a group is a 128th as wide as its first rank is far. A group's share is
 * exact; the ranks in it are drawn alike, which gives each 0.4 % × s too much or too little at
 * most. So ten million ranks are 24 KiB, and no draw leaves the cache.
 */
#ifndef LINERATE_POPULARITY_H
#define LINERATE_POPULARITY_H

#include <stdint.h>

#define POPULARITY_BITS 11
#define POPULARITY_GROUPS (1u << POPULARITY_BITS)
#define POPULARITY_SINGLES 512
#define POPULARITY_WIDTH 128

struct popularity_group {
	uint32_t first; /* rank */
	uint32_t width; /* 0: of a group that never comes */
};

struct popularity {
	/* Each place's other group, in the low POPULARITY_BITS, and above them the threshold:
	 * what is left of a random number then is as wide, and at and above it the other is meant.
	 */
	uint32_t draws[POPULARITY_GROUPS];
	struct popularity_group groups[POPULARITY_GROUPS];
};

/* For ranks below `count`, from 1 on, and exponent s from 0 on. */
void popularity_create(struct popularity *popularity, uint32_t count, double s);

/* The group that a random number means. */
static inline uint32_t popularity_group(const struct popularity *popularity, uint32_t random)
{
	uint32_t index = random >> (32 - POPULARITY_BITS), draw = popularity->draws[index];
	uint32_t other = draw % POPULARITY_GROUPS;

	/* Without a branch: it would be guessed wrong too often. */
	return random << POPULARITY_BITS >= draw - other ? other : index;
}

/* The rank in a group that another random number means. */
static inline uint32_t popularity_rank(struct popularity_group group, uint32_t random)
{
	return group.first + (uint32_t)(((uint64_t)random * group.width) >> 32);
}

#endif
