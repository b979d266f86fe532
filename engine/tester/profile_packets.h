/* SPDX-License-Identifier: BSD-3-Clause */
/* A profile's number of packets, where several senders send it: each has as many as it would send
 * while all of them together send that number. */
#ifndef LINERATE_PROFILE_PACKETS_H
#define LINERATE_PROFILE_PACKETS_H

#include "profile_state.h"

/* Says in the orders how many packets each sender sends in the run, those counted that it sent. No
 * sender makes any until the orders are given. */
void profile_packets_divide(const struct profile *profile, const struct profile_plan *plan,
	struct profile_order **orders);

#endif
