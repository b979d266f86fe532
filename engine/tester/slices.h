/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slices of a trial, which separate the time that the host disturbed from the rest.
 *
 * The tester's worker looks every millisecond (a tick). A tick is disturbed when a worker was away
 * from its CPU in it, or until so shortly before that its rings are still being emptied, or when
 * packets were lost in it and in it or in one beside it a worker was stalled, or the tester sent
 * faster than it was asked to since it was late. Ticks of one kind in
 * a row are one slice, of at most 10 ms. Clean slices are those that are not disturbed: a device's
 * rate and loss are theirs. A trial may go on until it has enough of them (trial_start()).
 *
 * The tester's worker takes slices, of the first sender that has streams; the control thread reads
 * them at any time. Not for connections, nor for trials that end on time.
 */
#ifndef LINERATE_SLICES_H
#define LINERATE_SLICES_H

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <stdbool.h>
#include <stdint.h>

struct ledger;
struct tester_sender;
struct worker;

#define TICK_MS 1
/* A slice ends at each multiple of that many. */
#define SLICE_TICKS 10
/* In a longer trial each tick is longer. */
#define TICKS_MAX 20000

struct slice {
	uint64_t end_clocks; /* since the trial began, on its port's clock */
	uint64_t
		tsc_clocks; /* its length on the TSC, which goes on while that clock stands still */
	uint64_t sent, received;
	uint64_t lost;        /* at places whose counters are in memory (ledger_watch()) */
	uint64_t away_clocks; /* of the worker that was away for longest, summed over ticks */
	const struct worker *worker; /* that one; NULL: none was */
	bool disturbed;
};

/* Sums over clean slices. */
struct slices_clean {
	unsigned slices;
	uint64_t clocks; /* on the port's clock */
	uint64_t sent, received;
};

/* State that the tester's worker reads in each call. */
struct slices_clock {
	const struct tester_sender *sender; /* whose clock it is; NULL: no trial has slices */
	uint64_t due;                       /* cycles of the trial at which the tick ends */
};
extern struct slices_clock slices_clock;

/* Before a trial, while no worker is at it: makes room. Returns 0 or -ENOMEM. */
int slices_prepare(void);
/* The sender begins the trial. */
void slices_begin(const struct tester_sender *sender);
static inline bool slices_due(const struct tester_sender *sender, uint64_t elapsed)
{
	return unlikely(elapsed >= slices_clock.due) && sender == slices_clock.sender;
}
/* Ends a tick; returns whether the trial has lasted long enough. */
bool slices_take(uint64_t elapsed);

/* Those that have ended. */
unsigned slices_count(void);
const struct slice *slices_at(unsigned index);
struct slices_clean slices_clean(void);
/* Losses of each watched place in disturbed slices, and in the trial so far; free with
 * ledger_free(). */
void slices_losses(struct ledger *disturbed, struct ledger *all);

#endif
