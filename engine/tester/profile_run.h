/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles at work: one sender's part of each. */
#ifndef LINERATE_PROFILE_RUN_H
#define LINERATE_PROFILE_RUN_H

#include <rte_mbuf.h>

struct tester_sender;

/* While the port has all frames that the sender made: takes orders, says so, and makes frames that
 * are due, at most `room`; returns how many. */
unsigned profiles_make(struct tester_sender *sender, struct rte_mbuf **mbufs, unsigned room);
/* Takes orders, while the port has no room for frames. */
void profiles_follow(struct tester_sender *sender);

#endif
