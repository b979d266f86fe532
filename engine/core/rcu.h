/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When may what the fast path could still be reading be used again? Each worker says after each
 * walk of its graph that it holds nothing any more (a quiescent state, by rte_rcu_qsbr): one
 * store a walk, nothing a packet. Who takes something away keeps a token and asks with it.
 */
#ifndef LINERATE_RCU_H
#define LINERATE_RCU_H

#include <rte_rcu_qsbr.h>
#include <stdbool.h>
#include <stdint.h>

extern struct rte_rcu_qsbr *rcu;

/* Once, before the first token; again is harmless. `readers` at most. Returns 0 or -errno. */
int rcu_start(unsigned readers);

/* A reader's, by its own thread. What it read before rcu_quiescent() it must not use after. */
static inline void rcu_reader_start(unsigned reader)
{
	(void)rte_rcu_qsbr_thread_register(rcu, reader);
	rte_rcu_qsbr_thread_online(rcu, reader);
}

static inline void rcu_quiescent(unsigned reader)
{
	rte_rcu_qsbr_quiescent(rcu, reader);
}

/* Around a sleep, in which the reader holds nothing and need not be waited for. */
static inline void rcu_reader_pause(unsigned reader)
{
	rte_rcu_qsbr_thread_offline(rcu, reader);
}

static inline void rcu_reader_resume(unsigned reader)
{
	rte_rcu_qsbr_thread_online(rcu, reader);
}

static inline void rcu_reader_stop(unsigned reader)
{
	rte_rcu_qsbr_thread_offline(rcu, reader);
	(void)rte_rcu_qsbr_thread_unregister(rcu, reader);
}

/* A writer's: what was taken out of reach before this ... */
static inline uint64_t rcu_token(void)
{
	return rte_rcu_qsbr_start(rcu);
}

/* ... no reader has any more. */
static inline bool rcu_passed(uint64_t token)
{
	return rte_rcu_qsbr_check(rcu, token, false) == 1;
}

/* Waits, asleep, until no reader has what was taken out of reach before. Returns false after 2 s:
 * what a reader that does not walk on may be using must stay. */
bool rcu_wait(void);

#endif
