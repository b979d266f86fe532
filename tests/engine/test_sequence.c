/* SPDX-License-Identifier: BSD-3-Clause */
#include "tester/sequence.h"
#include "test.h"

#include <stdbool.h>
#include <stddef.h>

static struct sequence sequence;
static uint64_t missing[SEQUENCE_WORDS];

static void start(uint32_t next)
{
	memset(missing, 0, sizeof(missing));
	sequence = (struct sequence){.bits = missing};
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

/* The same, number by number: which are missing, by their distance from the first. */
#define NUMBERS (40u * SEQUENCE_WINDOW)
static struct {
	bool missing[NUMBERS];
	uint32_t next;
	uint64_t older; /* missing ones beyond the window */
	uint64_t received, lost, duplicated, late;
} model;

static void model_advance(uint32_t upto)
{
	for (uint32_t at = model.next; at < upto; at++) {
		if (at < SEQUENCE_WINDOW || !model.missing[at - SEQUENCE_WINDOW])
			continue;
		model.missing[at - SEQUENCE_WINDOW] = false;
		model.older++;
	}
	model.next = upto;
}

static void model_late(void)
{
	model.late++;
	model.lost--;
	model.received++;
}

static void model_note(uint32_t at)
{
	if (at >= model.next) {
		for (uint32_t lost = model.next; lost < at; lost++)
			model.missing[lost] = true;
		model.lost += at - model.next;
		model.received++;
		model_advance(at + 1);
	} else if (model.next - at > SEQUENCE_WINDOW && model.older > 0) {
		model.older--;
		model_late();
	} else if (model.next - at <= SEQUENCE_WINDOW && model.missing[at]) {
		model.missing[at] = false;
		model_late();
	} else {
		model.duplicated++;
	}
}

/* Distance of the next number that is received, and in `count` how many follow it in order. */
static uint32_t draw(unsigned *count)
{
	uint32_t behind = 0, near = (uint32_t)rand() % 3;

	*count = 1;
	switch (rand() % 16) {
	case 0:
		return model.next + (uint32_t)rand() % 200;
	case 1:
		return model.next + (rand() % 8 == 0 ? SEQUENCE_WINDOW - 1 + near : near);
	case 2:
		return model.next +
		       (rand() % 16 == 0 ? (uint32_t)rand() % (3 * SEQUENCE_WINDOW) : 0);
	case 3:
		behind = SEQUENCE_WINDOW - 1 + near;
		break;
	case 4:
	case 5:
		behind = 1 + (uint32_t)rand() % (2 * SEQUENCE_WINDOW);
		break;
	case 6:
	case 7:
	case 8:
		behind = 1 + (uint32_t)rand() % 300;
		break;
	default:
		*count = 1 + (unsigned)rand() % 200;
	}
	return behind > model.next ? model.next : model.next - behind;
}

static void check_counters(void)
{
	CHECK_EQUAL(sequence.lost, model.lost);
	CHECK_EQUAL(sequence.duplicated, model.duplicated);
	CHECK_EQUAL(sequence.out_of_order, model.late);
	CHECK_EQUAL(sequence.received, model.received);
}

static void note(uint32_t first, uint32_t at)
{
	sequence_note(&sequence, first + at);
	model_note(at);
}

/* From beyond the window come as many as are missing there, and three more. */
static void note_all_older(uint32_t first)
{
	for (uint64_t left = model.older + 3; left > 0; left--)
		note(first, model.next - SEQUENCE_WINDOW - 1 - (uint32_t)left % 5);
	check_counters();
}

/* A random walk with losses, repeats and delays within the window and beyond it, over the end of
 * the numbers, in several trials one after another. */
static void agrees_with_a_model_of_each_number(void)
{
	for (unsigned round = 0; round < 6; round++) {
		uint32_t first = UINT32_MAX - NUMBERS / 6 * round;

		memset(&model, 0, sizeof(model));
		start(first);
		while (model.next < NUMBERS - 4 * SEQUENCE_WINDOW) {
			unsigned count;
			uint32_t at = draw(&count);

			for (unsigned i = 0; i < count; i++)
				note(first, at + i);
			check_counters();
			CHECK_EQUAL(sequence.next, first + model.next);
			if (rand() % 200 == 0 && model.next > 2 * SEQUENCE_WINDOW)
				note_all_older(first);
			if (rand() % 2000 != 0)
				continue;
			sequence_restart(&sequence, first + model.next);
			memset(model.missing, 0, sizeof(model.missing));
			model.older = 0;
		}
	}
}

/* Numbers in runs of any length leave the same as one by one, whatever was lost before. */
static void runs_are_their_numbers(void)
{
	static uint64_t single_missing[SEQUENCE_WORDS];
	static struct sequence single;

	for (unsigned round = 0; round < 200; round++) {
		uint32_t number = (uint32_t)rand() << 4;

		start(number);
		memset(single_missing, 0, sizeof(single_missing));
		single = sequence;
		single.bits = single_missing;
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
			CHECK(memcmp(single_missing, missing, sizeof(missing)) == 0);
			CHECK(memcmp(&single, &sequence, offsetof(struct sequence, bits)) == 0);
		}
	}
}

static const struct test_case cases[] = {
	{"in order", in_order},
	{"wraps around", wraps_around},
	{"late is not lost", late_is_not_lost},
	{"older than the window", older_than_the_window},
	{"a gap wider than the window", a_gap_wider_than_the_window},
	{"agrees with a model of each number", agrees_with_a_model_of_each_number},
	{"runs are their numbers", runs_are_their_numbers},
};
TEST_MAIN(cases)
