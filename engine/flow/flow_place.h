/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flow's place in the table: buckets, records, numbers. For the table's own files: the walk of
 * vectors is in flow_lookup.c, timers and orders in flow_expire.c.
 */
#ifndef LINERATE_FLOW_PLACE_H
#define LINERATE_FLOW_PLACE_H

#include "flow_hash.h"
#include "flow_table.h"

#include <rte_branch_prediction.h>
#include <string.h>

#define FLOW_TCP_FIN 0x01
#define FLOW_TCP_RST 0x04

/* A key as words; of a packet and of a record alike. */
struct flow_words {
	uint64_t first, second;
};

static __rte_always_inline struct flow_words flow_words(const struct flow_key *key)
{
	struct flow_words words;

	memcpy(&words, key, sizeof(words));
	return words;
}

static __rte_always_inline bool flow_words_same(struct flow_words a, struct flow_words b)
{
	return ((a.first ^ b.first) | (a.second ^ b.second)) == 0;
}

static __rte_always_inline uint64_t flow_words_hash(
	const struct flow_table *table, struct flow_words words)
{
	return flow_hash_key(words.first, words.second, table->secrets);
}

/* A packet's contribution to its flow. */
struct flow_addition {
	uint32_t bytes;
	uint8_t direction;
	uint8_t tcp_flags;
	uint8_t l3_offset;
	uint8_t l3_byte;
};

/* The number of no record: that of one that no packet is of. */
static inline uint32_t flow_none(const struct flow_table *table)
{
	return table->capacity;
}

/* `addresses6`: in the frame, source first; of IPv6. Returns flow_none() when there is none. */
uint32_t flow_find(const struct flow_table *table, struct flow_words words,
	const uint8_t *addresses6, enum flow_direction direction);
/* Creates a flow that is not in the table. Returns flow_none() when it is full. */
uint32_t flow_create(struct flow_table *table, struct flow_words words, const uint8_t *addresses6,
	enum flow_direction direction);
/* Out of the buckets; the record stays. */
void flow_take_out(struct flow_table *table, uint32_t index);
/* The number may be given to another flow. */
void flow_free_number(struct flow_table *table, uint32_t index);
/* The first packet of a direction. */
void flow_note_first(struct flow_table *table, uint32_t index, enum flow_direction direction);
/* FIN or RST was seen. */
void flow_note_tcp_end(struct flow_table *table, uint32_t index);
/* To the exporter. Returns false, and counts, when its ring is full. */
bool flow_tell(struct flow_table *table, uint32_t index, enum flow_end_reason reason);
/* To the offload thread. Returns false when its ring is full. */
bool flow_notice(struct flow_table *table, uint32_t mark, enum flow_notice_what what);

static __rte_always_inline bool flow_same6(const struct flow_addresses6 *known,
	const uint8_t *addresses6, enum flow_direction direction)
{
	return memcmp(known->low, &addresses6[(size_t)16 * direction], 16) == 0 &&
	       memcmp(known->high, &addresses6[(size_t)16 * !direction], 16) == 0;
}

static __rte_always_inline void flow_add(
	struct flow_table *table, uint32_t index, const struct flow_addition *addition)
{
	struct flow_record *record = &table->records[index];
	unsigned direction = addition->direction;

	if (unlikely(record->packets[direction] == 0))
		flow_note_first(table, index, (enum flow_direction)direction);
	record->packets[direction]++;
	record->bytes[direction] += addition->bytes;
	record->last_seen_ms[direction] = table->now_ms;
	record->tcp_flags[direction] |= addition->tcp_flags;
	if (unlikely(addition->tcp_flags & (FLOW_TCP_FIN | FLOW_TCP_RST)))
		flow_note_tcp_end(table, index);
}

#endif
