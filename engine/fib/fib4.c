/* SPDX-License-Identifier: BSD-3-Clause */
#include "fib4.h"

#include "core/memory.h"
#include "core/rcu.h"
#include "core/worker.h"
#include "prefix_table.h"

#include <errno.h>
#include <rte_branch_prediction.h>
#include <rte_pause.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_WORDS (1u << 24)
/* Two million hosts may each lie in a /24 of its own. Not more than 2^23 groups, so that each
 * word is in reach of a signed index of 32 bits. */
#define GROUPS_MAX (1u << 21)
#define NO_GROUP UINT32_MAX

struct fib4 fib4;
void (*fib4_lookup)(const uint32_t *addresses, uint32_t *next_hops, unsigned count);

/* The writer's view of a group. */
struct group {
	uint32_t prefixes; /* that are longer than /24 */
	uint32_t link;     /* the group that was retired after it */
	uint64_t token;    /* may be used again when this has passed */
};

static struct group *groups;
static uint32_t nb_groups, nb_retired;       /* ever used; of those, waiting to be again */
static uint32_t first_retired, last_retired; /* oldest first */
static uint32_t default_word;

static uint32_t word_of(uint8_t length, uint32_t next_hop)
{
	return (uint32_t)length << 24 | next_hop;
}

static uint32_t *group_words(uint32_t group)
{
	return fib4.groups + (uint64_t)group * FIB4_GROUP_WORDS;
}

static void word_set(uint32_t *place, uint32_t word)
{
	__atomic_store_n(place, word, __ATOMIC_RELAXED);
}

static const struct fib4_lookup_way *best_way(void)
{
	unsigned best = 0;

	for (unsigned i = 1; i < FIB4_LOOKUP_WAYS; i++)
		if (fib4_lookup_ways[i].present != NULL && fib4_lookup_ways[i].present())
			best = i;
	return &fib4_lookup_ways[best];
}

int fib4_create(unsigned routes, uint32_t default_next_hop)
{
	int rc = rcu_start(WORKERS_MAX);

	fib4.first = memory_map(FIRST_WORDS * sizeof(*fib4.first));
	fib4.groups = memory_map((size_t)GROUPS_MAX * FIB4_GROUP_WORDS * sizeof(*fib4.groups));
	groups = calloc(GROUPS_MAX, sizeof(*groups));
	if (rc == 0)
		rc = prefix_table_create(routes);
	if (fib4.first == NULL || fib4.groups == NULL || groups == NULL || rc != 0) {
		fprintf(stderr,
			"routes: no memory for %u prefixes: 64 MB, 16 bytes a prefix, and 1 KB for "
			"each /24 that holds longer ones\n",
			routes);
		return -ENOMEM;
	}
	default_word = word_of(0, default_next_hop);
	for (uint32_t i = 0; i < FIRST_WORDS; i++)
		fib4.first[i] = default_word;
	nb_groups = nb_retired = 0;
	fib4_lookup = best_way()->lookup;
	return 0;
}

/* The group that was retired longest ago if no reader can hold it any more, else a new one. Only
 * when there is no new one does the writer wait: for less than a walk of each worker. */
static uint32_t group_take(void)
{
	uint32_t group = first_retired;

	if (nb_retired > 0 && nb_groups == GROUPS_MAX)
		while (!rcu_passed(groups[group].token))
			rte_pause();
	if (nb_retired > 0 && rcu_passed(groups[group].token)) {
		first_retired = groups[group].link;
		nb_retired--;
		return group;
	}
	return nb_groups == GROUPS_MAX ? NO_GROUP : nb_groups++;
}

static void group_retire(uint32_t group)
{
	groups[group].token = rcu_token();
	if (nb_retired++ == 0)
		first_retired = group;
	else
		groups[last_retired].link = group;
	last_retired = group;
}

/* Words of prefixes that are not longer than the new word's become the new word. A group's
 * number is more than any of them. */
static void words_cover(uint32_t *words, uint32_t count, uint32_t word)
{
	uint32_t limit = (word & ~FIB4_VALUE) + FIB4_NEXT_HOPS;

	for (uint32_t i = 0; i < count; i++)
		if (words[i] < limit)
			word_set(&words[i], word);
}

/* Words of the prefix that is taken away, known by its length, become its parent's. */
static void words_uncover(uint32_t *words, uint32_t count, uint8_t length, uint32_t word)
{
	for (uint32_t i = 0; i < count; i++)
		if (words[i] >> 24 == length)
			word_set(&words[i], word);
}

static void short_cover(uint32_t prefix, uint8_t length, uint32_t word)
{
	uint32_t *words = &fib4.first[prefix >> 8], count = 1u << (24 - length);

	words_cover(words, count, word);
	for (uint32_t i = 0; i < count; i++)
		if (unlikely(words[i] & FIB4_GROUP))
			words_cover(group_words(words[i] & FIB4_VALUE), FIB4_GROUP_WORDS, word);
}

static void short_uncover(uint32_t prefix, uint8_t length, uint32_t word)
{
	uint32_t *words = &fib4.first[prefix >> 8], count = 1u << (24 - length);

	words_uncover(words, count, length, word);
	for (uint32_t i = 0; i < count; i++)
		if (unlikely(words[i] & FIB4_GROUP))
			words_uncover(
				group_words(words[i] & FIB4_VALUE), FIB4_GROUP_WORDS, length, word);
}

static uint32_t words_of_long(uint8_t length)
{
	return 1u << (32 - length);
}

/* A group that is new is complete before anyone can get to it. */
static int long_cover(uint32_t prefix, uint8_t length, uint32_t word, bool known)
{
	uint32_t *first = &fib4.first[prefix >> 8], old = *first, group, *words;
	bool grouped = old & FIB4_GROUP;

	group = grouped ? old & FIB4_VALUE : group_take();
	if (group == NO_GROUP)
		return -ENOSPC;
	words = group_words(group);
	if (!grouped) {
		groups[group].prefixes = 0;
		for (uint32_t i = 0; i < FIB4_GROUP_WORDS; i++)
			word_set(&words[i], old);
	}
	words_cover(words + (prefix & 255), words_of_long(length), word);
	groups[group].prefixes += !known;
	if (!grouped)
		__atomic_store_n(first, FIB4_GROUP | group, __ATOMIC_RELEASE);
	return 0;
}

/* Without prefixes of its own all words of the group are those of the one that holds it. */
static void long_uncover(uint32_t prefix, uint8_t length, uint32_t word)
{
	uint32_t *first = &fib4.first[prefix >> 8], group = *first & FIB4_VALUE;
	uint32_t *words = group_words(group);

	words_uncover(words + (prefix & 255), words_of_long(length), length, word);
	if (--groups[group].prefixes > 0)
		return;
	word_set(first, words[0]);
	group_retire(group);
}

int fib4_add(uint32_t prefix, uint8_t length, uint32_t next_hop)
{
	uint32_t word = word_of(length, next_hop), before;
	bool known = prefix_table_find(prefix, length, &before);
	int rc;

	if (next_hop >= FIB4_NEXT_HOPS)
		return -EINVAL;
	if (known && before == next_hop)
		return 0;
	rc = prefix_table_set(prefix, length, next_hop);
	if (rc != 0)
		return rc;
	if (length <= 24) {
		short_cover(prefix, length, word);
		return 0;
	}
	rc = long_cover(prefix, length, word, known);
	if (rc != 0)
		prefix_table_remove(prefix, length);
	return rc;
}

int fib4_delete(uint32_t prefix, uint8_t length)
{
	uint32_t word = default_word, next_hop;
	uint8_t parent;

	if (!prefix_table_find(prefix, length, &next_hop))
		return -ENOENT;
	prefix_table_remove(prefix, length);
	if (prefix_table_parent(prefix, length, &parent, &next_hop))
		word = word_of(parent, next_hop);
	if (length <= 24)
		short_uncover(prefix, length, word);
	else
		long_uncover(prefix, length, word);
	return 0;
}

bool fib4_find(uint32_t prefix, uint8_t length, uint32_t *next_hop)
{
	return prefix_table_find(prefix, length, next_hop);
}

unsigned fib4_count(void)
{
	return prefix_table_count();
}

unsigned fib4_group_count(void)
{
	return nb_groups - nb_retired;
}
