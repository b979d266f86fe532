/* SPDX-License-Identifier: BSD-3-Clause */
/* A trial: the streams run for a while, then everything drains. Control thread only. */
#ifndef LINERATE_TRIAL_H
#define LINERATE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

enum trial_state {
	TRIAL_IDLE,
	TRIAL_RUNNING,
	TRIAL_DRAINING,
	TRIAL_DONE,
};

struct trial_status {
	uint32_t number;
	enum trial_state state;
	uint64_t elapsed_us; /* of sending, on the tester's clock */
	uint64_t paused_us;  /* for which that clock stood still since the trial began */
	uint64_t asked_packets, sent_packets, received_packets;
	bool drained;
	uint64_t start_tsc, end_tsc;
	uint64_t link_waits;
};

const char *trial_state_name(enum trial_state state);
struct trial_plan {
	uint64_t duration_us;
	double scale; /* of the streams' rates */
	/* It goes on until that much of it was undisturbed (slices.h), up to the limit; 0: it ends
	 * on time. */
	uint64_t clean_us, limit_us;
};

/* Returns the trial's number, or -errno: -EBUSY while one runs, -ENODEV without a tester, -ENOMEM.
 */
int trial_start(const struct trial_plan *plan);
int trial_stop(void);
void trial_read(struct trial_status *status);
bool trial_active(void);
bool trial_draining(void);
/* Follows the trial; called by the control thread, often while it drains. */
void trial_tick(void);

#endif
