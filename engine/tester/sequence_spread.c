/* SPDX-License-Identifier: BSD-3-Clause */
#include "sequence_spread.h"

#include <rte_common.h>
#include <string.h>

/* Sets or clears the bits of `count` numbers from `number` on, less than a window; a word at a
 * time. */
static void write_bits(struct sequence *sequence, uint32_t number, uint32_t count, bool set)
{
	while (count != 0) {
		uint32_t bit = number % 64, some = RTE_MIN(64 - bit, count);
		uint64_t ones = (some == 64 ? UINT64_MAX : (1ull << some) - 1) << bit;
		uint64_t *word = &sequence->bits[number % SEQUENCE_WINDOW / 64];

		*word = set ? *word | ones : *word & ~ones;
		number += some;
		count -= some;
	}
}

static void clear_all(struct sequence *sequence)
{
	memset(sequence->bits, 0, SEQUENCE_WORDS * sizeof(*sequence->bits));
}

void sequence_spread_restart(struct sequence *sequence, uint32_t next)
{
	if (sequence->passed != 0)
		clear_all(sequence);
	sequence->passed = 0;
	sequence->next = next;
}

/* Numbers that the worker expects, or later ones: the window moves up to them. */
static void note_ahead(struct sequence *sequence, uint32_t number, uint32_t count)
{
	uint32_t skipped = number - sequence->next;

	if (skipped >= SEQUENCE_WINDOW)
		clear_all(sequence);
	else
		write_bits(sequence, sequence->next, skipped, false);
	write_bits(sequence, number, count, true);
	sequence->next = number + count;
	sequence->passed += skipped + (uint64_t)count;
	sequence->received += count;
}

static void note_behind(struct sequence *sequence, uint32_t number)
{
	uint64_t *word = &sequence->bits[number % SEQUENCE_WINDOW / 64];
	uint64_t bit = 1ull << number % 64;

	if (sequence->next - number > SEQUENCE_WINDOW)
		sequence->older++;
	else if (*word & bit)
		sequence->duplicated++;
	else {
		*word |= bit;
		sequence->received++;
		sequence->out_of_order++;
	}
}

void sequence_spread_note_run(struct sequence *sequence, uint32_t number, uint32_t count)
{
	for (; count != 0 && (int32_t)(number - sequence->next) < 0; number++, count--)
		note_behind(sequence, number);
	if (count != 0)
		note_ahead(sequence, number, count);
}

void sequence_spread_add(struct sequence_sum *sum, const struct sequence *sequence, bool of_trial)
{
	sum->received += sequence->received;
	sum->older += sequence->older;
	sum->duplicated += sequence->duplicated;
	sum->out_of_order += sequence->out_of_order;
	if (of_trial)
		sum->passed = RTE_MAX(sum->passed, sequence->passed);
}

/* Numbers up to the newest of all that no worker received within its window. */
static uint64_t missing_of(const struct sequence_sum *sum, const struct sequence_settled *settled)
{
	uint64_t came = sum->received - settled->received;

	return sum->passed > came ? sum->passed - came : 0;
}

static uint64_t late_of(const struct sequence_sum *sum, const struct sequence_settled *settled)
{
	return RTE_MIN(sum->older - settled->older, missing_of(sum, settled));
}

struct sequence_counts sequence_spread_counts(
	const struct sequence_sum *sum, const struct sequence_settled *settled)
{
	uint64_t late = settled->late + late_of(sum, settled);

	return (struct sequence_counts){
		.received = sum->received + late,
		.lost = settled->lost + missing_of(sum, settled) - late_of(sum, settled),
		.duplicated = sum->duplicated + sum->older - late,
		.out_of_order = sum->out_of_order + late,
	};
}

void sequence_spread_settle(const struct sequence_sum *sum, struct sequence_settled *settled)
{
	uint64_t late = late_of(sum, settled);

	settled->lost += missing_of(sum, settled) - late;
	settled->late += late;
	settled->received = sum->received;
	settled->older = sum->older;
}
