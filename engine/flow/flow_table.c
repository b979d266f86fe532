/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_table.h"

#include "core/memory.h"
#include "flow_place.h"

#include <errno.h>
#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_malloc.h>
#include <rte_ring_elem.h>
#include <stdio.h>
#include <stdlib.h>

/* Buckets: at this number of flows per bucket of eight entries few buckets need another. */
#define FLOWS_A_BUCKET 4

static size_t hashed_buckets(uint32_t capacity)
{
	return rte_align32pow2(RTE_MAX(capacity / FLOWS_A_BUCKET, 2u));
}

/* Those that go on are full, but for the last of each chain: see flow_take_out(). */
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

uint32_t flow_find(const struct flow_table *table, struct flow_words words,
	const uint8_t *addresses6, enum flow_direction direction)
{
	uint64_t hash = flow_words_hash(table, words);
	uint16_t signature = flow_hash_signature(hash);
	uint32_t number = (uint32_t)hash & table->mask;

	do {
		const struct flow_bucket *bucket = &table->buckets[number];

		for (unsigned i = 0; i < FLOW_BUCKET_ENTRIES; i++) {
			uint32_t index = bucket->indices[i];

			if (bucket->signatures[i] == signature &&
				flow_words_same(flow_words(&table->records[index].key), words) &&
				(addresses6 == NULL || flow_same6(&table->addresses6[index],
							       addresses6, direction)))
				return index;
		}
		number = bucket->next;
	} while (number != 0);
	return flow_none(table);
}

/* A bucket that goes on where another is full. There is always one: see all_buckets(). */
static uint32_t bucket_new(struct flow_table *table)
{
	uint32_t number = table->free_buckets;

	if (number == 0)
		return table->touched_buckets++;
	table->free_buckets = table->buckets[number].next;
	table->buckets[number].next = 0;
	return number;
}

static void put_in(struct flow_table *table, uint64_t hash, uint32_t index)
{
	struct flow_bucket *bucket = &table->buckets[(uint32_t)hash & table->mask];

	for (;;) {
		for (unsigned i = 0; i < FLOW_BUCKET_ENTRIES; i++) {
			if (bucket->signatures[i] != 0)
				continue;
			bucket->indices[i] = index;
			bucket->signatures[i] = flow_hash_signature(hash);
			return;
		}
		if (bucket->next == 0)
			bucket->next = bucket_new(table);
		bucket = &table->buckets[bucket->next];
	}
}

/* Numbers that were used before first: their records are near. */
static uint32_t number_new(struct flow_table *table)
{
	if (table->nb_free > 0)
		return table->free[--table->nb_free];
	return table->touched < table->capacity ? table->touched : flow_none(table);
}

static uint32_t first_deadline(const struct flow_table *table, uint8_t protocol)
{
	const struct flow_timeouts *timeouts = &table->timeouts;
	uint32_t after = timeouts->idle_ms;

	if (protocol == IPPROTO_TCP)
		after = RTE_MIN(after, timeouts->closing_ms);
	if (timeouts->hard_ms != 0)
		after = RTE_MIN(after, timeouts->hard_ms);
	if (timeouts->export_ms != 0)
		after = RTE_MIN(after, timeouts->export_ms);
	return table->now_ms + after;
}

uint32_t flow_create(struct flow_table *table, struct flow_words words, const uint8_t *addresses6,
	enum flow_direction direction)
{
	uint32_t index = number_new(table), now = table->now_ms;
	struct flow_record *record = &table->records[index];
	uint8_t generation = record->generation;

	if (unlikely(index == flow_none(table)))
		return index;
	memset(record, 0, sizeof(*record));
	memcpy(&record->key, &words, sizeof(words));
	record->last_seen_ms[0] = record->last_seen_ms[1] = now;
	record->generation = generation == FLOW_GENERATION_MAX ? 1 : generation + 1;
	table->cold[index] = (struct flow_cold){.first_seen_ms = {now, now}, .exported_ms = now};
	if (addresses6 != NULL) {
		memcpy(table->addresses6[index].low, &addresses6[(size_t)16 * direction], 16);
		memcpy(table->addresses6[index].high, &addresses6[(size_t)16 * !direction], 16);
	}
	put_in(table, flow_words_hash(table, words), index);
	/* Others look at the record by flow_table_read(). */
	__atomic_store_n(&record->state, FLOW_OPEN, __ATOMIC_RELEASE);
	if (index == table->touched)
		__atomic_store_n(&table->touched, index + 1, __ATOMIC_RELEASE);
	flow_timer_add(&table->timer, index, first_deadline(table, record->key.protocol));
	table->live++;
	table->counters.created++;
	return index;
}

/* The last entry of the chain comes into the place, so that chains have no holes, and no empty
 * bucket but the first. */
static void close_gap(struct flow_table *table, struct flow_bucket *first,
	struct flow_bucket *holed, unsigned place)
{
	struct flow_bucket *before = NULL, *last = first;
	unsigned end = FLOW_BUCKET_ENTRIES;

	while (last->next != 0) {
		before = last;
		last = &table->buckets[last->next];
	}
	while (last->signatures[end - 1] == 0)
		end--;
	holed->signatures[place] = last->signatures[end - 1];
	holed->indices[place] = last->indices[end - 1];
	last->signatures[end - 1] = 0;
	if (end == 1 && before != NULL) {
		last->next = table->free_buckets;
		table->free_buckets = before->next;
		before->next = 0;
	}
}

void flow_take_out(struct flow_table *table, uint32_t index)
{
	uint64_t hash = flow_words_hash(table, flow_words(&table->records[index].key));
	struct flow_bucket *first = &table->buckets[(uint32_t)hash & table->mask];
	struct flow_bucket *bucket = first;
	uint16_t signature = flow_hash_signature(hash);

	for (;;) {
		for (unsigned i = 0; i < FLOW_BUCKET_ENTRIES; i++)
			if (bucket->signatures[i] == signature && bucket->indices[i] == index) {
				close_gap(table, first, bucket, i);
				table->live--;
				return;
			}
		bucket = &table->buckets[bucket->next];
	}
}

void flow_free_number(struct flow_table *table, uint32_t index)
{
	__atomic_store_n(&table->records[index].state, FLOW_FREE, __ATOMIC_RELAXED);
	table->free[table->nb_free++] = index;
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
