/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of a rule's text, and the first thing that was wrong with them. */
#ifndef LINERATE_RULE_SCAN_H
#define LINERATE_RULE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RULE_MESSAGE_BYTES 320

struct rule_mistake {
	unsigned column; /* of the word that is wrong, from 1; behind the text when one lacks */
	char word[24];   /* its beginning; "" at the end of the text */
	char message[RULE_MESSAGE_BYTES]; /* what was expected instead */
};

struct rule_scan {
	const char *text;
	const char *word; /* the next one; its length is 0 at the end */
	size_t length;
	bool failed;
	struct rule_mistake *mistake;
};

void rule_scan_start(struct rule_scan *scan, const char *text, struct rule_mistake *mistake);
/* Goes on to the next word. */
void rule_scan_next(struct rule_scan *scan);
bool rule_scan_is(const struct rule_scan *scan, const char *word);
/* The same, and goes on when it is. */
bool rule_scan_take(struct rule_scan *scan, const char *word);
/* The same, and a mistake when it is not; `expected` is the word with quotes, or more. */
bool rule_scan_must(struct rule_scan *scan, const char *word, const char *expected);
/* The next word is not what was expected; only the first mistake is kept. Returns false. */
bool rule_scan_wrong(struct rule_scan *scan, const char *expected, ...)
	__attribute__((format(printf, 2, 3)));
/* A number in decimal, 0x… or 0…, at most `max`. Returns false after a mistake. */
bool rule_scan_number(struct rule_scan *scan, uint64_t max, uint64_t *value);
/* Index of the scanned word in the list; -1 after a mistake that lists them and `more`. Each entry
 * of `bytes` begins with its name. */
int rule_scan_choice(
	struct rule_scan *scan, const void *entries, size_t count, size_t bytes, const char *more);

#endif
