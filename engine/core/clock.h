/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TSC, for whatever lets time pass between packets: neighbours, stations, delays, the rate of
 * ICMP errors. Tests stop it, and set it as they want time to pass.
 */
#ifndef LINERATE_CLOCK_H
#define LINERATE_CLOCK_H

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <stdint.h>

/* Alone on its cache line: read by all clock users, written only by tests. */
struct test_clock {
	uint64_t stopped_at; /* 0: it runs */
} __rte_cache_aligned;
extern struct test_clock test_clock;

static inline uint64_t clock_now(void)
{
	uint64_t stopped_at = __atomic_load_n(&test_clock.stopped_at, __ATOMIC_RELAXED);

	return likely(stopped_at == 0) ? rte_rdtsc() : stopped_at;
}

/* For tests: stops the clock if it runs, and moves it. */
void clock_advance(uint64_t clocks);

#endif
