/* SPDX-License-Identifier: BSD-3-Clause */
#include "rcu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WAIT_US 100
#define WAITS 20000

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

bool rcu_wait(void)
{
	uint64_t token = rcu_token();

	for (unsigned waits = 0; waits < WAITS; waits++) {
		if (rcu_passed(token))
			return true;
		usleep(WAIT_US);
	}
	return rcu_passed(token);
}
