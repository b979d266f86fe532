/* SPDX-License-Identifier: BSD-3-Clause */
/* Which path has which bucket of a load balance. */
#ifndef LINERATE_LOAD_BALANCE_FILL_H
#define LINERATE_LOAD_BALANCE_FILL_H

#include "load_balance.h"

/*
 * Deals the buckets out again: they belong to `before`'s paths and shall belong to `paths`',
 * those that are up, or all when none is. ADJACENCY_NONE is nobody's bucket. A path is due its
 * share by weight; see load_balance.h for the law.
 */
void load_balance_fill(uint32_t buckets[LOAD_BALANCE_BUCKETS],
	const struct load_balance_paths *before, const struct load_balance_paths *paths);

#endif
