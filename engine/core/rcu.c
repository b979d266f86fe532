/* SPDX-License-Identifier: BSD-3-Clause */
#include "rcu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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
