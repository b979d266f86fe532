/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sequence numbers of a stream whose frames reach several workers, each by its flow. A number that
 * a worker misses may have gone to another, so that no worker by itself knows of a loss: it keeps
 * the numbers that it received of its last SEQUENCE_WINDOW, and
 *
 * - a number that it received before is a duplicate: a flow's frames reach one worker;
 * - a number behind the newest that it received is out of order;
 * - of those from the trial's first to the newest of any worker, lost are all that none received.
 *
 * With one worker that is what sequence.h says. A frame from beyond the window is taken to be one
 * of the missing ones, as long as there are any, and else a duplicate: whoever sums over the
 * workers decides that. While frames are under way to a worker that is behind, they count as lost.
 */
#ifndef LINERATE_SEQUENCE_SPREAD_H
#define LINERATE_SEQUENCE_SPREAD_H

#include "sequence.h"

/* A worker's: expects numbers from `next` on; counters stay. */
void sequence_spread_restart(struct sequence *sequence, uint32_t next);
/* A worker's: takes note of `count` received numbers in order, less than a window. */
void sequence_spread_note_run(struct sequence *sequence, uint32_t number, uint32_t count);

/* Sums over the workers. */
struct sequence_sum {
	uint64_t received, older, duplicated, out_of_order;
	uint64_t passed; /* in this trial, of the worker that got furthest */
};

/* Sums as they were when the trial began. */
struct sequence_settled {
	uint64_t received, older; /* sums */
	uint64_t lost;
	uint64_t late; /* of the older ones, those that were taken to be missing */
};

struct sequence_counts {
	uint64_t received, lost, duplicated, out_of_order;
};

/* Adds one worker's; `of_trial`: it received frames in this trial. */
void sequence_spread_add(struct sequence_sum *sum, const struct sequence *sequence, bool of_trial);
struct sequence_counts sequence_spread_counts(
	const struct sequence_sum *sum, const struct sequence_settled *settled);
/* The trial is over: what `sum` says is settled. */
void sequence_spread_settle(const struct sequence_sum *sum, struct sequence_settled *settled);

#endif
