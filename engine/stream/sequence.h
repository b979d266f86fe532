/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells lost, duplicated and late frames of one stream apart from their sequence numbers.
 * A frame that comes after a later one is out of order, and is then no longer lost. What
 * is missing is remembered for the last SEQUENCE_WINDOW numbers; older ones stay lost.
 */
#ifndef LINERATE_SEQUENCE_H
#define LINERATE_SEQUENCE_H

#include <rte_branch_prediction.h>
#include <stdbool.h>
#include <stdint.h>

#define SEQUENCE_WINDOW 4096

struct sequence {
	uint32_t next;     /* expected */
	bool gaps;         /* some bit of `missing` is set */
	uint32_t last_gap; /* number of the newest missing one */
	uint64_t received, lost, duplicated, out_of_order, stale;
	uint64_t missing[SEQUENCE_WINDOW / 64];
};

/* Expects `next` from now on; counters stay. */
void sequence_restart(struct sequence *sequence, uint32_t next);
/* For a number that is not the expected one. */
void sequence_irregular(struct sequence *sequence, uint32_t number);
/* Forgets what fell out of the window when `next` moves to `upto`. */
void sequence_advance(struct sequence *sequence, uint32_t upto);

/* Takes note of `count` received numbers in order, less than a window, from `number` on. */
void sequence_note_run(struct sequence *sequence, uint32_t number, uint32_t count);

/* Takes note of one received number. */
static inline void sequence_note(struct sequence *sequence, uint32_t number)
{
	sequence->received++;
	if (likely(number == sequence->next && !sequence->gaps))
		sequence->next++;
	else
		sequence_irregular(sequence, number);
}

#endif
