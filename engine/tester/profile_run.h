/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles at work: the worker's part. */
#ifndef LINERATE_PROFILE_RUN_H
#define LINERATE_PROFILE_RUN_H

#include <rte_mbuf.h>

struct tester_sender;

/* Makes frames that are due, at most `room`; returns how many. */
unsigned profiles_make(struct tester_sender *sender, struct rte_mbuf **mbufs, unsigned room);
/* Takes orders, while the port has no room for frames. */
void profiles_follow(struct tester_sender *sender);

#endif
