/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_ranges.h"

#include <math.h>
#include <rte_common.h>
#include <stdlib.h>
#include <string.h>

struct flows *flows_new(void)
{
	size_t bytes = RTE_ALIGN_CEIL(sizeof(struct flows), (size_t)RTE_CACHE_LINE_SIZE);
	struct flows *flows = aligned_alloc(RTE_CACHE_LINE_SIZE, bytes);

	if (flows != NULL)
		memset(flows, 0, bytes);
	return flows;
}

bool flows_set_rate(struct flows *flows, double pps)
{
	double per_frame = flows->renewal.new_per_s / pps;

	if (flows->renewal.new_per_s == 0)
		return true;
	/* Without frames of a flow its rate is unknown. */
	if (!isfinite(pps) || per_frame > 1)
		return false;
	flows->renewal.per_frame = (uint64_t)(per_frame * 0x1p32);
	return true;
}
