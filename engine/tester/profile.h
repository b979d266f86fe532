/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles: named sets of streams of a tester port that come and go, start, stop and change their
 * rates while the engine runs (TRex's word). Not while a trial runs, nor a trial while one does.
 *
 * Streams are paced by a clock of the profile's own, which goes `scale` times as fast as the
 * port's and stands still in a pause: twice the rate is half of every gap, and a change of rate
 * neither loses a frame nor makes up for one.
 *
 * The control thread never writes what the worker reads: it makes an order that is whole, puts
 * it in the place of the one before, and keeps that until the worker has walked once more.
 */
#ifndef LINERATE_PROFILE_H
#define LINERATE_PROFILE_H

#include "profile_state.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum profile_state {
	PROFILE_IDLE,
	PROFILE_RUNNING,
	PROFILE_PAUSED,
	PROFILE_DONE, /* its time is over, or all of its frames are sent */
};

struct profile_start {
	double scale;
	uint64_t duration_us, packets; /* 0: without end */
	uint64_t at_us;                /* since 1970; 0: at once */
};

struct profile_status {
	const char *port, *name;
	enum profile_state state;
	unsigned streams;
	double pps, l1_bps, l2_bps; /* at full scale, scales of single streams counted */
	double scale;
	uint64_t elapsed_us, sent;
};

const char *profile_state_name(enum profile_state state);

/*
 * Each returns 0 or -errno, having written why to `complaints`: -ENOENT, there is no such port,
 * profile or stream; -EBUSY, a trial runs, or the profile is in another state; -EINVAL, the
 * streams have mistakes, or ask for more than the line; -ENOSPC, -ENOMEM.
 */
/* Adds the streams of a file, {"streams": […]}; a profile of that name need not be there. */
int profile_load(const char *port, const char *name, const char *file, FILE *complaints);
/* `stream` NULL: the profile, with all of its streams. It must not run. */
int profile_remove(const char *port, const char *name, const char *stream, FILE *complaints);
int profile_start(
	const char *port, const char *name, const struct profile_start *start, FILE *complaints);
/* Returns when no more of its frames are made. */
int profile_stop(const char *port, const char *name, FILE *complaints);
/* The same of a pause. */
int profile_pause(const char *port, const char *name, FILE *complaints);
int profile_resume(const char *port, const char *name, FILE *complaints);
/* From now on; a pause stays one. */
int profile_set_scale(const char *port, const char *name, double scale, FILE *complaints);
/* Scales one stream, beside its profile; 0: it pauses. */
int profile_set_stream_scale(
	const char *port, const char *name, const char *stream, double scale, FILE *complaints);

/* Calls `note` with each profile in turn. */
void profiles_read(void (*note)(const struct profile_status *status, void *to), void *to);
bool profiles_run(void);

#endif
