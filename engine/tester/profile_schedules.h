/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of profiles: their schedules, of which those stay that nothing changes for. */
#ifndef LINERATE_PROFILE_SCHEDULES_H
#define LINERATE_PROFILE_SCHEDULES_H

#include "profile_state.h"

#include <stdio.h>

/* Makes the orders that follow the profile's present ones, for each of its port's senders one, by
 * the plan; but for their numbers of packets. Schedules whose streams keep their rates stay, unless
 * a run begins. Returns 0, or -ENOMEM after writing so. */
int profile_orders_make(const struct profile *profile, struct profile_plan *plan,
	struct profile_order **orders, FILE *complaints);
/* Frees orders that were not given. */
void profile_orders_drop(const struct profile *profile, struct profile_order **orders);
/* Frees the order, and what it has that `next` (NULL: none) has not. */
void profile_order_free(struct profile_order *order, const struct profile_order *next);

#endif
