/* SPDX-License-Identifier: BSD-3-Clause */
#include "fib6.h"

#include "../memory.h"
#include "../rcu.h"
#include "../worker.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_pause.h>
#include <rte_rib6.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_WORDS (1u << FIB6_FIRST_BITS)
/* 256 words each, so that all are in reach of a signed index of 32 bits. */
#define GROUPS_MAX (1u << 22)
#define NO_GROUP UINT32_MAX
#define LENGTH_MAX 128

struct fib6 fib6;
fib6_lookup_t fib6_lookup;

/* What a group is to the writer. */
struct group {
	uint32_t prefixes; /* that go on in it */
	uint32_t link;     /* the one that was given up after it */
	uint64_t token;    /* may be used again when this has passed */
};

/* All prefixes, to find those that hold others. */
static struct rte_rib6 *rib;
static struct group *groups;
static uint32_t nb_groups, nb_retired;       /* ever used; of those, waiting to be again */
static uint32_t first_retired, last_retired; /* oldest first */
static uint32_t default_word;

static uint32_t word_of(uint8_t length, uint32_t next_hop)
{
	return (uint32_t)length << FIB6_LENGTH_SHIFT | next_hop;
}

static uint32_t word_length(uint32_t word)
{
	return word >> FIB6_LENGTH_SHIFT;
}

static uint32_t *group_words(uint32_t group)
{
	return fib6.groups + (uint64_t)group * FIB6_GROUP_WORDS;
}

static void word_set(uint32_t *place, uint32_t word)
{
	__atomic_store_n(place, word, __ATOMIC_RELEASE);
}

int fib6_create(unsigned routes, uint32_t default_next_hop)
{
	/* Where two prefixes part a node is needed too. */
	struct rte_rib6_conf conf = {.max_nodes = (int)(2 * routes)};
	int rc = rcu_start(WORKERS_MAX);

	if (rc != 0)
		return rc;
	rib = rte_rib6_create("fib6", memory_socket(), &conf);
	fib6.first = memory_map(FIRST_WORDS * sizeof(*fib6.first));
	fib6.groups = memory_map((size_t)GROUPS_MAX * FIB6_GROUP_WORDS * sizeof(*fib6.groups));
	groups = calloc(GROUPS_MAX, sizeof(*groups));
	if (rib == NULL || fib6.first == NULL || fib6.groups == NULL || groups == NULL) {
		fprintf(stderr,
			"routes: no memory for %u IPv6 prefixes: %s; raise "
			"memory.megabytes\n",
			routes, rte_strerror(rib == NULL ? rte_errno : ENOMEM));
		return -ENOMEM;
	}
	nb_groups = nb_retired = 0;
	default_word = word_of(0, default_next_hop);
	for (uint32_t i = 0; i < FIRST_WORDS; i++)
		fib6.first[i] = default_word;
	for (unsigned i = 0; i < nb_fib6_lookup_ways; i++)
		if (fib6_lookup_ways[i].present())
			fib6_lookup = fib6_lookup_ways[i].lookup;
	return 0;
}

/* The one that was given up longest ago if no reader can hold it any more, else a new one. Only
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

/* The new prefix's word wherever none of a longer one is, also further down. */
static void words_cover(uint32_t *words, uint32_t count, uint32_t word)
{
	for (uint32_t i = 0; i < count; i++)
		if (words[i] & FIB6_GROUP)
			words_cover(group_words(words[i] & ~FIB6_GROUP), FIB6_GROUP_WORDS, word);
		else if (word_length(words[i]) <= word_length(word))
			word_set(&words[i], word);
}

/* Words of the prefix that is taken away, known by its length, become its parent's. */
static void words_uncover(uint32_t *words, uint32_t count, uint8_t length, uint32_t word)
{
	for (uint32_t i = 0; i < count; i++)
		if (words[i] & FIB6_GROUP)
			words_uncover(group_words(words[i] & ~FIB6_GROUP), FIB6_GROUP_WORDS, length,
				word);
		else if (word_length(words[i]) == length)
			word_set(&words[i], word);
}

/*
 * The words on a prefix's way: place[0] among the first ones, place[i] in the i-th group. The
 * prefix has `count` words from `last` on.
 */
#define STEPS_MAX (1 + (LENGTH_MAX - FIB6_FIRST_BITS) / 8)
struct way {
	unsigned nb_groups;
	uint32_t *place[STEPS_MAX];
	uint32_t count;
};

static uint32_t first_index(const uint8_t *prefix)
{
	return (uint32_t)prefix[0] << 16 | (uint32_t)prefix[1] << 8 | prefix[2];
}

/* How many groups lie before the words of a prefix so long. */
static unsigned groups_of(uint8_t length)
{
	return length <= FIB6_FIRST_BITS ? 0 : (length - FIB6_FIRST_BITS + 7u) / 8;
}

static uint32_t words_of(uint8_t length)
{
	unsigned bits = FIB6_FIRST_BITS + 8 * groups_of(length);

	return 1u << (bits - length);
}

static uint32_t *step(uint32_t word, const uint8_t *prefix, unsigned depth)
{
	return &group_words(word & ~FIB6_GROUP)[prefix[FIB6_FIRST_BITS / 8 + depth]];
}

static void find_way(const uint8_t *prefix, uint8_t length, struct way *way)
{
	way->nb_groups = groups_of(length);
	way->count = words_of(length);
	way->place[0] = &fib6.first[first_index(prefix)];
	for (unsigned i = 0; i < way->nb_groups; i++)
		way->place[i + 1] = step(*way->place[i], prefix, i);
}

/* Every word of the new group is what its place was: nobody sees a difference. */
static int group_insert(uint32_t *place)
{
	uint32_t group = group_take();

	if (group == NO_GROUP)
		return -ENOSPC;
	groups[group].prefixes = 0;
	for (uint32_t i = 0; i < FIB6_GROUP_WORDS; i++)
		word_set(&group_words(group)[i], *place);
	word_set(place, FIB6_GROUP | group);
	return 0;
}

/* Groups that nothing goes on in any more, the deepest first, have all words alike. */
static void drop_empty(const struct way *way)
{
	for (unsigned i = way->nb_groups; i > 0; i--) {
		uint32_t group = *way->place[i - 1] & ~FIB6_GROUP;

		if (groups[group].prefixes > 0)
			return;
		word_set(way->place[i - 1], group_words(group)[0]);
		group_retire(group);
	}
}

static int make_way(const uint8_t *prefix, uint8_t length, struct way *way)
{
	int rc = 0;

	way->nb_groups = 0;
	way->count = words_of(length);
	way->place[0] = &fib6.first[first_index(prefix)];
	for (unsigned i = 0; i < groups_of(length); i++) {
		if (!(*way->place[i] & FIB6_GROUP))
			rc = group_insert(way->place[i]);
		if (rc != 0) {
			drop_empty(way);
			return rc;
		}
		way->place[++way->nb_groups] = step(*way->place[i], prefix, i);
	}
	return 0;
}

static void count_on_way(const struct way *way, int change)
{
	for (unsigned i = 0; i < way->nb_groups; i++)
		groups[*way->place[i] & ~FIB6_GROUP].prefixes += (uint32_t)change;
}

static int add_new(const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
	struct rte_rib6_node *node = rte_rib6_insert(rib, prefix, length);
	struct way way;
	int rc;

	if (node == NULL)
		return -ENOSPC;
	rc = make_way(prefix, length, &way);
	if (rc != 0) {
		rte_rib6_remove(rib, prefix, length);
		return rc;
	}
	(void)rte_rib6_set_nh(node, next_hop);
	count_on_way(&way, 1);
	words_cover(way.place[way.nb_groups], way.count, word_of(length, next_hop));
	return 0;
}

int fib6_add(const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
	struct rte_rib6_node *node;
	struct way way;

	if (length > LENGTH_MAX || next_hop == 0 || next_hop > FIB6_NEXT_HOP)
		return -EINVAL;
	node = rte_rib6_lookup_exact(rib, prefix, length);
	if (node == NULL)
		return add_new(prefix, length, next_hop);
	(void)rte_rib6_set_nh(node, next_hop);
	find_way(prefix, length, &way);
	words_cover(way.place[way.nb_groups], way.count, word_of(length, next_hop));
	return 0;
}

/* The word of the longest prefix that holds the node's. */
static uint32_t parent_word(struct rte_rib6_node *node)
{
	struct rte_rib6_node *parent = rte_rib6_lookup_parent(node);
	uint64_t next_hop = 0;
	uint8_t length = 0;

	if (parent == NULL)
		return default_word;
	(void)rte_rib6_get_depth(parent, &length);
	(void)rte_rib6_get_nh(parent, &next_hop);
	return word_of(length, (uint32_t)next_hop);
}

int fib6_delete(const uint8_t *prefix, uint8_t length)
{
	struct rte_rib6_node *node =
		length > LENGTH_MAX ? NULL : rte_rib6_lookup_exact(rib, prefix, length);
	struct way way;

	if (node == NULL)
		return -ENOENT;
	find_way(prefix, length, &way);
	words_uncover(way.place[way.nb_groups], way.count, length, parent_word(node));
	rte_rib6_remove(rib, prefix, length);
	count_on_way(&way, -1);
	drop_empty(&way);
	return 0;
}

bool fib6_find(const uint8_t *prefix, uint8_t length, uint32_t *next_hop)
{
	struct rte_rib6_node *node = rte_rib6_lookup_exact(rib, prefix, length);
	uint64_t value = 0;

	if (node == NULL)
		return false;
	(void)rte_rib6_get_nh(node, &value);
	*next_hop = (uint32_t)value;
	return true;
}

unsigned fib6_group_count(void)
{
	return nb_groups - nb_retired;
}
