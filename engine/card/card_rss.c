/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive side scaling: Toeplitz hash over the IP 4-tuple, as the cards' datasheets and
 * Microsoft's "RSS hashing types" describe it; its low bits choose an entry of the indirection
 * table, which names the queue. As in real cards' registers each setting is one word, and takes
 * effect on its own.
 */
#include "card.h"

#include "core/flow_tuple.h"
#include "core/rss_key.h"

/* table[symmetric][byte position][byte value]: one look-up a byte instead of eight bit steps. */
static uint32_t table[2][FLOW_TUPLE_BYTES][256];

static void table_fill(uint32_t rows[FLOW_TUPLE_BYTES][256], const uint8_t key[RSS_KEY_BYTES])
{
	for (unsigned position = 0; position < FLOW_TUPLE_BYTES; position++) {
		uint64_t window = 0; /* 40 bits of key from this byte on */

		for (unsigned i = 0; i < 5; i++)
			window = window << 8 | key[position + i];
		for (unsigned value = 0; value < 256; value++) {
			uint32_t hash = 0;

			for (unsigned bit = 0; bit < 8; bit++)
				if (value & (0x80u >> bit))
					hash ^= (uint32_t)(window >> (8 - bit));
			rows[position][value] = hash;
		}
	}
}

void card_rss_init(void)
{
	table_fill(table[false], rss_key(false));
	table_fill(table[true], rss_key(true));
}

static uint32_t toeplitz(bool symmetric, const uint8_t *tuple, unsigned bytes)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < bytes; i++)
		hash ^= table[symmetric][i][tuple[i]];
	return hash;
}

uint32_t card_rss_hash(
	const struct card_rss *rss, const uint8_t *frame, unsigned bytes, bool *hashed)
{
	uint8_t tuple[FLOW_TUPLE_BYTES];
	unsigned fields = __atomic_load_n(&rss->fields, __ATOMIC_RELAXED);
	unsigned length = flow_tuple(frame, bytes, fields, tuple);

	*hashed = length != 0;
	return toeplitz(__atomic_load_n(&rss->symmetric, __ATOMIC_RELAXED), tuple, length);
}

uint16_t card_rss_queue(
	const struct card_rss *rss, const void *frame, unsigned bytes, uint32_t *hash)
{
	bool hashed;

	*hash = card_rss_hash(rss, frame, bytes, &hashed);
	if (!hashed)
		return 0;
	return __atomic_load_n(&rss->reta[*hash % CARD_RETA_ENTRIES], __ATOMIC_RELAXED);
}

void card_rss_spread(struct card_rss *rss, uint16_t queues)
{
	for (unsigned i = 0; i < CARD_RETA_ENTRIES; i++)
		__atomic_store_n(&rss->reta[i], (uint16_t)(i % queues), __ATOMIC_RELAXED);
}
