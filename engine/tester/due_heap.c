/* SPDX-License-Identifier: BSD-3-Clause */
#include "due_heap.h"

#include <errno.h>
#include <rte_common.h>
#include <stdlib.h>

#define CHILDREN 4

int due_heap_create(struct due_heap *heap, unsigned count)
{
	/* So that the first one's children, and all others', begin a line. */
	size_t skipped = CHILDREN - 1;
	size_t bytes = RTE_ALIGN_CEIL((count + skipped) * sizeof(struct due), RTE_CACHE_LINE_SIZE);

	*heap = (struct due_heap){.memory = aligned_alloc(RTE_CACHE_LINE_SIZE, bytes)};
	if (heap->memory == NULL)
		return -ENOMEM;
	heap->dues = (struct due *)heap->memory + skipped;
	heap->count = count;
	due_heap_restart(heap);
	return 0;
}

void due_heap_free(struct due_heap *heap)
{
	free(heap->memory);
	*heap = (struct due_heap){0};
}

void due_heap_restart(const struct due_heap *heap)
{
	for (unsigned i = 0; i < heap->count; i++)
		heap->dues[i] = (struct due){0, i};
}

static inline bool is_before(struct due one, struct due other)
{
	return one.clock != other.clock ? one.clock < other.clock : one.number < other.number;
}

static inline unsigned first_of(const struct due *dues, unsigned from, unsigned end)
{
	unsigned first = from;

	for (unsigned i = from + 1; i < end; i++)
		first = is_before(dues[i], dues[first]) ? i : first;
	return first;
}

void due_heap_delay(const struct due_heap *heap, uint64_t clock)
{
	struct due moved = {clock, heap->dues[0].number};
	unsigned at = 0;

	for (unsigned from = 1; from < heap->count; from = CHILDREN * at + 1) {
		unsigned end = from + CHILDREN;
		unsigned next = likely(end <= heap->count)
					? first_of(heap->dues, from, end)
					: first_of(heap->dues, from, heap->count);

		if (!is_before(heap->dues[next], moved))
			break;
		heap->dues[at] = heap->dues[next];
		at = next;
	}
	heap->dues[at] = moved;
}
