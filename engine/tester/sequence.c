/* SPDX-License-Identifier: BSD-3-Clause */
#include "sequence.h"

#include <rte_common.h>
#include <string.h>

static inline uint64_t *word_of(struct sequence *sequence, uint32_t number)
{
	return &sequence->bits[number % SEQUENCE_WINDOW / 64];
}

static void forget_missing(struct sequence *sequence)
{
	memset(sequence->bits, 0, SEQUENCE_WORDS * sizeof(*sequence->bits));
	sequence->gaps = 0;
	sequence->nb_missing = 0;
}

void sequence_restart(struct sequence *sequence, uint32_t next)
{
	if (sequence->gaps)
		forget_missing(sequence);
	sequence->nb_missing_older = 0;
	sequence->next = next;
}

/* The slots of the numbers from `number` to `upto`, less than a window, are those of numbers
 * one window before: what was missing then is beyond the window now. A word at a time. */
static void sequence_clear(struct sequence *sequence, uint32_t number, uint32_t upto)
{
	while (number != upto) {
		uint32_t bit = number % 64, count = RTE_MIN(64 - bit, upto - number);
		uint64_t ones = (count == 64 ? UINT64_MAX : (1ull << count) - 1) << bit;
		uint64_t *word = word_of(sequence, number);
		unsigned older = (unsigned)__builtin_popcountll(*word & ones);

		sequence->nb_missing -= older;
		sequence->nb_missing_older += older;
		*word &= ~ones;
		number += count;
	}
}

/* The slots of the numbers from `next` to `upto` still speak of those one window ago. */
void sequence_advance(struct sequence *sequence, uint32_t upto)
{
	uint32_t number = sequence->next;

	sequence->next = upto;
	if (!sequence->gaps)
		return;
	if (upto - sequence->last_gap > SEQUENCE_WINDOW) {
		sequence->nb_missing_older += sequence->nb_missing;
		forget_missing(sequence);
		return;
	}
	sequence_clear(sequence, number, upto);
}

static void sequence_gap(struct sequence *sequence, uint32_t number)
{
	uint32_t count = number - sequence->next;

	sequence->lost += count;
	if (count >= SEQUENCE_WINDOW) {
		sequence->nb_missing_older += sequence->nb_missing + count - SEQUENCE_WINDOW;
		sequence->nb_missing = SEQUENCE_WINDOW;
		memset(sequence->bits, 0xff, SEQUENCE_WORDS * sizeof(*sequence->bits));
		sequence->next = number;
	} else {
		uint32_t first = sequence->next;

		sequence_advance(sequence, number);
		sequence->nb_missing += count;
		for (; first != number; first++)
			*word_of(sequence, first) |= 1ull << (first % 64);
	}
	sequence->gaps = 1;
	sequence->last_gap = number - 1;
}

static void note_late(struct sequence *sequence)
{
	sequence->lost--;
	sequence->out_of_order++;
}

static void note_duplicate(struct sequence *sequence)
{
	sequence->received--;
	sequence->duplicated++;
}

void sequence_irregular(struct sequence *sequence, uint32_t number)
{
	uint32_t behind = sequence->next - number;
	uint64_t bit = 1ull << (number % 64);

	if (behind == 0 || behind > UINT32_MAX / 2) {
		if (behind != 0)
			sequence_gap(sequence, number);
		sequence_advance(sequence, number + 1);
	} else if (behind > SEQUENCE_WINDOW) {
		if (sequence->nb_missing_older > 0) {
			sequence->nb_missing_older--;
			note_late(sequence);
		} else {
			note_duplicate(sequence);
		}
	} else if (*word_of(sequence, number) & bit) {
		*word_of(sequence, number) &= ~bit;
		sequence->nb_missing--;
		note_late(sequence);
	} else {
		note_duplicate(sequence);
	}
}

void sequence_note_run(struct sequence *sequence, uint32_t number, uint32_t count)
{
	if (likely(number == sequence->next)) {
		sequence->received += count;
		if (likely(!sequence->gaps))
			sequence->next += count;
		else
			sequence_advance(sequence, number + count);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		sequence_note(sequence, number + i);
}
