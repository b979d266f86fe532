/* SPDX-License-Identifier: BSD-3-Clause */
#include "fib6.h"

#include "core/memory.h"
#include "core/rcu.h"
#include "core/worker.h"
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
/* 256 MB, of which only what is used is there. */
#define LINES_MAX (1u << 22)
#define LINE_DEPTH_MAX 40
#define LINE_LENGTH_MAX 64
/* More than one prefix can need: 13 groups on its own way, and where it is one too many for a
 * line a group and 8 lines, or 4 groups for each of the 7 others. */
#define GROUPS_AT_ONCE 64
#define LINES_AT_ONCE 16

struct fib6 fib6;
fib6_lookup_t fib6_lookup;

/* Groups and lines are numbered. One that was retired is used again when no reader can hold it. */
struct retired {
	uint64_t token; /* may be used again when this has passed */
	uint32_t link;  /* the group that was retired after it */
};

struct pool {
	uint32_t max;
	struct retired *retired;
	uint32_t nb_used, nb_retired;         /* ever used; of those, waiting to be again */
	uint32_t first_retired, last_retired; /* oldest first */
};

/* One prefix of a line, as its word is when it lies in a group. */
struct line_entry {
	uint32_t key;
	uint32_t word;
};

/* All prefixes, to find those that hold others. */
static struct rte_rib6 *rib;
static struct pool groups = {.max = GROUPS_MAX}, lines = {.max = LINES_MAX};
static uint32_t *group_prefixes; /* that go on in the group */
static uint32_t default_word;

static bool pool_create(struct pool *pool)
{
	pool->retired = calloc(pool->max, sizeof(*pool->retired));
	pool->nb_used = pool->nb_retired = 0;
	return pool->retired != NULL;
}

static uint32_t pool_count(const struct pool *pool)
{
	return pool->nb_used - pool->nb_retired;
}

/* The one that was retired longest ago if no reader can hold it any more, else a new one. Only
 * when there is no new one does the writer wait: for less than a walk of each worker. */
static uint32_t pool_take(struct pool *pool)
{
	uint32_t number = pool->first_retired;

	if (pool->nb_used == pool->max)
		while (!rcu_passed(pool->retired[number].token))
			rte_pause();
	if (pool->nb_retired == 0 || !rcu_passed(pool->retired[number].token))
		return pool->nb_used++;
	pool->first_retired = pool->retired[number].link;
	pool->nb_retired--;
	return number;
}

static void pool_retire(struct pool *pool, uint32_t number)
{
	pool->retired[number].token = rcu_token();
	if (pool->nb_retired++ == 0)
		pool->first_retired = number;
	else
		pool->retired[pool->last_retired].link = number;
	pool->last_retired = number;
}

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
	fib6.lines = memory_map(LINES_MAX * sizeof(*fib6.lines));
	group_prefixes = calloc(GROUPS_MAX, sizeof(*group_prefixes));
	if (rc == 0 && (!pool_create(&groups) || !pool_create(&lines)))
		rc = -ENOMEM;
	if (rib == NULL || fib6.first == NULL || fib6.groups == NULL || fib6.lines == NULL ||
		group_prefixes == NULL || rc != 0) {
		fprintf(stderr,
			"routes: no memory for %u IPv6 prefixes: %s; raise "
			"memory.megabytes\n",
			routes, rte_strerror(rib == NULL ? rte_errno : ENOMEM));
		return -ENOMEM;
	}
	default_word = word_of(0, default_next_hop);
	for (uint32_t i = 0; i < FIRST_WORDS; i++)
		fib6.first[i] = default_word;
	for (unsigned i = 0; i < nb_fib6_lookup_ways; i++)
		if (fib6_lookup_ways[i].present())
			fib6_lookup = fib6_lookup_ways[i].lookup;
	return 0;
}

static void line_retire(uint32_t line_word)
{
	pool_retire(&lines, line_word & FIB6_LINE_NUMBER);
}

/*
 * A line is never changed. What changes it makes another, to be stored in the word's place; then
 * the old one is retired.
 */

static const struct fib6_line *line_of(uint32_t line_word)
{
	return &fib6.lines[line_word & FIB6_LINE_NUMBER];
}

/* A word of a line has in place of its length how many bits of the key it leaves out. A word
 * of a group has it the other way round; this makes each of the other. */
static uint32_t turn_word(unsigned depth, uint32_t word)
{
	uint32_t end = depth + FIB6_LINE_BITS;

	return (end - (word >> FIB6_LENGTH_SHIFT)) << FIB6_LENGTH_SHIFT | (word & FIB6_NEXT_HOP);
}

/* A new copy, whose number is in the word returned. */
static uint32_t line_store(unsigned depth, const struct fib6_line *line)
{
	uint32_t number = pool_take(&lines);

	fib6.lines[number] = *line;
	return FIB6_LINE | (depth - FIB6_FIRST_BITS) / 8 << FIB6_LINE_DEPTH_SHIFT | number;
}

/* Whether a word that `depth` bits lead to may go on in a line with a prefix so long. */
static bool line_holds(unsigned depth, uint8_t length)
{
	return depth <= LINE_DEPTH_MAX && length <= depth + FIB6_LINE_BITS &&
	       length <= LINE_LENGTH_MAX;
}

/* The word of what no prefix of the line matches. */
static uint32_t line_default(uint32_t line_word)
{
	return turn_word(fib6_line_depth(line_word), line_of(line_word)->words[FIB6_LINE_PREFIXES]);
}

/* Words that are no prefix of the line leave out all bits, as the default does. */
static unsigned count_prefixes(const struct fib6_line *line)
{
	unsigned count = 0;

	while (line->words[count] >> FIB6_LENGTH_SHIFT < FIB6_LINE_BITS)
		count++;
	return count;
}

/* The line's prefixes. Returns how many. */
static unsigned line_entries(uint32_t line_word, struct line_entry entries[FIB6_LINE_PREFIXES])
{
	const struct fib6_line *line = line_of(line_word);
	unsigned count = count_prefixes(line), depth = fib6_line_depth(line_word);

	for (unsigned i = 0; i < count; i++)
		entries[i] = (struct line_entry){line->keys[i], turn_word(depth, line->words[i])};
	return count;
}

static void default_set(struct fib6_line *line, uint32_t word)
{
	for (unsigned i = count_prefixes(line); i <= FIB6_LINE_PREFIXES; i++)
		line->words[i] = word;
}

/* Index of the prefix that leaves out this number of bits; `count` when there is none. */
static unsigned find_prefix(
	const struct fib6_line *line, unsigned count, uint32_t key, uint32_t out)
{
	unsigned i = 0;

	while (i < count && (line->keys[i] != key || line->words[i] >> FIB6_LENGTH_SHIFT != out))
		i++;
	return i;
}

/* The longest prefixes, which leave out the fewest bits, come first. */
static void insert_prefix(struct fib6_line *line, unsigned count, uint32_t key, uint32_t word)
{
	unsigned i = count;

	for (; i > 0 && line->words[i - 1] >> FIB6_LENGTH_SHIFT > word >> FIB6_LENGTH_SHIFT; i--) {
		line->keys[i] = line->keys[i - 1];
		line->words[i] = line->words[i - 1];
	}
	line->keys[i] = key;
	line->words[i] = word;
}

/*
 * Each of the following returns the word to store in place of the one given, which is a line's or,
 * for line_with(), may be a next hop's; then comes line_retire() with the old one.
 */

/* With one prefix more, or with another word for one that is there; 0 when the line is full. */
static uint32_t line_with(uint32_t old, unsigned depth, struct line_entry entry)
{
	uint32_t word = turn_word(depth, entry.word);
	struct fib6_line line = {0};
	unsigned count, i;

	if (old & FIB6_LINE)
		line = *line_of(old);
	else
		for (i = 0; i <= FIB6_LINE_PREFIXES; i++)
			line.words[i] = turn_word(depth, old);
	count = count_prefixes(&line);
	i = find_prefix(&line, count, entry.key, word >> FIB6_LENGTH_SHIFT);
	if (i < count)
		line.words[i] = word;
	else if (count == FIB6_LINE_PREFIXES)
		return 0;
	else
		insert_prefix(&line, count, entry.key, word);
	return line_store(depth, &line);
}

/* Without the prefix; the default's word when it was the last one. */
static uint32_t line_without(uint32_t line_word, uint32_t key, uint8_t length)
{
	unsigned depth = fib6_line_depth(line_word), count, i;
	struct fib6_line line = *line_of(line_word);

	count = count_prefixes(&line);
	if (count == 1)
		return line_default(line_word);
	i = find_prefix(&line, count, key, depth + FIB6_LINE_BITS - length);
	for (; i < count; i++) {
		/* The one behind the last is the default. */
		line.keys[i] = line.keys[i + 1];
		line.words[i] = line.words[i + 1];
	}
	return line_store(depth, &line);
}

static uint32_t line_with_default(uint32_t line_word, uint32_t word)
{
	unsigned depth = fib6_line_depth(line_word);
	struct fib6_line line = *line_of(line_word);

	default_set(&line, turn_word(depth, word));
	return line_store(depth, &line);
}

/* Puts another word in the place of a line's. */
static void line_replace(uint32_t *place, uint32_t word)
{
	uint32_t old = *place;

	word_set(place, word);
	line_retire(old);
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
			 word_length(line_default(words[i])) <= word_length(word))
			line_replace(&words[i], line_with_default(words[i], word));
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
		else if (words[i] & FIB6_LINE && word_length(line_default(words[i])) == length)
			line_replace(&words[i], line_with_default(words[i], word));
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
	group_prefixes[group_word & ~FIB6_GROUP] += !known;
	place_add(step(group_word, route->prefix, depth), depth + 8, route, known);
}

/* A group with all that the word at this depth leads to. No reader has it yet. */
static uint32_t group_of(uint32_t old, unsigned depth, const uint8_t *prefix)
{
	uint32_t group = pool_take(&groups), around = old & FIB6_LINE ? line_default(old) : old;
	struct line_entry entries[FIB6_LINE_PREFIXES];
	unsigned count = old & FIB6_LINE ? line_entries(old, entries) : 0;

	group_prefixes[group] = 0;
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

	if (line_holds(depth, route->length))
		word = line_with(old, depth,
			(struct line_entry){fib6_line_bits(route->prefix, depth), route->word});
	if (word == 0) {
		word = group_of(old, depth, route->prefix);
		group_add(word, depth, route, known);
	}
	word_set(place, word);
	if (old & FIB6_LINE)
		line_retire(old);
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
		line_replace(place,
			line_without(old, fib6_line_bits(route->prefix, depth), route->length));
	} else {
		place_delete(step(old, route->prefix, depth), depth + 8, route);
		/* Without prefixes of its own all words of the group are alike. */
		if (--group_prefixes[group] > 0)
			return;
		word_set(place, group_words(group)[0]);
		pool_retire(&groups, group);
	}
}

static uint32_t *first_place(const uint8_t *prefix)
{
	return &fib6.first[(uint32_t)prefix[0] << 16 | (uint32_t)prefix[1] << 8 | prefix[2]];
}

/* One line is kept for those that only take another's place. */
static bool has_room(void)
{
	return fib6_group_count() + GROUPS_AT_ONCE <= GROUPS_MAX &&
	       pool_count(&lines) + LINES_AT_ONCE < LINES_MAX;
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
	return pool_count(&groups);
}

unsigned fib6_line_count(void)
{
	return pool_count(&lines);
}
