/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of addresses, to ask which addresses they hold: sorted, none touches another. */
#ifndef LINERATE_CONNECTION_RANGES_H
#define LINERATE_CONNECTION_RANGES_H

#include "connection_pool.h"

#include <rte_branch_prediction.h>

struct connection_ranges {
	struct connection_range first; /* of those merged: most have no other */
	unsigned count;
	struct connection_range *ranges;
};

/* Sorts them and makes one of those that touch or overlap; without any they hold nothing. */
void connection_ranges_merge(struct connection_ranges *ranges);

static inline bool connection_range_holds(struct connection_range range, uint32_t address)
{
	return address - range.min <= range.max - range.min;
}

/* When they were merged. */
static inline bool connection_ranges_hold(const struct connection_ranges *ranges, uint32_t address)
{
	const struct connection_range *range = ranges->ranges;

	if (likely(connection_range_holds(ranges->first, address)))
		return ranges->count != 0;
	/* The last one that begins at the address or before it, if any does. */
	for (unsigned count = ranges->count; count > 1; count -= count / 2)
		if (range[count / 2].min <= address)
			range += count / 2;
	return ranges->count > 1 && connection_range_holds(*range, address);
}

#endif
