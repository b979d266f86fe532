/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In which order and when a port sends its streams' frames. Continuous streams share one
 * schedule, in which each has slots in proportion to its rate, spread evenly; a burst has
 * a schedule of its own, so that its end changes nothing for the others.
 */
#ifndef LINERATE_SCHEDULE_H
#define LINERATE_SCHEDULE_H

#include "stream.h"

#include <stdint.h>

#define SCHEDULE_SLOTS_MAX 65536

struct schedule {
	double pps;          /* of the trial; infinite when unpaced */
	double full_pps;     /* at full scale */
	uint64_t limit;      /* frames to send in the trial; UINT64_MAX: until its end */
	uint64_t burst;      /* limit of a burst; 0: continuous */
	uint64_t sent;       /* in the trial */
	uint64_t not_before; /* clock; no two bursts without a gap while catching up */
	uint32_t position;
	uint32_t nb_slots;
	struct stream **slots;
};

/* Makes the schedule of these streams, whose pps are known. Returns 0 or -ENOMEM. */
int schedule_create(struct schedule *schedule, struct stream *const *streams, unsigned count);

#endif
