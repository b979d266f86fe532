/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy_world.h"

#include <rte_common.h>
#include <stdlib.h>

#define GENERATION 5

/* Traffic: flow `rank` (0 is the heaviest) has record number[rank]. */
static double *cumulated; /* of Zipf's law, s = 1, over FLOWS */
static uint32_t *number;  /* of a rank */
static uint32_t *rank_of; /* of a number */

uint64_t random_state;

uint32_t random_u32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 16);
}

double random_unit(void)
{
	return random_u32() / 4294967296.0;
}

void shuffle(void)
{
	for (uint32_t i = 0; i < FLOWS; i++)
		number[i] = i;
	for (uint32_t i = FLOWS - 1; i > 0; i--) {
		uint32_t j = random_u32() % (i + 1), swap = number[i];

		number[i] = number[j];
		number[j] = swap;
	}
	for (uint32_t i = 0; i < FLOWS; i++)
		rank_of[number[i]] = i;
}

void make_zipf(void)
{
	double sum = 0;

	cumulated = calloc(FLOWS, sizeof(*cumulated));
	number = calloc(FLOWS, sizeof(*number));
	rank_of = calloc(FLOWS, sizeof(*rank_of));
	for (uint32_t i = 0; i < FLOWS; i++)
		cumulated[i] = sum += 1.0 / (i + 1);
	for (uint32_t i = 0; i < FLOWS; i++)
		cumulated[i] /= sum;
}

static uint32_t zipf_rank(void)
{
	double wanted = random_unit();
	uint32_t low = 0, high = FLOWS - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (cumulated[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static double part_of(uint32_t rank)
{
	return cumulated[rank] - (rank == 0 ? 0 : cumulated[rank - 1]);
}

uint32_t mark_of(uint32_t record)
{
	return FLOW_MARK(record, record & 1, GENERATION);
}

static uint32_t now_ms(const struct world *world)
{
	return (uint32_t)(world->now_us / 1000);
}

static void finish(struct world *world)
{
	uint32_t record =
		FLOW_MARK_INDEX(offload_policy_place(world->policy, world->choice.place)->mark);

	world->busy = false;
	if (world->demoted != NULL && world->choice.what == OFFLOAD_PROMOTE)
		world->returns += world->demoted[record];
	else if (world->demoted != NULL)
		world->demoted[record] = true;
	if (world->choice.what == OFFLOAD_PROMOTE) {
		world->promotions++;
		offload_policy_stands(world->policy, world->choice.place);
	} else {
		world->demotions++;
		offload_policy_free(world->policy, world->choice.place, 0);
	}
}

static void program(struct world *world)
{
	for (;;) {
		if (world->busy && world->now_us < world->free_at_us)
			return;
		if (world->busy)
			finish(world);
		if (!offload_policy_next(world->policy, &world->choice))
			return;
		world->busy = true;
		world->free_at_us =
			RTE_MAX(world->free_at_us, world->now_us - 1000) + world->rule_us;
	}
}

static void sample_zipf(struct world *world)
{
	struct flow_sample samples[512];
	unsigned count = 0;

	for (world->owed += world->samples_per_ms; world->owed >= 1 && count < 512; world->owed--)
		samples[count++] = (struct flow_sample){.mark = mark_of(number[zipf_rank()])};
	offload_policy_samples(world->policy, samples, count);
}

void run_zipf(struct world *world, double seconds)
{
	uint64_t end_us = world->now_us + (uint64_t)(seconds * 1e6);

	while (world->now_us < end_us) {
		world->now_us += 1000;
		sample_zipf(world);
		(void)offload_policy_clock(world->policy, now_ms(world));
		program(world);
	}
}

void world_start(struct world *world, unsigned places, uint32_t rule_us, double per_second)
{
	*world = (struct world){.places = places,
		.rule_us = rule_us,
		.now_us = 5000000,
		.samples_per_ms = per_second / 1000};
	world->policy = offload_policy_create(FLOWS, places, now_ms(world));
}

double share(const struct world *world, unsigned of_best)
{
	double sum = 0;

	for (unsigned i = 0; i < world->places; i++) {
		const struct offload_place *place = offload_policy_place(world->policy, i);

		if (place->state == OFFLOAD_STANDING)
			sum += part_of(rank_of[FLOW_MARK_INDEX(place->mark)]);
	}
	return sum / cumulated[of_best - 1];
}
