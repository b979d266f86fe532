/* SPDX-License-Identifier: BSD-3-Clause */
#include "rcu.h"

#include <errno.h>
#include <rte_cycles.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WAIT_US 100
#define WAIT_MAX_S 2

struct rte_rcu_qsbr *rcu;

int rcu_start(unsigned readers)
{
	if (rcu != NULL)
		return 0;
	rcu = aligned_alloc(RTE_CACHE_LINE_SIZE,
		RTE_ALIGN_CEIL(rte_rcu_qsbr_get_memsize(readers), RTE_CACHE_LINE_SIZE));
	if (rcu == NULL || rte_rcu_qsbr_init(rcu, readers) != 0) {
		fprintf(stderr, "out of memory\n");
		return -ENOMEM;
	}
	return 0;
}

/* By the clock: on a busy host a sleep of 100 us may take some milliseconds. */
bool rcu_wait(void)
{
	uint64_t token = rcu_token();
	uint64_t end = rte_rdtsc() + WAIT_MAX_S * rte_get_tsc_hz();

	while (!rcu_passed(token)) {
		if (rte_rdtsc() > end)
			return false;
		usleep(WAIT_US);
	}
	return true;
}
