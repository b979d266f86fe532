/* SPDX-License-Identifier: BSD-3-Clause */
#include "mac_table.h"

#include "core/clock.h"
#include "core/memory.h"

#include <errno.h>
#include <rte_malloc.h>
#include <rte_spinlock.h>

/* Buckets that are looked through a tick: all of 16,384 stations in about a second. */
#define BUCKETS_A_TICK 64u

struct mac_table mac_table;

static rte_spinlock_t lock = RTE_SPINLOCK_INITIALIZER;
static uint32_t next_bucket;

static uint32_t clock_ms(void)
{
	return (uint32_t)(clock_now() / (rte_get_tsc_hz() / 1000));
}

int mac_table_create(unsigned stations, uint32_t ageing_ms)
{
	uint32_t buckets = rte_align32pow2(RTE_MAX(stations / MAC_TABLE_WAYS, 1u));

	mac_table.buckets = rte_zmalloc_socket("mac_table", buckets * sizeof(struct mac_bucket),
		RTE_CACHE_LINE_SIZE, memory_socket());
	if (mac_table.buckets == NULL)
		return -ENOMEM;
	mac_table.mask = buckets - 1;
	mac_table.ageing = ageing_ms;
	mac_table.now = clock_ms();
	return 0;
}

/* An entry of the bucket that is free or too old, or NULL. */
static struct mac_entry *free_entry(struct mac_bucket *bucket)
{
	for (unsigned i = 0; i < MAC_TABLE_WAYS; i++)
		if (bucket->entries[i].key == 0 ||
			!mac_entry_fresh(&bucket->entries[i], mac_table.now))
			return &bucket->entries[i];
	return NULL;
}

/* A reader that meets the entry under way finds no key, and floods. */
static void replace(struct mac_entry *entry, uint64_t key, uint32_t port, uint32_t now)
{
	__atomic_store_n(&entry->key, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&entry->port, port, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->seen, now, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->key, key, __ATOMIC_RELEASE);
}

void mac_table_learn(uint64_t key, uint32_t port)
{
	uint32_t now = __atomic_load_n(&mac_table.now, __ATOMIC_RELAXED);
	struct mac_entry *entry;

	rte_spinlock_lock(&lock);
	entry = mac_table_find(key);
	if (entry != NULL) {
		__atomic_store_n(&entry->port, port, __ATOMIC_RELEASE);
		__atomic_store_n(&entry->seen, now, __ATOMIC_RELAXED);
	} else {
		entry = free_entry(mac_table_bucket(key, false));
		if (entry == NULL)
			entry = free_entry(mac_table_bucket(key, true));
		if (entry != NULL)
			replace(entry, key, port, now);
	}
	rte_spinlock_unlock(&lock);
}

void mac_table_tick(void)
{
	uint32_t now = clock_ms();

	__atomic_store_n(&mac_table.now, now, __ATOMIC_RELAXED);
	rte_spinlock_lock(&lock);
	for (unsigned i = 0; i < BUCKETS_A_TICK; i++) {
		struct mac_bucket *bucket = &mac_table.buckets[next_bucket++ & mac_table.mask];

		for (unsigned way = 0; way < MAC_TABLE_WAYS; way++)
			if (bucket->entries[way].key != 0 &&
				!mac_entry_fresh(&bucket->entries[way], now))
				__atomic_store_n(&bucket->entries[way].key, 0, __ATOMIC_RELEASE);
	}
	rte_spinlock_unlock(&lock);
}
