/* SPDX-License-Identifier: BSD-3-Clause */
#include "popularity.h"

#include <math.h>
#include <rte_common.h>

/* Sum of 1 / x^s over `width` ranks from `first` on. From a few hundred on an integral is the sum
 * to within 10^-7. */
static double weight(uint32_t first, uint32_t width, double s)
{
	double low = first + 0.5, high = low + width;

	if (width == 1)
		return pow(first + 1.0, -s);
	if (fabs(s - 1) < 1e-9)
		return log(high / low);
	return (pow(high, 1 - s) - pow(low, 1 - s)) / (1 - s);
}

static unsigned make_groups(
	struct popularity *popularity, uint32_t count, double s, double weights[POPULARITY_GROUPS])
{
	unsigned groups = 0;

	for (uint32_t first = 0; first < count && groups < POPULARITY_GROUPS; groups++) {
		uint32_t width =
			first < POPULARITY_SINGLES ? 1 : RTE_MAX(1u, first / POPULARITY_WIDTH);

		width = groups == POPULARITY_GROUPS - 1 ? count - first
							: RTE_MIN(width, count - first);
		popularity->groups[groups] = (struct popularity_group){first, width};
		weights[groups] = weight(first, width, s);
		first += width;
	}
	return groups;
}

/* A threshold is rounded up to the bits that a random number has left: as many are below it. */
static uint32_t draw_of(double weight, uint32_t own, uint32_t other)
{
	double threshold = ceil(weight * (1u << (32 - POPULARITY_BITS)));

	if (threshold >= 1u << (32 - POPULARITY_BITS))
		return own;
	return (uint32_t)threshold << POPULARITY_BITS | other;
}

/* Vose's way: each group that wants less than a place gives the rest of one to a group that wants
 * more. Weights are scaled so that a place is 1. */
static void share_places(
	struct popularity *popularity, unsigned groups, double weights[POPULARITY_GROUPS])
{
	uint16_t small[POPULARITY_GROUPS], large[POPULARITY_GROUPS];
	unsigned nb_small = 0, nb_large = 0;

	for (unsigned i = 0; i < POPULARITY_GROUPS; i++) {
		if (i >= groups)
			weights[i] = 0;
		if (weights[i] < 1)
			small[nb_small++] = (uint16_t)i;
		else
			large[nb_large++] = (uint16_t)i;
		popularity->draws[i] = i;
	}
	while (nb_small > 0 && nb_large > 0) {
		uint16_t poor = small[--nb_small], rich = large[nb_large - 1];

		popularity->draws[poor] = draw_of(weights[poor], poor, rich);
		weights[rich] -= 1 - weights[poor];
		if (weights[rich] < 1) {
			small[nb_small++] = rich;
			nb_large--;
		}
	}
}

void popularity_create(struct popularity *popularity, uint32_t count, double s)
{
	double weights[POPULARITY_GROUPS] = {0}, total = 0;
	unsigned groups;

	for (unsigned i = 0; i < POPULARITY_GROUPS; i++)
		popularity->groups[i] = (struct popularity_group){0, 0};
	groups = make_groups(popularity, count, s, weights);
	for (unsigned i = 0; i < groups; i++)
		total += weights[i];
	for (unsigned i = 0; i < groups; i++)
		weights[i] *= POPULARITY_GROUPS / total;
	share_places(popularity, groups, weights);
}
