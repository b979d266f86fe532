/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_place.h"

#include <netinet/in.h>

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

/* A bucket that goes on where another is full. There is always one: see all_buckets() in
 * flow_table.c. */
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
