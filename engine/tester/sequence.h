/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects lost, duplicated and late frames of one stream by their sequence numbers. A frame that
 * arrives after a later one is out of order, and is then no longer lost. The missing numbers are
 * known for the last SEQUENCE_WINDOW; of older ones only how many. A frame from beyond the window
 * is taken to be one of those, as long as there are any, and else a duplicate.
 */
#ifndef LINERATE_SEQUENCE_H
#define LINERATE_SEQUENCE_H

#include <rte_branch_prediction.h>
#include <stdbool.h>
#include <stdint.h>

#define SEQUENCE_WINDOW 65536

/* Its first three fields are all that a stream without gaps needs. Where frames reach several
 * workers each has one, and uses it by sequence_spread.h alone. */
struct sequence {
	uint32_t next;       /* expected */
	uint32_t gaps;       /* 1: some of `bits` is set */
	uint64_t received;   /* each number once */
	uint32_t last_gap;   /* number of the newest missing one */
	uint32_t nb_missing; /* within the window */
	union {
		uint64_t nb_missing_older; /* of the trial, beyond the window */
		uint64_t older;            /* spread: frames from beyond the window */
	};
	union {
		uint64_t lost;
		uint64_t passed; /* spread: numbers from the trial's first to `next` */
	};
	uint64_t duplicated, out_of_order;
	uint64_t *bits; /* numbers that are missing, spread: that came; zeroed by their owner */
};
#define SEQUENCE_WORDS (SEQUENCE_WINDOW / 64)

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
