/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws the next flows: numbers first, then their digits. Each step is a loop over the burst that
 * the compiler turns into vectors (lanes.h); the same text is compiled for any CPU, for those with
 * AVX2 and for those with AVX-512. Nothing is divided: a number below 2^31, as a double, times the
 * inverse of a range, rounded up, is cut to the quotient exactly.
 */
#include "flow_ranges.h"

#include "lanes.h"
#include "mixed.h"

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <string.h>

static __rte_always_inline void draw_in_turn(
	struct flows *flows, uint32_t *numbers, unsigned count, unsigned lanes)
{
	uint32_t first = flows->next, all = flows->count;

	if (likely(all >= FLOWS_BURST)) {
		for (unsigned i = 0; i < lanes; i++) {
			uint32_t number = first + i;

			numbers[i] = number >= all ? number - all : number;
		}
		flows->next = first + count >= all ? first + count - all : first + count;
		return;
	}
	memset(numbers, 0, lanes * sizeof(*numbers));
	for (unsigned i = 0; i < count; i++) {
		numbers[i] = first;
		first = first + 1 == all ? 0 : first + 1;
	}
	flows->next = first;
}

static __rte_always_inline void draw_uniform(
	struct flows *flows, uint32_t *numbers, unsigned count, unsigned lanes)
{
	uint32_t first = flows->next, seed = flows->seed;
	uint64_t all = flows->count;

	for (unsigned i = 0; i < lanes; i++)
		numbers[i] = (uint32_t)((mixed((first + i) ^ seed) * all) >> 32);
	flows->next = first + count;
}

static __rte_always_inline void draw_zipf(
	struct flows *flows, uint32_t *numbers, unsigned count, unsigned lanes)
{
	const struct popularity *popularity = &flows->popularity;
	uint32_t random[FLOWS_BURST], second[FLOWS_BURST];
	uint32_t first = flows->next, seed = flows->seed;

	for (unsigned i = 0; i < lanes; i++) {
		random[i] = mixed((first + i) ^ seed);
		second[i] = mixed(random[i] + seed);
	}
	for (unsigned i = 0; i < lanes; i++)
		numbers[i] = popularity_group(popularity, random[i]);
	for (unsigned i = 0; i < lanes; i++)
		numbers[i] = popularity_rank(popularity->groups[numbers[i]], second[i]);
	flows->next = first + count;
}

static void renewal_advance(struct flow_renewal *renewal, uint32_t places, unsigned frames)
{
	renewal->credit += renewal->per_frame * frames;
	renewal->renewed += (uint32_t)(renewal->credit >> 32);
	renewal->credit &= UINT32_MAX;
	while (renewal->renewed >= places) {
		renewal->renewed -= places;
		if (++renewal->generation == renewal->generations)
			renewal->generation = 0;
	}
}

/* From a part's own numbers to those of the set. */
static __rte_always_inline void take_set_numbers(
	const struct flows *flows, uint32_t *numbers, unsigned lanes)
{
	uint32_t first = flows->first, stride = flows->stride;

	for (unsigned i = 0; i < lanes; i++)
		numbers[i] = first + numbers[i] * stride;
}

/* From places to the flows that are in them now. */
static __rte_always_inline void draw_renewed(
	struct flows *flows, uint32_t *numbers, unsigned count, unsigned lanes)
{
	struct flow_renewal *renewal = &flows->renewal;
	uint32_t renewed, generation, last = renewal->generations - 1, set = flows->set;
	uint32_t first = flows->first, stride = flows->stride;

	renewal_advance(renewal, flows->count, count);
	renewed = renewal->renewed;
	generation = renewal->generation;
	for (unsigned i = 0; i < lanes; i++) {
		uint32_t own = generation + (numbers[i] < renewed);

		numbers[i] = first + numbers[i] * stride + set * (own > last ? 0 : own);
	}
}

/* One digit: what is left of each number stays in it. */
static __rte_always_inline void take_digit(
	const struct flow_range *range, uint32_t *numbers, uint32_t *values, unsigned lanes)
{
	uint32_t min = range->min, base = range->values;
	double inverse = range->inverse;

	for (unsigned i = 0; i < lanes; i++) {
		uint32_t quotient = (uint32_t)(int32_t)((double)(int32_t)numbers[i] * inverse);

		values[i] = min + numbers[i] - quotient * base;
		numbers[i] = quotient;
	}
}

static __rte_always_inline void take_ports(
	const struct flows *flows, uint32_t *numbers, struct flow_words *words, unsigned lanes)
{
	const struct flow_range *dst = &flows->ranges[FLOW_DST_PORT];
	unsigned src_shift = flows->mirror ? 0 : 16;
	uint32_t values[FLOWS_BURST];

	take_digit(&flows->ranges[FLOW_SRC_PORT], numbers, values, lanes);
	for (unsigned i = 0; i < lanes; i++)
		words->ports[i] = values[i] << src_shift | (dst->min + numbers[i])
								   << (16 - src_shift);
}

static __rte_always_inline void draw_lanes(
	struct flows *flows, struct flow_words *words, unsigned count, unsigned lanes)
{
	uint32_t numbers[FLOWS_BURST];

	if (flows->order == FLOWS_INCREMENT)
		draw_in_turn(flows, numbers, count, lanes);
	else if (flows->order == FLOWS_UNIFORM)
		draw_uniform(flows, numbers, count, lanes);
	else
		draw_zipf(flows, numbers, count, lanes);
	if (flows->renewal.per_frame != 0)
		draw_renewed(flows, numbers, count, lanes);
	else if (unlikely(flows->stride != 1))
		take_set_numbers(flows, numbers, lanes);
	take_digit(&flows->ranges[FLOW_SRC], numbers, words->src, lanes);
	take_digit(&flows->ranges[FLOW_DST], numbers, words->dst, lanes);
	if (flows->ports)
		take_ports(flows, numbers, words, lanes);
}

/* A single frame, as where streams take turns, is no vector. */
static __rte_always_inline void draw(struct flows *flows, struct flow_words *words, unsigned count)
{
	if (count == 1)
		draw_lanes(flows, words, 1, 1);
	else
		draw_lanes(flows, words, count, lanes_of(count));
}

void flows_draw_scalar(struct flows *flows, struct flow_words *words, unsigned count)
{
	draw(flows, words, count);
}

#ifdef RTE_ARCH_X86_64
LANES_AVX2 void flows_draw_avx2(struct flows *flows, struct flow_words *words, unsigned count)
{
	draw(flows, words, count);
}

LANES_AVX512 void flows_draw_avx512(struct flows *flows, struct flow_words *words, unsigned count)
{
	draw(flows, words, count);
}
#endif

flows_draw_t flows_draw_select(void)
{
#ifdef RTE_ARCH_X86_64
	if (lanes_avx512_run())
		return flows_draw_avx512;
	if (lanes_avx2_run())
		return flows_draw_avx2;
#endif
	return flows_draw_scalar;
}
