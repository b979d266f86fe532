/* SPDX-License-Identifier: BSD-3-Clause */
#include "tester/schedule.h"
#include "test.h"

#include <errno.h>
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

/* Shares of hundredths of a per cent, as published mixes have them. */
static void long_rounds_are_exact(void)
{
	const double tcp[] = {5867e2, 200e2, 2366e2, 1567e2};
	struct schedule schedule = make(tcp, 4);

	CHECK_EQUAL(schedule.nb_slots, 10000);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQUAL(slots_of(&schedule, i), tcp[i] / 100);
	free(schedule.slots);
}

static uint32_t first_places[] = {0, 1, 2}, second_places[] = {3}, third_places[] = {4};

static void set_places(unsigned stream, uint32_t *places, uint32_t count)
{
	streams[stream]->places = places;
	streams[stream]->nb_places = count;
}

static void places_are_kept(void)
{
	const double pps[] = {3e6, 1e6, 1e6};
	static const unsigned wanted[] = {0, 0, 0, 1, 2};
	struct schedule schedule;

	set_places(0, first_places, 3);
	set_places(1, second_places, 1);
	set_places(2, third_places, 1);
	schedule = make(pps, 3);
	CHECK_EQUAL(schedule.nb_slots, 5);
	for (unsigned i = 0; i < 5 && i < schedule.nb_slots; i++)
		CHECK_EQUAL(schedule.slots[i]->id, wanted[i]);
	CHECK(schedule.full_pps == 5e6);
	free(schedule.slots);
	for (unsigned i = 0; i < 3; i++)
		set_places(i, NULL, 0);
}

/* Two frames in one place, a place beyond the round, rates that are not the places'. */
static void places_that_cannot_be_are_refused(void)
{
	const double fair[] = {3e6, 1e6}, unfair[] = {1e6, 1e6};
	static uint32_t twice[] = {2}, beyond[] = {4}, last[] = {3};
	uint32_t *const wrong[] = {twice, beyond, last};

	for (unsigned i = 0; i < 3; i++) {
		struct schedule schedule = {0};
		const double *pps = i == 2 ? unfair : fair;

		set_places(0, first_places, 3);
		set_places(1, wrong[i], 1);
		streams[0]->pps = pps[0];
		streams[1]->pps = pps[1];
		CHECK(schedule_create(&schedule, streams, 2) == -EINVAL);
		free(schedule.slots);
	}
	set_places(0, NULL, 0);
	set_places(1, NULL, 0);
}

/* Bursts open with a frame; at twice the rate everything takes half the time. */
static void bursts_pause(void)
{
	const double pps[] = {1000};
	struct schedule schedule;

	streams[0]->bursts =
		(struct stream_bursts){.frames = 4, .count = 3, .gap_s = 0.01, .start_s = 0.005};
	streams[0]->burst = 12;
	schedule = make(pps, 1);
	CHECK(schedule.uneven);
	CHECK_EQUAL(schedule_frames(&schedule, 1, 0.0049), 0);
	CHECK_EQUAL(schedule_frames(&schedule, 1, 0.0051), 1);
	CHECK_EQUAL(schedule_frames(&schedule, 1, 0.0071), 3);
	CHECK_EQUAL(schedule_frames(&schedule, 1, 0.0085), 4);
	CHECK_EQUAL(schedule_frames(&schedule, 1, 0.0179), 4);
	CHECK_EQUAL(schedule_frames(&schedule, 1, 0.0181), 5);
	CHECK_EQUAL(schedule_frames(&schedule, 1, 0.0211), 8);
	CHECK_EQUAL(schedule_frames(&schedule, 1, 1), 12);
	CHECK_EQUAL(schedule_frames(&schedule, 2, 0.0181 / 2), 5);
	free(schedule.slots);
	streams[0]->bursts = (struct stream_bursts){.frames = 1, .count = 0, .gap_s = 0.5};
	streams[0]->burst = 0;
	schedule = make(pps, 1);
	CHECK_EQUAL(schedule_frames(&schedule, 1, 10.1), 21);
	free(schedule.slots);
	streams[0]->bursts = (struct stream_bursts){0};
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
		{"long rounds are exact", long_rounds_are_exact},
		{"places are kept", places_are_kept},
		{"places that cannot be are refused", places_that_cannot_be_are_refused},
		{"bursts pause", bursts_pause},
	};
	int rc;

	for (unsigned i = 0; i < STREAMS; i++) {
		streams[i] = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(struct stream));
		memset(streams[i], 0, sizeof(struct stream));
		streams[i]->weight = 1;
	}
	rc = TEST_RUN(cases);
	for (unsigned i = 0; i < STREAMS; i++)
		free(streams[i]);
	return rc;
}
