/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile as the control thread and the port's senders have it between them: profile.h.
 *
 * Each sender has a part of the profile: orders, schedules, clocks and counters of its own, in
 * cache lines that no other sender writes to.
 */
#ifndef LINERATE_PROFILE_STATE_H
#define LINERATE_PROFILE_STATE_H

#include "due_heap.h"
#include "schedule.h"

#include <rte_common.h>
#include <stdbool.h>
#include <stdint.h>

#define PROFILES_MAX 64 /* of a port */
#define PROFILE_NAME_BYTES 48

struct tester_port;

/* Clocks of a profile: by the rates as they are scaled, and as they are. */
enum profile_clock {
	PROFILE_SCALED,
	PROFILE_UNSCALED,
	PROFILE_CLOCKS,
};

/* The task of a profile, the same for all senders of its port. */
struct profile_plan {
	uint32_t serial; /* no two of a profile are alike; from 1 */
	uint32_t run;    /* number of the start; grows */
	bool stop;
	double scale; /* of the rates; 0: paused */
	/* On the port's clock: rates change as of then, however late a sender learns of it, so that
	 * all go by one time. 0: when it is taken up, as one sender does. */
	uint64_t since;
	uint64_t at_tsc;          /* no frame is sent before; 0: at once */
	uint64_t duration_clocks; /* from the first frame on, pauses included; 0: without end */
	uint64_t packets;         /* of all senders; 0: without end */
	bool sends;               /* some sender has schedules */
};

/* The task of one sender; never changed once it is given, but for when its schedules are
 * due. */
struct profile_order {
	struct profile_plan plan;
	uint64_t packets;                    /* of this sender in the run; UINT64_MAX: no end */
	unsigned nb_shared;                  /* streams that have the first schedule together */
	struct due_heap due[PROFILE_CLOCKS]; /* the worker's */
	unsigned nb_scaled;                  /* schedules by the first clock, before the others */
	unsigned nb_schedules;
	struct schedule *schedules[];
};

/* One sender's part. */
struct profile_part {
	/* The control thread's: the order before is freed when the next one but one is given. */
	const struct profile_order *order __rte_cache_aligned;
	struct profile_order *past;

	/* The worker's. Serials of orders: the newest that it saw; the newest of which it knows
	 * that the port has all frames made before; the one that it sent to the end. */
	uint32_t seen __rte_cache_aligned;
	uint32_t settled, finished;
	const struct profile_order *taken;
	uint32_t serial;                 /* of that */
	uint32_t run;                    /* that it began */
	double speed;                    /* of the scaled clock since `read_clock` */
	bool limited;                    /* its time is over: schedules have their last limits */
	uint64_t start_clock, end_clock; /* on the port's clock */
	uint64_t read_clock;             /* up to where the clocks below are */
	double scaled, unscaled;         /* cycles of the profile, since it began */
	uint64_t sent;                   /* in the run */
} __rte_cache_aligned;

struct profile {
	char name[PROFILE_NAME_BYTES];
	struct tester_port *port;
	struct profile_part *parts; /* of each sender of the port */

	/* The control thread's. */
	struct profile_plan plan; /* as last given; serial 0: none was */
	unsigned nb_streams;
	struct stream **streams; /* whole, or first parts (stream_part.h) */
	double *scales;          /* of each stream, beside the profile's */
	double scale;            /* as asked, a pause aside */
	bool paused;
};

/* All that run or did of a port; replaced as a whole. */
struct profile_set {
	unsigned count;
	struct profile *profiles[];
};

#endif
