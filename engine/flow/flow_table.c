/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_table.h"

#include "core/memory.h"
#include "flow_hash.h"

#include <errno.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Buckets: at this number of flows per bucket of eight entries few buckets need another. */
#define FLOWS_A_BUCKET 4

static size_t hashed_buckets(uint32_t capacity)
{
	return rte_align32pow2(RTE_MAX(capacity / FLOWS_A_BUCKET, 2u));
}

/* Those that go on are full, but for the last of each chain: see flow_take_out() in flow_place.c.
 */
static size_t all_buckets(uint32_t capacity)
{
	return hashed_buckets(capacity) + capacity / FLOW_BUCKET_ENTRIES + 1;
}

/* Memory that is touched when it is needed; `*done` stays true while there is some. */
static void *map(size_t bytes, bool *done)
{
	void *start = memory_map(bytes);

	*done &= start != NULL;
	return start;
}

static bool map_all(struct flow_table *table)
{
	uint32_t capacity = table->capacity;
	bool done = true;

	table->buckets = map(all_buckets(capacity) * sizeof(*table->buckets), &done);
	table->records = map(((size_t)capacity + 1) * sizeof(*table->records), &done);
	table->cold = map((size_t)capacity * sizeof(*table->cold), &done);
	table->addresses6 = map((size_t)capacity * sizeof(*table->addresses6), &done);
	table->free = map((size_t)capacity * sizeof(*table->free), &done);
	return done;
}

static void unmap(void *start, size_t bytes)
{
	if (start != NULL)
		memory_unmap(start, bytes);
}

void flow_table_free(struct flow_table *table)
{
	uint32_t capacity = table->capacity;

	unmap(table->buckets, all_buckets(capacity) * sizeof(*table->buckets));
	unmap(table->records, ((size_t)capacity + 1) * sizeof(*table->records));
	unmap(table->cold, (size_t)capacity * sizeof(*table->cold));
	unmap(table->addresses6, (size_t)capacity * sizeof(*table->addresses6));
	unmap(table->free, (size_t)capacity * sizeof(*table->free));
	flow_timer_free(&table->timer);
	flow_fragments_free(&table->fragments);
	free(table);
}

struct flow_table *flow_table_create(const struct flow_table_config *config)
{
	struct flow_table *table = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*table));
	uint64_t seed = config->seed;

	if (table == NULL)
		return NULL;
	memset(table, 0, sizeof(*table));
	table->capacity = config->capacity;
	table->base = config->base;
	table->timeouts = config->timeouts;
	table->mask = (uint32_t)hashed_buckets(config->capacity) - 1;
	table->touched_buckets = table->mask + 1;
	table->secrets[0] = flow_hash_secret(&seed);
	table->secrets[1] = flow_hash_secret(&seed);
	table->sample_dice = (uint32_t)flow_hash_secret(&seed) | 1;
	flow_table_use_best(table);
	if (map_all(table) && flow_timer_create(&table->timer, config->capacity, 0) == 0 &&
		flow_fragments_create(&table->fragments, flow_hash_secret(&seed)) == 0)
		return table;
	fprintf(stderr, "flow table: no memory for %u flows; lower forwarder.flowtable.flows\n",
		config->capacity);
	flow_table_free(table);
	return NULL;
}

bool flow_table_read(const struct flow_table *table, uint32_t index, struct flow_view *view)
{
	const struct flow_record *record = &table->records[index];
	uint8_t state, generation;

	if (index >= __atomic_load_n(&table->touched, __ATOMIC_ACQUIRE))
		return false;
	state = __atomic_load_n(&record->state, __ATOMIC_ACQUIRE);
	generation = __atomic_load_n(&record->generation, __ATOMIC_ACQUIRE);
	if (state == FLOW_FREE)
		return false;
	memcpy(&view->record, record, sizeof(view->record));
	view->cold = table->cold[index];
	if (view->record.key.version == 6)
		view->addresses6 = table->addresses6[index];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return view->record.state != FLOW_FREE && view->record.generation == generation &&
	       __atomic_load_n(&record->generation, __ATOMIC_RELAXED) == generation &&
	       __atomic_load_n(&record->state, __ATOMIC_RELAXED) != FLOW_FREE;
}
