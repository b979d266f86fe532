/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch's table: which port a station of a VLAN was last seen on. All workers share it.
 * They look up without a lock and learn under one; a station that is known and has not moved
 * needs no learning. A bucket is a cache line of four stations, and a station may lie in
 * either of two: when both are full it is not learnt, and frames for it are flooded.
 */
#ifndef LINERATE_MAC_TABLE_H
#define LINERATE_MAC_TABLE_H

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>
#include <stdbool.h>
#include <stdint.h>

#define MAC_TABLE_WAYS 4
#define MAC_TABLE_UNKNOWN UINT32_MAX

/* `key` 0: free. Written under the lock, but `seen`, which whoever sees the station writes. */
struct mac_entry {
	uint64_t key;
	uint32_t port;
	uint32_t seen; /* milliseconds, modulo 2^32 */
};

struct mac_bucket {
	struct mac_entry entries[MAC_TABLE_WAYS];
} __rte_cache_aligned;

/* Data of lookups; it does not change while forwarding, but for the clock, every 20 ms. */
struct mac_table {
	struct mac_bucket *buckets;
	uint32_t mask;
	uint32_t ageing;
	uint32_t now; /* milliseconds */
};
extern struct mac_table mac_table;

/* The address as the first 48 bits of a load from the frame, and the VLAN above them. */
#define MAC_TABLE_ADDRESS_MASK 0xffffffffffffull
#define MAC_TABLE_KEY(address, vlan) (((address)&MAC_TABLE_ADDRESS_MASK) | (uint64_t)(vlan) << 48)

/* Room for at least this number of stations. Returns 0 or -errno. */
int mac_table_create(unsigned stations, uint32_t ageing_ms);
/* Notes that the station is on the port, now. */
void mac_table_learn(uint64_t key, uint32_t port);
/* By the control thread: moves the clock, and frees a part of what is too old. */
void mac_table_tick(void);

static __rte_always_inline uint64_t mac_table_hash(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15ull;
	return key ^ key >> 32;
}

static __rte_always_inline struct mac_bucket *mac_table_bucket(uint64_t key, bool second)
{
	uint64_t hash = mac_table_hash(key);

	return &mac_table.buckets[(second ? hash >> 40 : hash) & mac_table.mask];
}

static __rte_always_inline void mac_table_prefetch(uint64_t key)
{
	rte_prefetch0(mac_table_bucket(key, false));
}

static __rte_always_inline struct mac_entry *mac_table_find(uint64_t key)
{
	struct mac_bucket *bucket = mac_table_bucket(key, false);

	for (unsigned i = 0; i < MAC_TABLE_WAYS; i++)
		if (__atomic_load_n(&bucket->entries[i].key, __ATOMIC_ACQUIRE) == key)
			return &bucket->entries[i];
	bucket = mac_table_bucket(key, true);
	for (unsigned i = 0; i < MAC_TABLE_WAYS; i++)
		if (__atomic_load_n(&bucket->entries[i].key, __ATOMIC_ACQUIRE) == key)
			return &bucket->entries[i];
	return NULL;
}

static __rte_always_inline bool mac_entry_fresh(const struct mac_entry *entry, uint32_t now)
{
	return now - __atomic_load_n(&entry->seen, __ATOMIC_RELAXED) <= mac_table.ageing;
}

/* The station's port, or MAC_TABLE_UNKNOWN. */
static __rte_always_inline uint32_t mac_table_lookup(uint64_t key, uint32_t now)
{
	const struct mac_entry *entry = mac_table_find(key);
	uint32_t port;

	if (entry == NULL || unlikely(!mac_entry_fresh(entry, now)))
		return MAC_TABLE_UNKNOWN;
	port = __atomic_load_n(&entry->port, __ATOMIC_ACQUIRE);
	/* Another station may have taken the entry in between. */
	return likely(__atomic_load_n(&entry->key, __ATOMIC_RELAXED) == key) ? port
									     : MAC_TABLE_UNKNOWN;
}

/* The station was seen on the port: true when that was known, and is noted. */
static __rte_always_inline bool mac_table_seen(uint64_t key, uint32_t port, uint32_t now)
{
	struct mac_entry *entry = mac_table_find(key);

	if (unlikely(entry == NULL || __atomic_load_n(&entry->port, __ATOMIC_RELAXED) != port ||
		     !mac_entry_fresh(entry, now)))
		return false;
	/* Seldom, so that the line stays shared between the workers. */
	if (unlikely(__atomic_load_n(&entry->seen, __ATOMIC_RELAXED) != now))
		__atomic_store_n(&entry->seen, now, __ATOMIC_RELAXED);
	return true;
}

#endif
