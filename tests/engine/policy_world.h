/* SPDX-License-Identifier: BSD-3-Clause */
/* A port that takes rules at its own pace, and samples of many flows, for tests of the policy. */
#ifndef LINERATE_POLICY_WORLD_H
#define LINERATE_POLICY_WORLD_H

#include "flow/offload_policy.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOWS (1u << 20)

struct world {
	struct offload_policy *policy;
	unsigned places;
	uint64_t now_us, free_at_us; /* the device is at work until then */
	uint32_t rule_us;
	double samples_per_ms, owed;
	bool busy;
	struct offload_choice choice; /* that the device is carrying out */
	unsigned promotions, demotions;
	unsigned returns; /* promotions of who had been demoted */
	bool *demoted;    /* by number of record; NULL: not wanted */
};

extern uint64_t random_state;
uint32_t random_u32(void);
double random_unit(void); /* below 1 */

/* Traffic by Zipf's law: once, how much of it each rank is. */
void make_zipf(void);
/* Assigns ranks to flows. */
void shuffle(void);
uint32_t mark_of(uint32_t record);

/* `places` rules fit, each of which takes the device this long; samples a second. */
void world_start(struct world *world, unsigned places, uint32_t rule_us, double per_second);
void run_zipf(struct world *world, double seconds);
/* Load that the current rules carry, over that of the best `of_best`. */
double share(const struct world *world, unsigned of_best);

#endif
