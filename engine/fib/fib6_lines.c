/* SPDX-License-Identifier: BSD-3-Clause */
#include "fib6_lines.h"

#include "core/memory.h"
#include "core/rcu.h"

#include <errno.h>
#include <rte_pause.h>
#include <stdlib.h>

/* 256 MB, of which only what is used is there. */
#define LINES_MAX (1u << 22)
#define DEPTH_MAX 40
#define LENGTH_MAX 64
/* The entry that matches always: behind all prefixes. */
#define DEFAULT FIB6_LINE_PREFIXES

/* The writer's view of a retired line. */
struct retired {
	uint64_t token; /* may be used again when this has passed */
	uint32_t link;  /* the group that was retired after it */
};

static struct retired *retired;
static uint32_t nb_lines, nb_retired;        /* ever used; of those, waiting to be again */
static uint32_t first_retired, last_retired; /* oldest first */

int fib6_lines_create(void)
{
	fib6.lines = memory_map(LINES_MAX * sizeof(*fib6.lines));
	retired = calloc(LINES_MAX, sizeof(*retired));
	nb_lines = nb_retired = 0;
	return fib6.lines == NULL || retired == NULL ? -ENOMEM : 0;
}

unsigned fib6_line_count(void)
{
	return nb_lines - nb_retired;
}

/* One is kept for those that only take another's place. */
bool fib6_lines_left(unsigned lines)
{
	return fib6_line_count() + lines < LINES_MAX;
}

/* The group that was retired longest ago if no reader can hold it any more, else a new one. Only
 * when there is no new one does the writer wait: for less than a walk of each worker. */
static uint32_t line_take(void)
{
	uint32_t line = first_retired;

	if (nb_lines == LINES_MAX)
		while (!rcu_passed(retired[line].token))
			rte_pause();
	if (nb_retired == 0 || !rcu_passed(retired[line].token))
		return nb_lines++;
	first_retired = retired[line].link;
	nb_retired--;
	return line;
}

void fib6_line_retire(uint32_t line_word)
{
	uint32_t line = line_word & FIB6_LINE_NUMBER;

	retired[line].token = rcu_token();
	if (nb_retired++ == 0)
		first_retired = line;
	else
		retired[last_retired].link = line;
	last_retired = line;
}

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
	uint32_t number = line_take();

	fib6.lines[number] = *line;
	return FIB6_LINE | (depth - FIB6_FIRST_BITS) / 8 << FIB6_LINE_DEPTH_SHIFT | number;
}

bool fib6_line_holds(unsigned depth, uint8_t length)
{
	return depth <= DEPTH_MAX && length <= depth + FIB6_LINE_BITS && length <= LENGTH_MAX;
}

uint32_t fib6_line_default(uint32_t line_word)
{
	return turn_word(fib6_line_depth(line_word), line_of(line_word)->words[DEFAULT]);
}

/* Words that are no prefix of the line leave out all bits, as the default does. */
static unsigned count_prefixes(const struct fib6_line *line)
{
	unsigned count = 0;

	while (line->words[count] >> FIB6_LENGTH_SHIFT < FIB6_LINE_BITS)
		count++;
	return count;
}

unsigned fib6_line_entries(uint32_t line_word, struct fib6_line_entry entries[FIB6_LINE_PREFIXES])
{
	const struct fib6_line *line = line_of(line_word);
	unsigned count = count_prefixes(line), depth = fib6_line_depth(line_word);

	for (unsigned i = 0; i < count; i++)
		entries[i] =
			(struct fib6_line_entry){line->keys[i], turn_word(depth, line->words[i])};
	return count;
}

static void default_set(struct fib6_line *line, uint32_t word)
{
	for (unsigned i = count_prefixes(line); i <= DEFAULT; i++)
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

uint32_t fib6_line_with(uint32_t old, unsigned depth, struct fib6_line_entry entry)
{
	uint32_t word = turn_word(depth, entry.word);
	struct fib6_line line = {0};
	unsigned count, i;

	if (old & FIB6_LINE)
		line = *line_of(old);
	else
		for (i = 0; i <= DEFAULT; i++)
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

uint32_t fib6_line_without(uint32_t line_word, uint32_t key, uint8_t length)
{
	unsigned depth = fib6_line_depth(line_word), count, i;
	struct fib6_line line = *line_of(line_word);

	count = count_prefixes(&line);
	if (count == 1)
		return fib6_line_default(line_word);
	i = find_prefix(&line, count, key, depth + FIB6_LINE_BITS - length);
	for (; i < count; i++) {
		/* The one behind the last is the default. */
		line.keys[i] = line.keys[i + 1];
		line.words[i] = line.words[i + 1];
	}
	return line_store(depth, &line);
}

uint32_t fib6_line_with_default(uint32_t line_word, uint32_t word)
{
	unsigned depth = fib6_line_depth(line_word);
	struct fib6_line line = *line_of(line_word);

	default_set(&line, turn_word(depth, word));
	return line_store(depth, &line);
}
