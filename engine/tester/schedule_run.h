/* SPDX-License-Identifier: BSD-3-Clause */
/* A schedule at work: what is due, whose frames those are, and when to look again. */
#ifndef LINERATE_SCHEDULE_RUN_H
#define LINERATE_SCHEDULE_RUN_H

#include "due_heap.h"
#include "schedule.h"

#include <math.h>
#include <rte_cycles.h>

/* Frames of one schedule that are late are made before others' within this time; and those of a
 * worker that can't keep up, and is later than this, within this part of how late they are: many
 * frames a turn cost it less. */
#define SCHEDULE_STEP_US 5
#define SCHEDULE_LATE_US 10000
#define SCHEDULE_LATE_PART 8
/* Schedules that are looked at in a call. */
#define SCHEDULE_LOOKS_MAX 64
/* Distance in slots at which the streams are fetched. */
#define SCHEDULE_SLOTS_AHEAD 16

/*
 * A burst that ends with the last slot finds, next time, its buffers as it left them: each
 * with the template of the stream whose turn it is again.
 */
static inline unsigned schedule_whole_rounds(const struct schedule *schedule, unsigned frames)
{
	return frames > schedule->nb_slots
		       ? frames - (schedule->position + frames) % schedule->nb_slots
		       : frames;
}

/* Number of frames of the schedule that are due, at most `room`. */
static inline unsigned schedule_due(
	const struct schedule *schedule, uint64_t elapsed, unsigned room)
{
	uint64_t frames;

	if (schedule->sent >= schedule->limit || elapsed < schedule->not_before)
		return 0;
	if (isinf(schedule->pps)) {
		frames = RTE_MIN(schedule->limit - schedule->sent, (uint64_t)room);
		return schedule_whole_rounds(schedule, (unsigned)frames);
	}
	if (unlikely(schedule->uneven)) {
		if (schedule->at != NULL)
			return schedule_timed_due(schedule, elapsed, room);
		frames = schedule_frames(
			schedule, schedule->scale, (double)elapsed / (double)rte_get_tsc_hz());
	} else
		frames = (uint64_t)(schedule->pps * (double)elapsed / (double)rte_get_tsc_hz());
	frames = RTE_MIN(frames, schedule->limit) - schedule->sent;
	return schedule_whole_rounds(schedule, (unsigned)RTE_MIN(frames, (uint64_t)room));
}

/*
 * Each frame becomes the stream's whose slot it takes; then each stream fills all of its
 * frames at once, which costs less than one at a time in the order of the slots.
 */
static inline void schedule_fill_by_slots(
	struct schedule *schedule, struct rte_mbuf **mbufs, unsigned count)
{
	struct stream *streams[STREAM_BURST_MAX];
	unsigned nb_streams = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned ahead = schedule->position + SCHEDULE_SLOTS_AHEAD;
		struct stream *stream = schedule->slots[schedule->position];

		if (likely(ahead < schedule->nb_slots))
			stream_prefetch_varied(schedule->slots[ahead]);
		if (++schedule->position == schedule->nb_slots)
			schedule->position = 0;
		if (stream->nb_gathered == 0)
			streams[nb_streams++] = stream;
		stream->gathered[stream->nb_gathered++] = mbufs[i];
	}
	for (unsigned i = 0; i < nb_streams; i++) {
		stream_fill(streams[i], streams[i]->gathered, streams[i]->nb_gathered);
		streams[i]->nb_gathered = 0;
	}
}

/*
 * Whole rounds, as at full load: whose buffer each is was known before. The pool gives buffers back
 * in the opposite order; turned round, each has the template of its stream already.
 */
static inline void schedule_fill_rounds(
	struct schedule *schedule, struct rte_mbuf **mbufs, unsigned count)
{
	struct rte_mbuf *gathered[STREAM_BURST_MAX];
	unsigned nb_slots = schedule->nb_slots;

	for (unsigned i = 0; i < count / 2; i++) {
		struct rte_mbuf *mbuf = mbufs[i];

		mbufs[i] = mbufs[count - 1 - i];
		mbufs[count - 1 - i] = mbuf;
	}
	for (unsigned at = 0, nb; at < nb_slots; at += nb) {
		const uint8_t *slots = &schedule->gather[at];
		unsigned nb_gathered = 0;

		nb = schedule->nb_gather[at];
		for (unsigned first = 0; first < count; first += nb_slots)
			for (unsigned k = 0; k < nb; k++)
				gathered[nb_gathered++] = mbufs[first + slots[k]];
		stream_fill(schedule->slots[slots[0]], gathered, nb_gathered);
	}
}

/* A plain stream writes too little to gather buffers for. */
static inline void schedule_fill_in_turn(
	struct schedule *schedule, struct rte_mbuf **mbufs, unsigned count)
{
	for (unsigned some, done = 0; done < count; done += some) {
		unsigned left = schedule->nb_slots - schedule->position;

		some = RTE_MIN(left, count - done);
		streams_fill_in_turn(
			schedule->slots + schedule->position, left, mbufs + done, some);
		schedule->position = some == left ? 0 : schedule->position + some;
	}
}

static inline void schedule_fill(struct schedule *schedule, struct rte_mbuf **mbufs, unsigned count)
{
	if (schedule->nb_slots == 1)
		stream_fill(schedule->slots[0], mbufs, count);
	else if (schedule->gathers && schedule->position == 0 && count % schedule->nb_slots == 0)
		schedule_fill_rounds(schedule, mbufs, count);
	else if (schedule->plain)
		schedule_fill_in_turn(schedule, mbufs, count);
	else
		schedule_fill_by_slots(schedule, mbufs, count);
	schedule->sent += count;
}

/* Sets when the schedule is read again, after this number of frames. */
static inline void schedule_pace(struct schedule *schedule, uint64_t elapsed, unsigned count)
{
	if (unlikely(schedule->at != NULL))
		schedule_timed_sent(schedule, elapsed, count);
	else
		schedule->not_before =
			elapsed + (uint64_t)(SCHEDULE_CATCH_UP * count * (double)rte_get_tsc_hz() /
					     schedule->pps);
}

/* Makes the frames that are due, at most `room`; returns how many. */
static inline unsigned schedule_make(struct schedule *schedule, struct rte_mempool *pool,
	struct rte_mbuf **mbufs, uint64_t elapsed, unsigned room)
{
	unsigned count = schedule_due(schedule, elapsed, room);

	if (count == 0 || unlikely(rte_mempool_get_bulk(pool, (void **)mbufs, count) != 0))
		return 0;
	schedule_fill(schedule, mbufs, count);
	schedule_pace(schedule, elapsed, count);
	return count;
}

/* When frame number `sent`, from 0, is due, in cycles of the trial. */
static inline double schedule_frame_clock(const struct schedule *schedule)
{
	uint64_t frames = schedule->bursts.frames, bursts, rest;

	if (frames == 0)
		return schedule->start_clocks +
		       ((double)schedule->sent + 1) * schedule->frame_clocks;
	/* The quotient, or one less. */
	bursts = (uint64_t)((double)schedule->sent * schedule->bursts_per_frame);
	rest = schedule->sent - bursts * frames;
	if (rest >= frames) {
		bursts++;
		rest -= frames;
	}
	return schedule->start_clocks + (double)bursts * schedule->period_clocks +
	       (double)rest * schedule->frame_clocks;
}

/* No frame of the schedule is due before; it is later than `elapsed`. DUE_NEVER: no more comes. */
static inline uint64_t schedule_next_clock(const struct schedule *schedule, uint64_t elapsed)
{
	uint64_t next = RTE_MAX(schedule->not_before, elapsed + 1);
	double clock;

	if (unlikely(schedule->sent >= schedule->limit))
		return DUE_NEVER;
	if (unlikely(schedule->at != NULL))
		return next;
	clock = ceil(schedule_frame_clock(schedule));
	if (unlikely(!(clock < 0x1p62)))
		return DUE_NEVER;
	return RTE_MAX(next, (uint64_t)clock);
}

/* Time within which a schedule's frames are made before others', which were due then. */
static inline uint64_t schedule_step(uint64_t late)
{
	uint64_t clocks_per_us = rte_get_tsc_hz() / 1000000;

	return likely(late <= clocks_per_us * SCHEDULE_LATE_US) ? clocks_per_us * SCHEDULE_STEP_US
								: late / SCHEDULE_LATE_PART;
}

/*
 * The turn of the schedule that is due first, by the clock of the heap: makes its frames, at most
 * `room`, and says when it is due next. A late worker goes on in small steps, so that streams that
 * take turns keep their order. Returns the number of frames.
 */
static inline unsigned schedule_take_turn(struct schedule *schedule, const struct due_heap *heap,
	struct rte_mempool *pool, struct rte_mbuf **mbufs, uint64_t now, unsigned room)
{
	uint64_t due = due_heap_clock(heap);
	uint64_t until = RTE_MIN(now, due + schedule_step(now - due));
	uint64_t origin = (uint64_t)schedule->origin;
	uint64_t elapsed = until > origin ? until - origin : 0, next;
	unsigned count = schedule_make(schedule, pool, mbufs, elapsed, room);

	next = schedule_next_clock(schedule, elapsed);
	due_heap_delay(heap, next == DUE_NEVER ? next : next + origin);
	return count;
}

#endif
