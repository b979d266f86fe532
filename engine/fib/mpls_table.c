/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpls_table.h"

#include "core/memory.h"

#include <errno.h>
#include <rte_malloc.h>
#include <stdio.h>

uint32_t *mpls_table;

int mpls_table_create(void)
{
	mpls_table = rte_zmalloc_socket("mpls table", sizeof(*mpls_table) * 2 * MPLS_LABELS,
		RTE_CACHE_LINE_SIZE, memory_socket());
	if (mpls_table == NULL) {
		fprintf(stderr, "mpls: no memory for the label table (8 MB)\n");
		return -ENOMEM;
	}
	return 0;
}
