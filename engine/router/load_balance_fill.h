/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths and buckets of a load balance, and the assignment of buckets to paths. */
#ifndef LINERATE_LOAD_BALANCE_FILL_H
#define LINERATE_LOAD_BALANCE_FILL_H

#include <stdbool.h>
#include <stdint.h>

#define LOAD_BALANCE_PATHS_MAX 64u
#define LOAD_BALANCE_BUCKETS 256u

struct load_balance_path {
	uint32_t adjacency;
	uint16_t weight; /* from 1 on */
	bool up;         /* its interface is; filled in here */
};

struct load_balance_paths {
	unsigned count;
	struct load_balance_path paths[LOAD_BALANCE_PATHS_MAX];
};

/*
 * Assigns the buckets again: they belong to `before`'s paths and shall belong to `paths`', those
 * that are up, or all when none is. ADJACENCY_NONE marks a free bucket. A path gets its share by
 * weight; see load_balance.h for the rules.
 */
void load_balance_fill(uint32_t buckets[LOAD_BALANCE_BUCKETS],
	const struct load_balance_paths *before, const struct load_balance_paths *paths);

#endif
