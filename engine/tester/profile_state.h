/* SPDX-License-Identifier: BSD-3-Clause */
/* A profile as the control thread and the port's worker have it between them: profile.h. */
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

/* The task of a profile; never changed once it is given, but for when its schedules are due. */
struct profile_order {
	uint32_t serial; /* no two of a profile are alike */
	uint32_t run;    /* number of the start; grows */
	bool stop;
	double scale;             /* of the rates; 0: paused */
	uint64_t at_tsc;          /* no frame is sent before; 0: at once */
	uint64_t duration_clocks; /* from the first frame on, pauses included; 0: without end */
	uint64_t packets;         /* 0: without end */
	unsigned nb_shared;       /* streams that have the first schedule together */
	struct due_heap due[PROFILE_CLOCKS]; /* the worker's */
	unsigned nb_scaled;                  /* schedules by the first clock, before the others */
	unsigned nb_schedules;
	struct schedule *schedules[];
};

struct profile {
	char name[PROFILE_NAME_BYTES];
	struct tester_port *port;
	const struct profile_order *order __rte_cache_aligned;

	/* The worker's. */
	const struct profile_order *taken __rte_cache_aligned;
	uint32_t serial;                 /* of that */
	double speed;                    /* of the scaled clock since `read_clock` */
	uint32_t run;                    /* that it began */
	uint32_t finished;               /* that it sent to the end */
	bool limited;                    /* its time is over: schedules have their last limits */
	uint64_t start_clock, end_clock; /* on the port's clock */
	uint64_t read_clock;             /* up to where the clocks below are */
	double scaled, unscaled;         /* cycles of the profile, since it began */
	uint64_t sent;                   /* in the run */

	/* The control thread's. */
	unsigned nb_streams;
	struct stream **streams;
	double *scales; /* of each stream, beside the profile's */
	double scale;   /* as asked, a pause aside */
	bool paused;
	uint32_t nb_orders;
	struct profile_order *past; /* in use until the worker has walked since `past_token` */
	uint64_t past_token;
};

/* All that run or did of a port; replaced as a whole. */
struct profile_set {
	unsigned count;
	struct profile *profiles[];
};

#endif
