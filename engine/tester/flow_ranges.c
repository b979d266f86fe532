/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_ranges.h"

#include <math.h>

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
