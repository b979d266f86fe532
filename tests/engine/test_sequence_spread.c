/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of many flows that workers share, with losses, repeats and delays drawn at random. What
 * the workers' sums say is compared with what was done to each number, and each worker with one
 * that gets the numbers of its flows alone, without gaps between them.
 */
#include "tester/sequence_spread.h"
#include "test.h"

#include <stddef.h>

#define WORKERS_MAX 8
#define FRAMES 60000u
#define COPIES_MAX 3

/* A frame on its way; they come in the order of their times. */
struct arrival {
	uint64_t time;
	uint32_t number; /* from 0 on */
};

static struct sequence sequences[WORKERS_MAX], ranked[WORKERS_MAX];
static uint64_t bits[WORKERS_MAX][SEQUENCE_WORDS], ranked_bits[WORKERS_MAX][SEQUENCE_WORDS];
static struct sequence_settled settled;
static struct arrival arrivals[FRAMES * COPIES_MAX];
static unsigned nb_arrivals, nb_workers;
static unsigned worker_of[FRAMES];
static uint32_t rank_of[FRAMES], ranks[WORKERS_MAX];
static uint64_t came_once, repeats, passed;

static void start(unsigned workers)
{
	nb_workers = workers;
	memset(bits, 0, sizeof(bits));
	memset(ranked_bits, 0, sizeof(ranked_bits));
	memset(&settled, 0, sizeof(settled));
	for (unsigned w = 0; w < WORKERS_MAX; w++) {
		sequences[w] = (struct sequence){.bits = bits[w]};
		ranked[w] = (struct sequence){.bits = ranked_bits[w]};
	}
	came_once = repeats = passed = 0;
}

static int by_time(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* A trial's frames: each has a flow, a flow has its worker. */
static void draw(unsigned delay_max)
{
	uint32_t newest = 0;

	memset(ranks, 0, sizeof(ranks));
	nb_arrivals = 0;
	for (uint32_t n = 0; n < FRAMES; n++) {
		unsigned copies =
			rand() % 20 == 0 ? 0 : 1 + (rand() % 20 == 0) + (rand() % 50 == 0);

		worker_of[n] = (unsigned)rand() % 97 % nb_workers;
		rank_of[n] = ranks[worker_of[n]]++;
		came_once += copies > 0;
		repeats += copies > 1 ? copies - 1 : 0;
		newest = copies > 0 ? n : newest;
		for (unsigned c = 0; c < copies; c++)
			arrivals[nb_arrivals++] = (struct arrival){
				n + (rand() % 10 == 0 ? (unsigned)rand() % delay_max : 0), n};
	}
	passed += newest + 1;
	qsort(arrivals, nb_arrivals, sizeof(arrivals[0]), by_time);
}

static struct sequence_sum sum_of(void)
{
	struct sequence_sum sum = {0};

	for (unsigned w = 0; w < nb_workers; w++)
		sequence_spread_add(&sum, &sequences[w], ranks[w] > 0);
	return sum;
}

/* Runs of successive numbers at one worker are noted at once. */
static void receive(uint32_t first, uint32_t first_rank)
{
	for (unsigned w = 0; w < nb_workers; w++) {
		sequence_spread_restart(&sequences[w], first);
		sequence_restart(&ranked[w], first_rank);
	}
	for (unsigned i = 0, count; i < nb_arrivals; i += count) {
		uint32_t number = arrivals[i].number;
		unsigned w = worker_of[number];

		for (count = 1; i + count < nb_arrivals && count < 256; count++)
			if (arrivals[i + count].number != number + count ||
				worker_of[number + count] != w)
				break;
		sequence_spread_note_run(&sequences[w], first + number, count);
		for (unsigned c = 0; c < count; c++)
			sequence_note(&ranked[w], first_rank + rank_of[number + c]);
	}
}

static void check_workers(void)
{
	for (unsigned w = 0; w < nb_workers; w++) {
		CHECK_EQUAL(sequences[w].received, ranked[w].received);
		CHECK_EQUAL(sequences[w].duplicated, ranked[w].duplicated);
		CHECK_EQUAL(sequences[w].out_of_order, ranked[w].out_of_order);
	}
}

static void check_sums(void)
{
	struct sequence_sum sum = sum_of();
	struct sequence_counts counts = sequence_spread_counts(&sum, &settled);

	CHECK_EQUAL(counts.received, came_once);
	CHECK_EQUAL(counts.duplicated, repeats);
	CHECK_EQUAL(counts.lost, passed - came_once);
	CHECK_EQUAL(sum.older, 0);
}

/* Over the end of the numbers too, in trials one after another. */
static void sums_are_what_was_done(void)
{
	for (unsigned workers = 1; workers <= WORKERS_MAX; workers++) {
		start(workers);
		for (unsigned trial = 0; trial < 4; trial++) {
			uint32_t first = UINT32_MAX - FRAMES / 2 + trial * FRAMES;
			struct sequence_sum sum;

			draw(1 + (unsigned)rand() % 3000);
			receive(first, first);
			check_workers();
			check_sums();
			sum = sum_of();
			sequence_spread_settle(&sum, &settled);
		}
	}
}

/* With one worker it says what one that sees all numbers does, at any time. */
static void one_worker_is_no_other(void)
{
	start(1);
	for (unsigned trial = 0; trial < 4; trial++) {
		uint32_t first = (uint32_t)rand() << 1;
		struct sequence_sum sum;

		draw(200);
		sequence_spread_restart(&sequences[0], first);
		sequence_restart(&ranked[0], first);
		for (unsigned i = 0; i < nb_arrivals; i++) {
			struct sequence_counts counts;

			sequence_spread_note_run(&sequences[0], first + arrivals[i].number, 1);
			sequence_note(&ranked[0], first + arrivals[i].number);
			sum = sum_of();
			counts = sequence_spread_counts(&sum, &settled);
			CHECK_EQUAL(counts.received, ranked[0].received);
			CHECK_EQUAL(counts.lost, ranked[0].lost);
			CHECK_EQUAL(counts.duplicated, ranked[0].duplicated);
			CHECK_EQUAL(counts.out_of_order, ranked[0].out_of_order);
		}
		sum = sum_of();
		sequence_spread_settle(&sum, &settled);
	}
}

/* As many as are missing are late; no more. */
static void older_than_the_window(void)
{
	struct sequence_counts counts;
	struct sequence_sum sum;

	start(2);
	ranks[0] = ranks[1] = 1;
	sequence_spread_restart(&sequences[0], 7);
	sequence_spread_restart(&sequences[1], 7);
	for (uint32_t n = 10; n < 3 * SEQUENCE_WINDOW; n++)
		sequence_spread_note_run(&sequences[n % 2], 7 + n, 1);
	for (unsigned late = 1; late <= 12; late++) {
		sequence_spread_note_run(&sequences[late % 2], 7 + late, 1);
		sum = sum_of();
		counts = sequence_spread_counts(&sum, &settled);
		CHECK_EQUAL(counts.out_of_order, late > 10 ? 10 : late);
		CHECK_EQUAL(counts.lost, late > 10 ? 0 : 10 - late);
		CHECK_EQUAL(counts.duplicated, late > 10 ? late - 10 : 0);
		CHECK_EQUAL(counts.received, 3 * SEQUENCE_WINDOW - 10 + counts.out_of_order);
	}
	sequence_spread_settle(&sum, &settled);
	sum = sum_of();
	sequence_spread_restart(&sequences[0], 7);
	sequence_spread_restart(&sequences[1], 7);
	sum = sum_of();
	CHECK_EQUAL(sequence_spread_counts(&sum, &settled).received, counts.received);
	CHECK_EQUAL(sequence_spread_counts(&sum, &settled).duplicated, counts.duplicated);
	CHECK_EQUAL(sequence_spread_counts(&sum, &settled).lost, 0);
}

/* All workers' bits are gone, but not their counts. */
static void a_gap_wider_than_the_window(void)
{
	struct sequence_sum sum;

	start(2);
	ranks[0] = ranks[1] = 1;
	sequence_spread_restart(&sequences[0], 0);
	sequence_spread_restart(&sequences[1], 0);
	for (uint32_t n = 0; n < 100; n++)
		sequence_spread_note_run(&sequences[0], n, 1);
	sequence_spread_note_run(&sequences[0], 5 * SEQUENCE_WINDOW, 1);
	for (uint32_t n = 5 * SEQUENCE_WINDOW - 100; n < 5 * SEQUENCE_WINDOW; n++)
		sequence_spread_note_run(&sequences[0], n, 1);
	sum = sum_of();
	CHECK_EQUAL(sum.out_of_order, 100);
	CHECK_EQUAL(sum.duplicated, 0);
	CHECK_EQUAL(sequence_spread_counts(&sum, &settled).lost, 5 * SEQUENCE_WINDOW - 200);
}

static const struct test_case cases[] = {
	{"sums are what was done", sums_are_what_was_done},
	{"one worker is no other", one_worker_is_no_other},
	{"older than the window", older_than_the_window},
	{"a gap wider than the window", a_gap_wider_than_the_window},
};
TEST_MAIN(cases)
