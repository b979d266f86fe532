/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of schedules against a search through all of them. */
#include "tester/due_heap.h"
#include "test.h"

#include <rte_common.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 1000

static uint64_t clocks[COUNT_MAX];

static unsigned earliest(unsigned count)
{
	unsigned first = 0;

	for (unsigned i = 1; i < count; i++)
		if (clocks[i] < clocks[first])
			first = i;
	return first;
}

static void the_earliest_is_first(void)
{
	static const unsigned counts[] = {1, 2, 3, 4, 5, 6, 21, 22, 100, COUNT_MAX};

	srand(11);
	for (unsigned c = 0; c < RTE_DIM(counts); c++) {
		unsigned count = counts[c], wrong = 0;
		struct due_heap heap;

		memset(clocks, 0, sizeof(clocks));
		CHECK_EQUAL(due_heap_create(&heap, count), 0);
		for (unsigned round = 0; round < 20000; round++) {
			unsigned first = earliest(count);

			wrong += due_heap_number(&heap) != first ||
				 due_heap_clock(&heap) != clocks[first];
			/* Few different times, so that many are due at once. */
			clocks[first] += (unsigned)rand() % 8;
			if (rand() % 5000 == 0)
				clocks[first] = DUE_NEVER;
			due_heap_delay(&heap, clocks[first]);
		}
		CHECK_EQUAL(wrong, 0);
		due_heap_restart(&heap);
		CHECK_EQUAL(due_heap_number(&heap), 0);
		CHECK_EQUAL(due_heap_clock(&heap), 0);
		due_heap_free(&heap);
	}
}

static void an_empty_one_has_none(void)
{
	struct due_heap heap;

	CHECK_EQUAL(due_heap_create(&heap, 0), 0);
	CHECK_EQUAL(due_heap_clock(&heap), DUE_NEVER);
	due_heap_free(&heap);
}

static const struct test_case cases[] = {
	{"the earliest is first", the_earliest_is_first},
	{"an empty one has none", an_empty_one_has_none},
};
TEST_MAIN(cases)
