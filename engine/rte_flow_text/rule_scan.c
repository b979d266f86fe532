/* SPDX-License-Identifier: BSD-3-Clause */
#include "rule_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <rte_common.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"
#define NUMBER_BYTES 32

static void find_word(struct rule_scan *scan, const char *from)
{
	scan->word = from + strspn(from, BLANKS);
	scan->length = strcspn(scan->word, BLANKS);
}

void rule_scan_start(struct rule_scan *scan, const char *text, struct rule_mistake *mistake)
{
	*scan = (struct rule_scan){.text = text, .mistake = mistake};
	memset(mistake, 0, sizeof(*mistake));
	find_word(scan, text);
}

void rule_scan_next(struct rule_scan *scan)
{
	find_word(scan, scan->word + scan->length);
}

bool rule_scan_is(const struct rule_scan *scan, const char *word)
{
	return strlen(word) == scan->length && memcmp(word, scan->word, scan->length) == 0;
}

bool rule_scan_take(struct rule_scan *scan, const char *word)
{
	bool is = rule_scan_is(scan, word);

	if (is)
		rule_scan_next(scan);
	return is;
}

bool rule_scan_must(struct rule_scan *scan, const char *word, const char *expected)
{
	return rule_scan_take(scan, word) || rule_scan_wrong(scan, "expected %s", expected);
}

bool rule_scan_wrong(struct rule_scan *scan, const char *expected, ...)
{
	struct rule_mistake *mistake = scan->mistake;
	va_list arguments;

	if (scan->failed)
		return false;
	scan->failed = true;
	mistake->column = (unsigned)(scan->word - scan->text) + 1;
	snprintf(mistake->word, sizeof(mistake->word), "%.*s",
		(int)RTE_MIN(scan->length, sizeof(mistake->word) - 1), scan->word);
	va_start(arguments, expected);
	vsnprintf(mistake->message, sizeof(mistake->message), expected, arguments);
	va_end(arguments);
	return false;
}

bool rule_scan_number(struct rule_scan *scan, uint64_t max, uint64_t *value)
{
	char digits[NUMBER_BYTES], *end = digits;

	snprintf(digits, sizeof(digits), "%.*s", (int)RTE_MIN(scan->length, sizeof(digits) - 1),
		scan->word);
	errno = 0;
	*value = strtoull(digits, &end, 0);
	if (scan->length == 0 || scan->length >= sizeof(digits) || digits[0] < '0' ||
		digits[0] > '9' || *end != '\0' || errno != 0 || *value > max)
		return rule_scan_wrong(scan, "expected a number from 0 to %" PRIu64, max);
	rule_scan_next(scan);
	return true;
}

static const char *name_of(const void *entries, size_t bytes, size_t index)
{
	const char *name;

	memcpy(&name, (const char *)entries + index * bytes, sizeof(name));
	return name;
}

int rule_scan_choice(
	struct rule_scan *scan, const void *entries, size_t count, size_t bytes, const char *more)
{
	char list[RULE_MESSAGE_BYTES] = "";
	size_t length = 0;

	for (size_t i = 0; i < count; i++)
		if (rule_scan_take(scan, name_of(entries, bytes, i)))
			return (int)i;
	for (size_t i = 0; i < count && length < sizeof(list); i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
			i == 0 ? "" : ", ", name_of(entries, bytes, i));
	(void)rule_scan_wrong(scan, "expected %s%s", list, more);
	return -1;
}
