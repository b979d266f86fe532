/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames at times of their own: what is due, what a late worker does, what can't be. */
#include "tester/schedule.h"
#include "test.h"

#include <errno.h>
#include <math.h>

#define STREAMS 4
#define FRAMES_MAX 60
#define CLOCKS_PER_S 1e9
#define ROUNDS 60

static struct stream *streams[STREAMS];
static uint32_t places[STREAMS][FRAMES_MAX];
static double at[STREAMS][FRAMES_MAX], times[FRAMES_MAX];

static uint64_t random_state;

static uint32_t below(uint32_t bound)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((random_state >> 32) * bound >> 32);
}

/* Deals `frames` frames to `count` streams at random; `times` has their times. */
static void deal(unsigned frames, unsigned count, double pps)
{
	for (unsigned i = 0; i < STREAMS; i++) {
		streams[i]->nb_places = 0;
		streams[i]->places = places[i];
		streams[i]->at = at[i];
	}
	for (unsigned k = 0; k < frames; k++) {
		unsigned i = k < count ? k : below(count);

		at[i][streams[i]->nb_places] = times[k];
		places[i][streams[i]->nb_places++] = k;
	}
	for (unsigned i = 0; i < count; i++)
		streams[i]->pps = pps * streams[i]->nb_places / frames;
}

static void forget(struct schedule *schedule)
{
	free(schedule->slots);
	free(schedule->at);
	for (unsigned i = 0; i < STREAMS; i++) {
		streams[i]->places = NULL;
		streams[i]->at = NULL;
		streams[i]->nb_places = 0;
	}
}

/* Any times, in order; in half of the cases about every other one is that of the frame before. */
static unsigned random_times(void)
{
	unsigned frames = 1 + below(FRAMES_MAX);
	double total = 1 + below(1000), gaps[FRAMES_MAX], sum = 0;
	bool bursts = below(2) != 0;

	for (unsigned k = 0; k < frames; k++) {
		gaps[k] = bursts && below(2) ? 0 : below(1000);
		total += gaps[k];
	}
	for (unsigned k = 0; k < frames; k++) {
		sum += gaps[k];
		times[k] = sum / total;
	}
	return frames;
}

static struct schedule make(unsigned frames, double pps)
{
	unsigned count = 1 + below(frames < STREAMS ? frames : STREAMS);
	struct schedule schedule = {0};

	deal(frames, count, pps);
	CHECK_EQUAL(schedule_create(&schedule, streams, count), 0);
	schedule.pps = schedule.full_pps;
	schedule.limit = UINT64_MAX;
	schedule_timed_start(&schedule, CLOCKS_PER_S);
	return schedule;
}

/* Number of offsets that have passed, one by one. */
static uint64_t passed(const struct schedule *schedule, double clock)
{
	uint64_t round = (uint64_t)(clock / schedule->round_clocks), count;

	/* All of the rounds before the last one have. */
	round -= round > 0;
	count = round * schedule->nb_slots;
	for (; (double)round * schedule->round_clocks <= clock; round++)
		for (unsigned k = 0; k < schedule->nb_slots; k++)
			count += ((double)round + times[k]) * schedule->round_clocks <= clock;
	return count;
}

/* One call of the generator; returns how many frames it made. */
static unsigned call(struct schedule *schedule, uint64_t clock)
{
	unsigned due;

	if (clock < schedule->not_before)
		return 0;
	due = schedule_timed_due(schedule, clock, STREAM_BURST_MAX);
	if (due != 0)
		schedule_timed_sent(schedule, clock, due);
	schedule->sent += due;
	return due;
}

/* Asked when something is due, whatever else it is asked between. */
static void what_is_due_has_passed(void)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned frames = random_times();
		struct schedule schedule = make(frames, 1e4 * (1 + below(1000)));

		for (unsigned i = 0; i < 300; i++) {
			uint64_t clock = schedule.not_before;

			CHECK_EQUAL(call(&schedule, clock - (clock != 0)),
				clock == 0 ? passed(&schedule, 0) : 0);
			while (call(&schedule, clock) != 0)
				;
			CHECK_EQUAL(schedule.sent, passed(&schedule, (double)clock));
			CHECK(schedule.not_before > clock);
		}
		forget(&schedule);
	}
}

/* By its start a trial knows how many it will be; at twice the rate they are twice as many. */
static void as_many_as_there_are(void)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned frames = random_times();
		struct schedule schedule = make(frames, 1e4 * (1 + below(1000)));
		/* At no frame's time: those that are due at the end itself are of no trial. */
		double clock = schedule.round_clocks * (below(5000) + 0.314159265) / 1000;
		double seconds = clock / CLOCKS_PER_S;
		uint64_t wanted = passed(&schedule, clock);

		CHECK_EQUAL(schedule_frames(&schedule, 1, seconds), wanted);
		CHECK_EQUAL(schedule_frames(&schedule, 2, seconds / 2), wanted);
		CHECK_EQUAL(schedule_frames(&schedule, 1,
				    seconds + 10 * schedule.round_clocks / CLOCKS_PER_S),
			wanted + 10ull * frames);
		forget(&schedule);
	}
	CHECK_EQUAL(schedule_frames(&(struct schedule){.at = times, .nb_slots = 1}, 1, 1), 0);
}

/* Nothing comes before its time, and after a pause the gaps are a quarter shorter at most. */
static void a_late_worker_keeps_gaps(void)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned frames = random_times();
		struct schedule schedule = make(frames, 1e4 * (1 + below(100)));
		uint64_t clock = 0, woke, before;
		double slept_at;

		for (unsigned i = 0; i < 200; i++) {
			clock += below(2000);
			(void)call(&schedule, clock);
			CHECK(schedule.sent <= passed(&schedule, (double)clock));
		}
		before = schedule.sent;
		while (passed(&schedule, (double)clock) == before)
			clock += 1000;
		slept_at = (double)clock;
		woke = clock += 10000000;
		for (unsigned i = 0; i < 2000; i++) {
			double upto = slept_at + schedule.slice_clocks +
				      (double)(clock - woke) / SCHEDULE_CATCH_UP;

			(void)call(&schedule, clock);
			CHECK(schedule.sent <= passed(&schedule, upto));
			clock += below(1000);
		}
		/* Four times the pause make up for it. */
		for (; clock < woke + 45000000; clock += 5000)
			(void)call(&schedule, clock);
		CHECK(schedule.sent + STREAM_BURST_MAX >= passed(&schedule, (double)clock));
		forget(&schedule);
	}
}

static void a_limit_is_kept(void)
{
	struct schedule schedule;

	memset(times, 0, sizeof(times));
	schedule = make(50, 1e6);
	schedule.limit = 70;
	CHECK_EQUAL(call(&schedule, 0), 50);
	CHECK_EQUAL(call(&schedule, 500000), 20);
	CHECK_EQUAL(call(&schedule, 600000), 0);
	forget(&schedule);
}

static void times_that_cannot_be_are_refused(void)
{
	struct schedule schedule = {0};

	times[0] = 0.5;
	times[1] = 0.25;
	deal(2, 2, 1e6);
	CHECK(schedule_create(&schedule, streams, 2) == -EINVAL);
	forget(&schedule);
	/* One of two streams has none. */
	schedule = (struct schedule){0};
	times[1] = 0.75;
	deal(2, 2, 1e6);
	streams[1]->at = NULL;
	CHECK(schedule_create(&schedule, streams, 2) == -EINVAL);
	forget(&schedule);
	/* As fast as can be: in their order, at no times. */
	schedule = (struct schedule){0};
	deal(2, 2, INFINITY);
	CHECK_EQUAL(schedule_create(&schedule, streams, 2), 0);
	CHECK(schedule.at == NULL && !schedule.uneven && schedule.nb_slots == 2);
	forget(&schedule);
}

int main(void)
{
	static const struct test_case cases[] = {
		{"what is due has passed", what_is_due_has_passed},
		{"as many as there are", as_many_as_there_are},
		{"a late worker keeps gaps", a_late_worker_keeps_gaps},
		{"a limit is kept", a_limit_is_kept},
		{"times that cannot be are refused", times_that_cannot_be_are_refused},
	};
	int rc;

	for (unsigned i = 0; i < STREAMS; i++) {
		streams[i] = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(struct stream));
		memset(streams[i], 0, sizeof(struct stream));
		streams[i]->weight = 1;
		streams[i]->id = (uint16_t)i;
	}
	rc = TEST_RUN(cases);
	for (unsigned i = 0; i < STREAMS; i++)
		free(streams[i]);
	return rc;
}
