/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

/* Where tests begin: at the same time in each run. */
#define TEST_START (1ull << 40)

struct test_clock test_clock;

void clock_advance(uint64_t clocks)
{
	uint64_t runs = 0;

	(void)__atomic_compare_exchange_n(&test_clock.stopped_at, &runs, TEST_START, false,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED);
	__atomic_fetch_add(&test_clock.stopped_at, clocks, __ATOMIC_RELAXED);
}
