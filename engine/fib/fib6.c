/* SPDX-License-Identifier: BSD-3-Clause */
#include "fib6.h"

#include "core/memory.h"
#include "core/rcu.h"
#include "core/worker.h"
#include "fib6_lines.h"
#include "rib6_address.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_pause.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_WORDS (1u << FIB6_FIRST_BITS)
/* 256 words each, so that all are in reach of a signed index of 32 bits. */
#define GROUPS_MAX (1u << 22)
#define LENGTH_MAX 128
/* More than one prefix can need: 13 groups on its own way, and where it is one too many for a
 * line a group and 8 lines, or 4 groups for each of the 7 others. */
#define GROUPS_AT_ONCE 64
#define LINES_AT_ONCE 16

struct fib6 fib6;
fib6_lookup_t fib6_lookup;

/* The writer's view of a group. */
struct group {
	uint32_t prefixes; /* that go on in it */
	uint32_t link;     /* the group that was retired after it */
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

	rib = rte_rib6_create("fib6", memory_socket(), &conf);
	fib6.first = memory_map(FIRST_WORDS * sizeof(*fib6.first));
	fib6.groups = memory_map((size_t)GROUPS_MAX * FIB6_GROUP_WORDS * sizeof(*fib6.groups));
	groups = calloc(GROUPS_MAX, sizeof(*groups));
	if (rc == 0)
		rc = fib6_lines_create();
	if (rib == NULL || fib6.first == NULL || fib6.groups == NULL || groups == NULL || rc != 0) {
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

/* The group that was retired longest ago if no reader can hold it any more, else a new one. Only
 * when there is no new one does the writer wait: for less than a walk of each worker. */
static uint32_t group_take(void)
{
	uint32_t group = first_retired;

	if (nb_groups == GROUPS_MAX)
		while (!rcu_passed(groups[group].token))
			rte_pause();
	if (nb_retired == 0 || !rcu_passed(groups[group].token))
		return nb_groups++;
	first_retired = groups[group].link;
	nb_retired--;
	return group;
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

/* Puts another word in the place of a line's. */
static void line_replace(uint32_t *place, uint32_t word)
{
	uint32_t old = *place;

	word_set(place, word);
	fib6_line_retire(old);
}

/* The new prefix's word wherever none of a longer one is, also further down. */
static void words_cover(uint32_t *words, uint32_t count, uint32_t word)
{
	for (uint32_t i = 0; i < count; i++)
		if (words[i] & FIB6_GROUP)
			words_cover(group_words(words[i] & ~FIB6_GROUP), FIB6_GROUP_WORDS, word);
		else if (!(words[i] & FIB6_LINE) && word_length(words[i]) <= word_length(word))
			word_set(&words[i], word);
		else if (words[i] & FIB6_LINE &&
			 word_length(fib6_line_default(words[i])) <= word_length(word))
			line_replace(&words[i], fib6_line_with_default(words[i], word));
}

/* Words of the prefix that is taken away, known by its length, become its parent's. */
static void words_uncover(uint32_t *words, uint32_t count, uint8_t length, uint32_t word)
{
	for (uint32_t i = 0; i < count; i++)
		if (words[i] & FIB6_GROUP)
			words_uncover(group_words(words[i] & ~FIB6_GROUP), FIB6_GROUP_WORDS, length,
				word);
		else if (!(words[i] & FIB6_LINE) && word_length(words[i]) == length)
			word_set(&words[i], word);
		else if (words[i] & FIB6_LINE && word_length(fib6_line_default(words[i])) == length)
			line_replace(&words[i], fib6_line_with_default(words[i], word));
}

/* A prefix, and the word for it. */
struct route {
	const uint8_t *prefix;
	uint8_t length;
	uint32_t word;
};

/* The word on the way to `prefix` in a group that its first `depth` bits lead to. */
static uint32_t *step(uint32_t group_word, const uint8_t *prefix, unsigned depth)
{
	return &group_words(group_word & ~FIB6_GROUP)[prefix[depth / 8]];
}

/* Into the words from `place` on, each of which stands for `depth` bits. */
static void place_add(uint32_t *place, unsigned depth, const struct route *route, bool known);

static void group_add(uint32_t group_word, unsigned depth, const struct route *route, bool known)
{
	groups[group_word & ~FIB6_GROUP].prefixes += !known;
	place_add(step(group_word, route->prefix, depth), depth + 8, route, known);
}

/* A group with all that the word at this depth leads to. No reader has it yet. */
static uint32_t group_of(uint32_t old, unsigned depth, const uint8_t *prefix)
{
	uint32_t group = group_take(), around = old & FIB6_LINE ? fib6_line_default(old) : old;
	struct fib6_line_entry entries[FIB6_LINE_PREFIXES];
	unsigned count = old & FIB6_LINE ? fib6_line_entries(old, entries) : 0;

	groups[group].prefixes = 0;
	for (uint32_t i = 0; i < FIB6_GROUP_WORDS; i++)
		word_set(&group_words(group)[i], around);
	for (unsigned i = 0; i < count; i++) {
		uint8_t bytes[LENGTH_MAX / 8] = {0};
		struct route route = {
			bytes, (uint8_t)word_length(entries[i].word), entries[i].word};
		uint32_t key = rte_cpu_to_be_32(entries[i].key);

		memcpy(bytes, prefix, depth / 8);
		memcpy(bytes + depth / 8, &key, sizeof(key));
		group_add(FIB6_GROUP | group, depth, &route, false);
	}
	return FIB6_GROUP | group;
}

/* To a word that is a next hop's or a line's: in a line if it fits, else in a group. What is
 * new is complete before readers get to it. */
static void word_extend(uint32_t *place, unsigned depth, const struct route *route, bool known)
{
	uint32_t old = *place, word = 0;

	if (fib6_line_holds(depth, route->length))
		word = fib6_line_with(old, depth,
			(struct fib6_line_entry){
				fib6_line_bits(route->prefix, depth), route->word});
	if (word == 0) {
		word = group_of(old, depth, route->prefix);
		group_add(word, depth, route, known);
	}
	word_set(place, word);
	if (old & FIB6_LINE)
		fib6_line_retire(old);
}

static void place_add(uint32_t *place, unsigned depth, const struct route *route, bool known)
{
	if (route->length <= depth)
		words_cover(place, 1u << (depth - route->length), route->word);
	else if (*place & FIB6_GROUP)
		group_add(*place, depth, route, known);
	else
		word_extend(place, depth, route, known);
}

/* Takes the prefix out of the words from `place` on; where it was the route's word comes. */
static void place_delete(uint32_t *place, unsigned depth, const struct route *route)
{
	uint32_t old = *place, group = old & ~FIB6_GROUP;

	if (route->length <= depth) {
		words_uncover(place, 1u << (depth - route->length), route->length, route->word);
	} else if (old & FIB6_LINE) {
		line_replace(place, fib6_line_without(old, fib6_line_bits(route->prefix, depth),
					    route->length));
	} else {
		place_delete(step(old, route->prefix, depth), depth + 8, route);
		/* Without prefixes of its own all words of the group are alike. */
		if (--groups[group].prefixes > 0)
			return;
		word_set(place, group_words(group)[0]);
		group_retire(group);
	}
}

static uint32_t *first_place(const uint8_t *prefix)
{
	return &fib6.first[(uint32_t)prefix[0] << 16 | (uint32_t)prefix[1] << 8 | prefix[2]];
}

static bool has_room(void)
{
	return fib6_group_count() + GROUPS_AT_ONCE <= GROUPS_MAX && fib6_lines_left(LINES_AT_ONCE);
}

int fib6_add(const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
	struct route route = {prefix, length, word_of(length, next_hop)};
	struct rte_rib6_node *node;
	bool known;

	if (length > LENGTH_MAX || next_hop == 0 || next_hop > FIB6_NEXT_HOP)
		return -EINVAL;
	node = rte_rib6_lookup_exact(rib, rib6_address(prefix), length);
	known = node != NULL;
	if (!known && has_room())
		node = rte_rib6_insert(rib, rib6_address(prefix), length);
	if (node == NULL)
		return -ENOSPC;
	(void)rte_rib6_set_nh(node, next_hop);
	place_add(first_place(prefix), FIB6_FIRST_BITS, &route, known);
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
		length > LENGTH_MAX ? NULL
				    : rte_rib6_lookup_exact(rib, rib6_address(prefix), length);
	struct route route = {prefix, length, 0};

	if (node == NULL)
		return -ENOENT;
	route.word = parent_word(node);
	rte_rib6_remove(rib, rib6_address(prefix), length);
	place_delete(first_place(prefix), FIB6_FIRST_BITS, &route);
	return 0;
}

bool fib6_find(const uint8_t *prefix, uint8_t length, uint32_t *next_hop)
{
	struct rte_rib6_node *node = rte_rib6_lookup_exact(rib, rib6_address(prefix), length);
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
