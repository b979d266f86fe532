/* SPDX-License-Identifier: BSD-3-Clause */
/* Assignment of a load balance's buckets to paths. */
#ifndef LINERATE_LOAD_BALANCE_FILL_H
#define LINERATE_LOAD_BALANCE_FILL_H

#include "load_balance.h"

/*
 * Assigns the buckets again: they belong to `before`'s paths and shall belong to `paths`', those
 * that are up, or all when none is. ADJACENCY_NONE marks a free bucket. A path gets its share by
 * weight; see load_balance.h for the rules.
 */
void load_balance_fill(uint32_t buckets[LOAD_BALANCE_BUCKETS],
	const struct load_balance_paths *before, const struct load_balance_paths *paths);

#endif
