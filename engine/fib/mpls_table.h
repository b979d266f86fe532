/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The label table: one word for each label, at the bottom of the stack (EOS) and not. The
 * word is an adjacency's index; 0, which is no label's adjacency, says that there is none.
 */
#ifndef LINERATE_MPLS_TABLE_H
#define LINERATE_MPLS_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define MPLS_LABELS (1u << 20)
#define MPLS_TABLE_NONE 0

extern uint32_t *mpls_table;

/* A label stack entry's upper 24 bits, without the traffic class: the table's index. */
static inline uint32_t mpls_table_index(uint32_t label, bool bottom)
{
	return label << 1 | bottom;
}

int mpls_table_create(void);
static inline void mpls_table_set(uint32_t label, bool bottom, uint32_t adjacency)
{
	__atomic_store_n(&mpls_table[mpls_table_index(label, bottom)], adjacency, __ATOMIC_RELEASE);
}

static inline uint32_t mpls_table_get(uint32_t label, bool bottom)
{
	return __atomic_load_n(&mpls_table[mpls_table_index(label, bottom)], __ATOMIC_ACQUIRE);
}

#endif
