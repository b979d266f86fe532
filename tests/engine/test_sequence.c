/* SPDX-License-Identifier: BSD-3-Clause */
#include "tester/sequence.h"
#include "test.h"

#include <stdbool.h>

static struct sequence sequence;

static void start(uint32_t next)
{
	memset(&sequence, 0, sizeof(sequence));
	sequence_restart(&sequence, next);
}

static void in_order(void)
{
	start(5);
	for (uint32_t i = 5; i < 100005; i++)
		sequence_note(&sequence, i);
	CHECK_EQUAL(sequence.received, 100000);
	CHECK_EQUAL(sequence.lost + sequence.duplicated + sequence.out_of_order, 0);
}

static void wraps_around(void)
{
	start(UINT32_MAX - 10);
	for (uint32_t i = UINT32_MAX - 10; i != 20; i++)
		sequence_note(&sequence, i);
	CHECK_EQUAL(sequence.received, 31);
	CHECK_EQUAL(sequence.lost + sequence.duplicated + sequence.out_of_order, 0);
}

static void late_is_not_lost(void)
{
	start(0);
	sequence_note(&sequence, 0);
	sequence_note(&sequence, 3);
	CHECK_EQUAL(sequence.lost, 2);
	sequence_note(&sequence, 1);
	CHECK_EQUAL(sequence.lost, 1);
	CHECK_EQUAL(sequence.out_of_order, 1);
	sequence_note(&sequence, 1);
	CHECK_EQUAL(sequence.duplicated, 1);
	sequence_note(&sequence, 3);
	CHECK_EQUAL(sequence.duplicated, 2);
	sequence_note(&sequence, 2);
	CHECK_EQUAL(sequence.lost, 0);
	CHECK_EQUAL(sequence.out_of_order, 2);
}

static void older_than_the_window(void)
{
	start(0);
	sequence_note(&sequence, 10);
	for (uint32_t i = 11; i < 11 + 2 * SEQUENCE_WINDOW; i++)
		sequence_note(&sequence, i);
	sequence_note(&sequence, 3);
	CHECK(!sequence.gaps);
	CHECK_EQUAL(sequence.lost, 9);
	CHECK_EQUAL(sequence.out_of_order, 1);
	/* No more can be late than are missing. */
	for (unsigned i = 0; i < 10; i++)
		sequence_note(&sequence, 3);
	CHECK_EQUAL(sequence.lost, 0);
	CHECK_EQUAL(sequence.duplicated, 1);
}

static void a_gap_wider_than_the_window(void)
{
	start(0);
	sequence_note(&sequence, 3 * SEQUENCE_WINDOW);
	CHECK_EQUAL(sequence.lost, 3 * SEQUENCE_WINDOW);
	sequence_note(&sequence, 3 * SEQUENCE_WINDOW - 1);
	CHECK_EQUAL(sequence.out_of_order, 1);
	CHECK_EQUAL(sequence.lost, 3 * SEQUENCE_WINDOW - 1);
}

/* The model: an array of how often each number was seen. */
#define NUMBERS 200000
static uint8_t seen[NUMBERS];

/* A random walk with losses, repeats and delays shorter than the window, against the model. */
static void agrees_with_a_simple_model(void)
{
	uint64_t lost = 0, duplicated = 0, late = 0;
	uint32_t highest = 0;

	srand(7);
	memset(seen, 0, sizeof(seen));
	start(0);
	for (uint32_t i = 0; i < NUMBERS; i++) {
		uint32_t number = i;

		if (rand() % 50 == 0)
			continue; /* lost, unless it comes below */
		if (rand() % 20 == 0 && i > 1000)
			number = i - (uint32_t)(rand() % 1000);
		if (seen[number]++ != 0)
			duplicated++;
		else if (number < highest)
			late++;
		if (number >= highest)
			highest = number + 1;
		sequence_note(&sequence, number);
	}
	for (uint32_t i = 0; i < highest; i++)
		lost += seen[i] == 0;
	CHECK_EQUAL(sequence.lost, lost);
	CHECK_EQUAL(sequence.duplicated, duplicated);
	CHECK_EQUAL(sequence.out_of_order, late);
	CHECK_EQUAL(sequence.received, highest - lost);
	CHECK_EQUAL(sequence.next, highest);
}

/* Numbers in runs of any length leave the same as one by one, whatever was lost before. */
static void runs_are_their_numbers(void)
{
	static struct sequence single;

	for (unsigned round = 0; round < 200; round++) {
		uint32_t number = (uint32_t)rand() << 4;

		start(number);
		memcpy(&single, &sequence, sizeof(single));
		for (unsigned i = 0; i < 200; i++) {
			uint32_t count = 1 + (uint32_t)rand() % 256;

			switch (rand() % 8) {
			case 0:
				number += (uint32_t)rand() % 300;
				break;
			case 1:
				number -= (uint32_t)rand() % 600;
				break;
			case 2:
				number += (uint32_t)rand() % (2 * SEQUENCE_WINDOW);
				break;
			default:
				break;
			}
			sequence_note_run(&sequence, number, count);
			for (uint32_t n = 0; n < count; n++)
				sequence_note(&single, number + n);
			number += count;
			CHECK(memcmp(&single, &sequence, sizeof(single)) == 0);
		}
	}
}

int main(void)
{
	static const struct test_case cases[] = {
		{"in order", in_order},
		{"wraps around", wraps_around},
		{"late is not lost", late_is_not_lost},
		{"older than the window", older_than_the_window},
		{"a gap wider than the window", a_gap_wider_than_the_window},
		{"agrees with a simple model", agrees_with_a_simple_model},
		{"runs are their numbers", runs_are_their_numbers},
		{NULL, NULL},
	};

	return test_run(cases);
}
