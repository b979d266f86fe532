/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines: where few prefixes go on from a word, they lie with the route that holds them in one
 * cache line, instead of groups of 256 words. The writer's side; see fib6.h for the readers'.
 *
 * A line is never changed. What changes it makes another, to be stored in the word's place;
 * then the old one is retired, and used again when no reader can hold it (rcu.h).
 */
#ifndef LINERATE_FIB6_LINES_H
#define LINERATE_FIB6_LINES_H

#include "fib6.h"

/* One prefix of a line, as its word says it when it lies in a group. */
struct fib6_line_entry {
	uint32_t key;
	uint32_t word;
};

/* Empty. Returns 0 or -ENOMEM. */
int fib6_lines_create(void);
/* Whether this number of further lines can be made. */
bool fib6_lines_left(unsigned lines);
unsigned fib6_line_count(void);

/* Whether a word that `depth` bits lead to may go on in a line with a prefix so long. */
bool fib6_line_holds(unsigned depth, uint8_t length);
/* The word of what no prefix of the line matches. */
uint32_t fib6_line_default(uint32_t line_word);
/* The line's prefixes. Returns how many. */
unsigned fib6_line_entries(uint32_t line_word, struct fib6_line_entry entries[FIB6_LINE_PREFIXES]);

/*
 * Each returns the word to store in place of the one given, which is a line's or, for
 * fib6_line_with(), may be a next hop's; then comes fib6_line_retire() with the old one.
 */
/* With one prefix more, or with another word for one that is there; 0 when the line is full. */
uint32_t fib6_line_with(uint32_t old, unsigned depth, struct fib6_line_entry entry);
/* Without the prefix; the default's word when it was the last one. */
uint32_t fib6_line_without(uint32_t line_word, uint32_t key, uint8_t length);
uint32_t fib6_line_with_default(uint32_t line_word, uint32_t word);
void fib6_line_retire(uint32_t line_word);

#endif
