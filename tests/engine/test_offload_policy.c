/* SPDX-License-Identifier: BSD-3-Clause */
/* Selection of flows for offload: the right ones, the best first, and they keep their rules. */
#include "policy_world.h"
#include "test.h"

/* The aim: 512 entries carry 95 % of what the best possible 512 flows would, at a rate of
 * 10 Mpps and of 1 Mpps. */
static void zipf_finds_the_best(void)
{
	static const double rates[] = {10e6 / FLOW_SAMPLE_EVERY, 1e6 / FLOW_SAMPLE_EVERY};

	for (unsigned i = 0; i < 8; i++) {
		struct world world;
		double carried;

		random_state = 0x9e3779b97f4a7c15 + i;
		shuffle();
		world_start(&world, 512, 22, rates[i % 2]);
		run_zipf(&world, i % 2 == 0 ? 6 : 12);
		carried = share(&world, 512);
		printf("       seed %u, %.0f samples/s: %.1f %% of the best 512, %u promoted, "
		       "%u demoted\n",
			i, rates[i % 2], 100 * carried, world.promotions, world.demotions);
		CHECK(carried >= 0.95);
		offload_policy_destroy(world.policy);
	}
}

/* Demoted flows are not promoted again, and soon none is demoted. */
static void zipf_does_not_flap(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct world world;
		unsigned before;

		random_state = 77 + i;
		shuffle();
		world_start(&world, 512, 22, i == 0 ? 100000 : 1e6 / FLOW_SAMPLE_EVERY);
		world.demoted = calloc(FLOWS, sizeof(bool));
		run_zipf(&world, 12);
		before = world.demotions;
		run_zipf(&world, 20);
		printf("       %u of 512 places changed hands in 20 s; %u flows were promoted "
		       "again\n",
			world.demotions - before, world.returns);
		CHECK(world.demotions - before < 26);
		CHECK(world.returns <= 2);
		free(world.demoted);
		CHECK(share(&world, 512) >= 0.95);
		offload_policy_destroy(world.policy);
	}
}

/* 90 rules a second: those that come first are the heaviest. */
static void slow_programming_takes_the_best_first(void)
{
	struct world world;

	random_state = 4711;
	shuffle();
	world_start(&world, 512, 11000, 100000);
	run_zipf(&world, 1.5);
	printf("       after 1.5 s: %u rules, %.1f %% of the same number of best\n",
		world.promotions, 100 * share(&world, world.promotions));
	CHECK(world.promotions > 50);
	CHECK(share(&world, world.promotions) >= 0.9);
	run_zipf(&world, 16);
	printf("       after 18 s: %.1f %% of the best 512, %u promoted, %u demoted\n",
		100 * share(&world, 512), world.promotions, world.demotions);
	CHECK(share(&world, 512) >= 0.95);
	offload_policy_destroy(world.policy);
}

/* Heavy flows are demoted when others become heavier. */
static void traffic_changes(void)
{
	struct world world;

	random_state = 31;
	shuffle();
	world_start(&world, 512, 22, 100000);
	run_zipf(&world, 8);
	shuffle();
	CHECK(share(&world, 512) < 0.2);
	run_zipf(&world, 12);
	CHECK(share(&world, 512) >= 0.95);
	offload_policy_destroy(world.policy);
}

/* A flood of flows of one packet. */
static void mice_get_no_place(void)
{
	struct flow_sample sample = {0};
	struct world world;

	random_state = 99;
	world_start(&world, 512, 22, 0);
	for (uint32_t i = 0; i < FLOWS; i++) {
		sample.mark = mark_of(i);
		offload_policy_samples(world.policy, &sample, 1);
		if (i % 100 == 0)
			run_zipf(&world, 0.001);
	}
	CHECK_EQUAL(world.promotions, 0);
	CHECK_EQUAL(offload_policy_used(world.policy), 0);
	offload_policy_destroy(world.policy);
}

/* Runs for `ms`; flow i has packets with probability rates[i] each millisecond. */
static void run_few(struct world *world, const double *rates, unsigned flows, unsigned ms)
{
	while (ms-- > 0) {
		for (unsigned i = 0; i < flows; i++) {
			struct flow_sample sample = {.mark = mark_of(i)};

			if (random_unit() < rates[i])
				offload_policy_samples(world->policy, &sample, 1);
		}
		run_zipf(world, 0.001);
	}
}

static void equals_do_not_take_turns(void)
{
	static const double rates[4] = {0.05, 0.05, 0.05, 0.05};
	struct world world;

	random_state = 5;
	world_start(&world, 2, 22, 0);
	run_few(&world, rates, 4, 120000);
	CHECK_EQUAL(offload_policy_used(world.policy), 2);
	CHECK(world.demotions <= 2);
	offload_policy_destroy(world.policy);
}

static void heavier_takes_the_place(void)
{
	static const double before[3] = {0.2, 0.3, 0}, after[3] = {0.2, 0.3, 0.9};
	struct world world;

	random_state = 6;
	world_start(&world, 2, 22, 0);
	run_few(&world, before, 3, 3000);
	CHECK(offload_policy_find(world.policy, mark_of(0)) >= 0);
	CHECK(offload_policy_find(world.policy, mark_of(1)) >= 0);
	run_few(&world, after, 3, 6000);
	CHECK_EQUAL(offload_policy_find(world.policy, mark_of(0)), -1);
	CHECK(offload_policy_find(world.policy, mark_of(1)) >= 0);
	CHECK(offload_policy_find(world.policy, mark_of(2)) >= 0);
	CHECK_EQUAL(world.demotions, 1);
	offload_policy_destroy(world.policy);
}

/* Whoever has a place keeps it for a while, whatever comes. */
static void a_stay_has_a_minimum(void)
{
	static const double quiet[2] = {0.5, 0}, loud[2] = {0, 1};
	struct world world;

	random_state = 7;
	world_start(&world, 1, 22, 0);
	run_few(&world, quiet, 2, 300);
	CHECK_EQUAL(world.promotions, 1);
	run_few(&world, loud, 2, OFFLOAD_STAY_MS - 600);
	CHECK_EQUAL(world.demotions, 0);
	run_few(&world, loud, 2, 4000);
	CHECK_EQUAL(world.demotions, 1);
	CHECK(offload_policy_find(world.policy, mark_of(1)) >= 0);
	offload_policy_destroy(world.policy);
}

static void barred_flows_wait(void)
{
	static const double rates[1] = {0.5};
	struct world world;
	int place;

	random_state = 8;
	world_start(&world, 4, 22, 0);
	run_few(&world, rates, 1, 600);
	place = offload_policy_find(world.policy, mark_of(0));
	CHECK(place >= 0);
	offload_policy_leave(world.policy, (unsigned)place);
	offload_policy_free(world.policy, (unsigned)place, 10000);
	run_few(&world, rates, 1, 9500);
	CHECK_EQUAL(world.promotions, 1);
	run_few(&world, rates, 1, 3000);
	CHECK_EQUAL(world.promotions, 2);
	offload_policy_destroy(world.policy);
}

/* The number of a record goes to another flow: what was known of the first is not its. */
static void generations_are_distinguished(void)
{
	struct flow_sample sample = {.mark = FLOW_MARK(9, 0, 1)};
	struct world world;

	world_start(&world, 4, 22, 0);
	for (unsigned i = 0; i < 3; i++)
		offload_policy_samples(world.policy, &sample, 1);
	sample.mark = FLOW_MARK(9, 0, 2);
	for (unsigned i = 0; i < 3; i++)
		offload_policy_samples(world.policy, &sample, 1);
	run_zipf(&world, 0.3);
	CHECK_EQUAL(world.promotions, 0);
	for (unsigned i = 0; i < 3; i++)
		offload_policy_samples(world.policy, &sample, 1);
	run_zipf(&world, 0.3);
	CHECK_EQUAL(world.promotions, 1);
	CHECK(offload_policy_find(world.policy, FLOW_MARK(9, 1, 2)) >= 0);
	CHECK_EQUAL(offload_policy_find(world.policy, FLOW_MARK(9, 0, 1)), -1);
	offload_policy_destroy(world.policy);
}

static void rules_without_effect_are_seen(void)
{
	static const double rates[1] = {0.5};
	struct flow_sample sample = {.mark = mark_of(0), .marked = 1};
	struct world world;
	unsigned place;

	random_state = 9;
	world_start(&world, 4, 22, 0);
	run_few(&world, rates, 1, 600);
	place = (unsigned)offload_policy_find(world.policy, mark_of(0));
	CHECK(!offload_policy_silent(world.policy, place));
	run_few(&world, rates, 1, 400);
	CHECK(!offload_policy_silent(world.policy, place));
	run_few(&world, rates, 1, 1200);
	CHECK(offload_policy_silent(world.policy, place));
	CHECK(!offload_policy_place(world.policy, place)->worked);
	offload_policy_samples(world.policy, &sample, 1);
	CHECK(!offload_policy_silent(world.policy, place));
	CHECK(offload_policy_place(world.policy, place)->worked);
	CHECK_EQUAL(offload_policy_marked(world.policy), 1);
	run_few(&world, rates, 1, 1500);
	CHECK(offload_policy_silent(world.policy, place));
	offload_policy_destroy(world.policy);
}

/* A device took fewer rules than it was hoped, then more. */
static void a_lower_limit_makes_room(void)
{
	struct world world;

	random_state = 10;
	shuffle();
	world_start(&world, 512, 22, 100000);
	run_zipf(&world, 6);
	CHECK_EQUAL(offload_policy_used(world.policy), 512);
	offload_policy_limit(world.policy, 100);
	run_zipf(&world, 6);
	CHECK_EQUAL(offload_policy_used(world.policy), 100);
	CHECK(share(&world, 100) > 0.9);
	offload_policy_limit(world.policy, 512);
	run_zipf(&world, 6);
	CHECK_EQUAL(offload_policy_used(world.policy), 512);
	offload_policy_destroy(world.policy);
}

/* Anything may happen, in any order: places and flows stay one to one. */
static void places_and_flows_agree(const struct world *world)
{
	unsigned used = 0;

	for (unsigned i = 0; i < world->places; i++) {
		const struct offload_place *place = offload_policy_place(world->policy, i);

		if (place->state == OFFLOAD_FREE)
			continue;
		used++;
		CHECK_EQUAL(offload_policy_find(world->policy, place->mark), i);
	}
	CHECK_EQUAL(used, offload_policy_used(world->policy));
}

static void disturb(struct world *world)
{
	unsigned place = random_u32() % world->places;
	const struct offload_place *one = offload_policy_place(world->policy, place);
	bool busy = world->busy && world->choice.place == place;

	switch (random_u32() % 4) {
	case 0:
		offload_policy_limit(world->policy, random_u32() % 80);
		break;
	case 1:
		if (one->state == OFFLOAD_STANDING && !busy) {
			offload_policy_leave(world->policy, place);
			offload_policy_free(world->policy, place, random_u32() % 3 * 4000);
		}
		break;
	case 2:
		if (busy && world->choice.what == OFFLOAD_PROMOTE) {
			offload_policy_free(world->policy, place, 1000);
			world->busy = false;
		}
		break;
	default:
		world->samples_per_ms = random_u32() % 20;
	}
}

static void anything_may_happen(void)
{
	struct world world;

	random_state = 11;
	shuffle();
	world_start(&world, 64, 5000, 3000);
	for (unsigned i = 0; i < 20000; i++) {
		run_zipf(&world, 0.005);
		disturb(&world);
		if (i % 16 == 0)
			places_and_flows_agree(&world);
	}
	CHECK(world.promotions > 1000);
	CHECK(world.demotions > 100);
	offload_policy_destroy(world.policy);
}

int main(void)
{
	static const struct test_case cases[] = {
		{"Zipf: finds the best", zipf_finds_the_best},
		{"Zipf: does not flap", zipf_does_not_flap},
		{"slow programming takes the best first", slow_programming_takes_the_best_first},
		{"traffic changes", traffic_changes},
		{"mice get no place", mice_get_no_place},
		{"equals do not take turns", equals_do_not_take_turns},
		{"heavier takes the place", heavier_takes_the_place},
		{"a stay has a minimum", a_stay_has_a_minimum},
		{"barred flows wait", barred_flows_wait},
		{"generations are distinguished", generations_are_distinguished},
		{"rules without effect are seen", rules_without_effect_are_seen},
		{"a lower limit makes room", a_lower_limit_makes_room},
		{"anything may happen", anything_may_happen},
	};

	make_zipf();
	return TEST_RUN(cases);
}
