/* SPDX-License-Identifier: BSD-3-Clause */
/* A schedule at work: what is due, whose frames those are, and when to look again. */
#ifndef LINERATE_SCHEDULE_RUN_H
#define LINERATE_SCHEDULE_RUN_H

#include "schedule.h"

#include <math.h>
#include <rte_cycles.h>

/* Step of a port whose streams have bursts; and the number of steps without a frame in a call. */
#define SCHEDULE_STEP_US 5
#define SCHEDULE_STEPS_MAX 64
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
			stream_prefetch(schedule->slots[ahead]);
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

static inline void schedule_fill(struct schedule *schedule, struct rte_mbuf **mbufs, unsigned count)
{
	if (schedule->nb_slots == 1)
		stream_fill(schedule->slots[0], mbufs, count);
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

#endif
