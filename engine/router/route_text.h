/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv4 addresses and prefixes in text of which there may be millions of lines. Each takes what
 * it knows from the start of [text, end) and returns where that ends, or NULL.
 */
#ifndef LINERATE_ROUTE_TEXT_H
#define LINERATE_ROUTE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A number up to `max`, without leading zeros: as inet_pton() reads them. */
static inline const char *route_text_number(
	const char *text, const char *end, uint32_t max, uint32_t *number)
{
	uint32_t value;

	if (text == end || (unsigned char)(*text - '0') > 9)
		return NULL;
	value = (uint32_t)(*text++ - '0');
	while (text < end && (unsigned char)(*text - '0') <= 9) {
		if (value == 0)
			return NULL;
		value = 10 * value + (uint32_t)(*text++ - '0');
		if (value > max)
			return NULL;
	}
	*number = value;
	return value > max ? NULL : text;
}

/* In host order. */
static inline const char *route_text_address(const char *text, const char *end, uint32_t *address)
{
	uint32_t octet, value = 0;

	for (unsigned i = 0; i < 4; i++) {
		if (i > 0 && (text == end || *text++ != '.'))
			return NULL;
		text = route_text_number(text, end, 255, &octet);
		if (text == NULL)
			return NULL;
		value = value << 8 | octet;
	}
	*address = value;
	return text;
}

static inline const char *route_text_prefix(
	const char *text, const char *end, uint32_t *address, uint8_t *length)
{
	uint32_t bits = 0;

	text = route_text_address(text, end, address);
	if (text == NULL || text == end || *text != '/')
		return NULL;
	text = route_text_number(text + 1, end, 32, &bits);
	*length = (uint8_t)bits;
	return text;
}

/* Skips spaces and tabs. */
static inline const char *route_text_space(const char *text, const char *end)
{
	while (text < end && (*text == ' ' || *text == '\t' || *text == '\r'))
		text++;
	return text;
}

#endif
