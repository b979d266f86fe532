/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hash of a flow's key: both words, each with a secret of its own, multiplied to 128 bits and
 * folded. The secrets keep senders from knowing which flows share a bucket.
 */
#ifndef LINERATE_FLOW_TABLE_HASH_H
#define LINERATE_FLOW_TABLE_HASH_H

#include <rte_common.h>
#include <stdint.h>

static __rte_always_inline uint64_t flow_hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static __rte_always_inline uint64_t flow_hash_key(
	uint64_t first, uint64_t second, const uint64_t secrets[2])
{
	return flow_hash_fold(first ^ secrets[0], second ^ secrets[1]);
}

/* The part of the hash that lies in the bucket; 0 is a free place. */
static __rte_always_inline uint16_t flow_hash_signature(uint64_t hash)
{
	uint16_t signature = (uint16_t)(hash >> 48);

	return signature + (signature == 0);
}

/* Unpredictable words derived from the seed, one after another (splitmix64). */
static inline uint64_t flow_hash_secret(uint64_t *seed)
{
	uint64_t word = *seed += 0x9e3779b97f4a7c15ull;

	word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ull;
	word = (word ^ word >> 27) * 0x94d049bb133111ebull;
	return word ^ word >> 31;
}

#endif
