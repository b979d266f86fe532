/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of profiles: their schedules, of which those stay that nothing changes for. */
#ifndef LINERATE_PROFILE_SCHEDULES_H
#define LINERATE_PROFILE_SCHEDULES_H

#include "profile_state.h"

#include <stdio.h>

/* The order that follows the profile's present one with other scales: a copy of it, but for the
 * schedules. Those of streams that have their own are the same unless `anew`. Returns NULL
 * when there is no memory, or after writing what is wrong. */
struct profile_order *profile_order_make(
	const struct profile *profile, bool anew, FILE *complaints);
/* Frees the order, and what it has that `next` (NULL: none) has not. */
void profile_order_free(struct profile_order *order, const struct profile_order *next);

#endif
