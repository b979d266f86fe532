/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several paths to one destination: a table of buckets, each with the adjacency of one path.
 * A flow's hash chooses the bucket. The hash is resilient: when a path goes, only its buckets
 * are given to others; when one comes, it takes as many as it is due and no other bucket moves.
 *
 * A load balance is an adjacency of kind ADJACENCY_LOAD_BALANCE. What it is for, IPv4, IPv6 or
 * a label, only its paths' adjacencies know. Routes with the same paths share one. All changes
 * are made under router_lock; the fast path reads the buckets without a lock, one word each.
 */
#ifndef LINERATE_LOAD_BALANCE_H
#define LINERATE_LOAD_BALANCE_H

#include "adjacency.h"
#include "load_balance_fill.h"

#include <stdbool.h>
#include <stdint.h>

#define LOAD_BALANCES_MAX 4096u
#define LOAD_BALANCE_WEIGHT_MAX 255u
#define LOAD_BALANCE_BUCKET_SHIFT (32 - 8)

/* The path's adjacency for a flow's hash. */
static __rte_always_inline uint32_t load_balance_choose(
	const struct adjacency *adjacency, uint32_t hash)
{
	return __atomic_load_n(
		&adjacency->buckets[hash >> LOAD_BALANCE_BUCKET_SHIFT], __ATOMIC_RELAXED);
}

/* Needs LOAD_BALANCES_MAX adjacencies. Returns 0 or -ENOMEM. */
int load_balances_create(void);

/* The paths that a route's adjacency stands for; none when it is a drop or the like. */
void load_balance_paths_of(uint32_t adjacency, struct load_balance_paths *paths);
/* Adds a path, or sets the weight of one that is there. Returns 0 or -ENOSPC. */
int load_balance_paths_add(struct load_balance_paths *paths, uint32_t adjacency, uint16_t weight);
/* The adjacency for these paths, one at least, and a reference to it. Flows stay on the path
 * that they had with `before`, what the route led to until now, as far as can be.
 * ADJACENCY_NONE when there are too many. */
uint32_t load_balance_get(const struct load_balance_paths *paths, uint32_t before);
/* Gives a reference back, when nothing leads there any more; any adjacency may be given. */
void load_balance_release(uint32_t adjacency);
/* Interfaces have gone up or down: their paths come and go. */
void load_balances_refresh(void);
/* Number in use. */
unsigned load_balances_count(void);

#endif
