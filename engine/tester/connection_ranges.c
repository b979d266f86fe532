/* SPDX-License-Identifier: BSD-3-Clause */
#include "connection_ranges.h"

#include <rte_common.h>
#include <stdlib.h>

static int by_min(const void *left, const void *right)
{
	uint32_t a = ((const struct connection_range *)left)->min;
	uint32_t b = ((const struct connection_range *)right)->min;

	return (a > b) - (a < b);
}

void connection_ranges_merge(struct connection_ranges *ranges)
{
	struct connection_range *last = ranges->ranges;

	if (ranges->count == 0)
		return;
	qsort(ranges->ranges, ranges->count, sizeof(*ranges->ranges), by_min);
	for (unsigned i = 1; i < ranges->count; i++) {
		struct connection_range range = ranges->ranges[i];

		if (range.min <= last->max || range.min == last->max + 1)
			last->max = RTE_MAX(last->max, range.max);
		else
			*++last = range;
	}
	ranges->count = (unsigned)(last - ranges->ranges) + 1;
	ranges->first = ranges->ranges[0];
}
