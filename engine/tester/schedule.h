/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In which order and when a port sends its streams' frames. Continuous streams share one
 * schedule, in which each has slots in proportion to its rate, spread evenly or in the places
 * that they say, and then perhaps at the times that they say; a burst has a schedule of its own,
 * so that its end changes nothing for the others.
 */
#ifndef LINERATE_SCHEDULE_H
#define LINERATE_SCHEDULE_H

#include "stream.h"

#include <stdint.h>

#define SCHEDULE_SLOTS_MAX 65536
/* A late worker catches up in so much of the time that what it sends was due in. */
#define SCHEDULE_CATCH_UP 0.75
/* Frames that a late worker makes at once where frames have times: enough for the slowest loop,
 * little beside most gaps. */
#define SCHEDULE_SLICE_S 500e-6

struct schedule {
	double pps;                  /* of the trial; infinite when unpaced */
	double full_pps;             /* at full scale */
	double scale;                /* of the trial */
	bool uneven;                 /* schedule_frames() says what is due, not the rate alone */
	bool plain;                  /* so are all of its streams */
	uint64_t limit;              /* frames to send in the trial; UINT64_MAX: until its end */
	uint64_t burst;              /* limit of a burst; 0: continuous */
	struct stream_bursts bursts; /* of its only stream; none: all are spread evenly */
	uint64_t sent;               /* in the trial */
	uint64_t not_before;         /* clock; no two bursts without a gap while catching up */
	/* In cycles of the trial: from frame to frame, from burst to burst, to the first frame. */
	double frame_clocks, period_clocks, start_clocks;
	double bursts_per_frame; /* rounded down */
	uint32_t position;
	uint32_t nb_slots;
	struct stream **slots;
	bool gathers; /* a burst has whole rounds: `gather` */
	/* For frames that have times of their own; else NULL, and the rest is not used. */
	double *at;          /* when each slot is due, as a part of the round: 0 to below 1 */
	double round_clocks; /* of the trial */
	double slice_clocks; /* frames due in so long are made at once at most */
	uint64_t rounds;     /* that were sent whole in the trial */
	uint32_t next;       /* slot */
	/* State in a profile that runs by itself (profile.h). */
	uint32_t run;  /* that it is part of */
	double origin; /* when it began, on the profile's clock */
	bool unscaled; /* its rate is always its own */
	/* Its slots, stream by stream, and at the first one of a stream how many it has. */
	uint8_t gather[STREAM_BURST_MAX], nb_gather[STREAM_BURST_MAX];
};

/* Whether all of them say their places. */
bool schedule_has_places(struct stream *const *streams, unsigned count);
/* The schedule that the places make. Returns 0, -EINVAL after saying why, or -ENOMEM. */
int schedule_in_places(struct schedule *schedule, struct stream *const *streams, unsigned count);

/* Times of a schedule in places, if its streams have any. Returns as above. */
int schedule_set_times(struct schedule *schedule, struct stream *const *streams, unsigned count);
/* As schedule_frames(), of frames that have times. */
uint64_t schedule_timed_frames(const struct schedule *schedule, double scale, double seconds);
/* Begins a trial at the schedule's `pps`. */
void schedule_timed_start(struct schedule *schedule, double clocks_per_s);
/* Frames due by a clock of the trial that were not sent, at most `room`; when it is late no more
 * than come within a slice. */
unsigned schedule_timed_due(const struct schedule *schedule, uint64_t elapsed, unsigned room);
/* Takes note of frames that were sent then: they are due no more, the next ones in their turn. */
void schedule_timed_sent(struct schedule *schedule, uint64_t elapsed, unsigned count);

/* When the trial's `pps` and `scale` are known: what schedule_next_clock() (schedule_run.h) goes
 * by.
 */
void schedule_set_clocks(struct schedule *schedule, double clocks_per_s);

void schedule_free(struct schedule *schedule);
/* Makes the schedule of these streams, whose pps are known. Returns 0, -EINVAL
 * after saying why, or -ENOMEM. */
int schedule_create(struct schedule *schedule, struct stream *const *streams, unsigned count);

/* Whether the stream has a schedule of its own. */
static inline bool schedule_alone(const struct stream *stream)
{
	return stream->burst != 0 || stream->bursts.frames != 0 || stream->bursts.start_s != 0 ||
	       stream->unscaled;
}

/*
 * Frames due `seconds` after the trial's start, at `scale` of the rates: twice the rate is half of
 * every gap. Not for rates without end.
 */
uint64_t schedule_frames(const struct schedule *schedule, double scale, double seconds);

#endif
