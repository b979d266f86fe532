/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When each of a sender's schedules is to be looked at next, the earliest first: one that has
 * frames to send pays nothing for the thousands that wait, and nor does a poll without any.
 *
 * A heap of four: half as deep as one of two, and the four below a place share a cache line.
 */
#ifndef LINERATE_DUE_HEAP_H
#define LINERATE_DUE_HEAP_H

#include <rte_branch_prediction.h>
#include <stdbool.h>
#include <stdint.h>

#define DUE_NEVER UINT64_MAX

struct due {
	uint64_t clock;
	uint32_t number; /* of the schedule; those of one time go in their order */
};

struct due_heap {
	unsigned count;
	struct due *dues;
	void *memory;
};

/* For schedules 0 to `count` - 1. Returns 0 or -ENOMEM. */
int due_heap_create(struct due_heap *heap, unsigned count);
void due_heap_free(struct due_heap *heap);
/* All are to be looked at, in their order. */
void due_heap_restart(const struct due_heap *heap);
/* The first one is next to be looked at then. */
void due_heap_delay(const struct due_heap *heap, uint64_t clock);

/* When the first one is to be looked at; DUE_NEVER: none is. */
static inline uint64_t due_heap_clock(const struct due_heap *heap)
{
	return likely(heap->count > 0) ? heap->dues[0].clock : DUE_NEVER;
}

/* The first one: the heap is not empty. */
static inline uint32_t due_heap_number(const struct due_heap *heap)
{
	return heap->dues[0].number;
}

#endif
