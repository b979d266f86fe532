/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/schedule.h"
#include "test.h"

#include <math.h>

#define STREAMS 8

static struct stream *streams[STREAMS];

static struct schedule make(const double *pps, unsigned count)
{
	struct schedule schedule = {0};

	for (unsigned i = 0; i < count; i++) {
		streams[i]->id = (uint16_t)i;
		streams[i]->pps = pps[i];
	}
	CHECK_EQUAL(schedule_create(&schedule, streams, count), 0);
	return schedule;
}

static unsigned slots_of(const struct schedule *schedule, unsigned id)
{
	unsigned slots = 0;

	for (uint32_t i = 0; i < schedule->nb_slots; i++)
		slots += schedule->slots[i]->id == id;
	return slots;
}

static void whole_ratios_are_exact(void)
{
	const double imix[] = {7e6, 4e6, 1e6};
	struct schedule schedule = make(imix, 3);

	CHECK_EQUAL(schedule.nb_slots, 12);
	CHECK_EQUAL(slots_of(&schedule, 0), 7);
	CHECK_EQUAL(slots_of(&schedule, 1), 4);
	CHECK_EQUAL(slots_of(&schedule, 2), 1);
	CHECK(schedule.full_pps == 12e6);
	free(schedule.slots);
}

static void slots_are_spread(void)
{
	const double pps[] = {10, 30};
	struct schedule schedule = make(pps, 2);

	CHECK_EQUAL(schedule.nb_slots, 4);
	/* The stream of one in four never waits for more than four. */
	CHECK_EQUAL(slots_of(&schedule, 0), 1);
	free(schedule.slots);
}

static void odd_ratios_are_close(void)
{
	const double pps[] = {M_PI * 1e6, M_E * 1e5, 1};
	struct schedule schedule = make(pps, 3);
	double total = pps[0] + pps[1] + pps[2];

	for (unsigned i = 0; i < 2; i++)
		CHECK(fabs(slots_of(&schedule, i) / (double)schedule.nb_slots - pps[i] / total) <
			1e-4);
	CHECK(slots_of(&schedule, 2) >= 1);
	free(schedule.slots);
}

static void one_stream_is_one_slot(void)
{
	const double pps[] = {123.4};
	struct schedule schedule = make(pps, 1);

	CHECK_EQUAL(schedule.nb_slots, 1);
	free(schedule.slots);
}

static void unpaced_streams_take_turns(void)
{
	const double pps[] = {INFINITY, INFINITY};
	struct schedule schedule = make(pps, 2);

	CHECK_EQUAL(schedule.nb_slots, 2);
	CHECK(isinf(schedule.full_pps));
	free(schedule.slots);
}

/* As fast as can be: no rates, so frames go by weight. */
static void without_rates_weights_count(void)
{
	const double unpaced[] = {INFINITY, INFINITY, INFINITY};
	static const unsigned weights[] = {7, 4, 1};
	struct schedule schedule;

	for (unsigned i = 0; i < 3; i++)
		streams[i]->weight = weights[i];
	schedule = make(unpaced, 3);
	CHECK_EQUAL(schedule.nb_slots, 12);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQUAL(slots_of(&schedule, i), weights[i]);
		streams[i]->weight = 1;
	}
	free(schedule.slots);
}

int main(void)
{
	static const struct test_case cases[] = {
		{"whole ratios are exact", whole_ratios_are_exact},
		{"slots are spread", slots_are_spread},
		{"odd ratios are close", odd_ratios_are_close},
		{"one stream is one slot", one_stream_is_one_slot},
		{"unpaced streams take turns", unpaced_streams_take_turns},
		{"without rates weights count", without_rates_weights_count},
		{NULL, NULL},
	};
	int rc;

	for (unsigned i = 0; i < STREAMS; i++) {
		streams[i] = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(struct stream));
		memset(streams[i], 0, sizeof(struct stream));
		streams[i]->weight = 1;
	}
	rc = test_run(cases);
	for (unsigned i = 0; i < STREAMS; i++)
		free(streams[i]);
	return rc;
}
