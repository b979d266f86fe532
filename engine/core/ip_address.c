/* SPDX-License-Identifier: BSD-3-Clause */
#include "ip_address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stddef.h>

static const char *read_number(const char *text, const char *end, uint32_t max, uint32_t *number)
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

/* Without inet_pton(): there may be millions. */
static const char *read_ip4(const char *text, const char *end, uint32_t *address)
{
	uint32_t octet, value = 0;

	for (unsigned i = 0; i < 4; i++) {
		if (i > 0 && (text == end || *text++ != '.'))
			return NULL;
		text = read_number(text, end, 255, &octet);
		if (text == NULL)
			return NULL;
		value = value << 8 | octet;
	}
	*address = value;
	return text;
}

static bool is_of_ip6(char letter)
{
	return isxdigit((unsigned char)letter) || letter == ':' || letter == '.';
}

const char *address_read(const char *text, const char *end, struct ip_address *address)
{
	const char *after = read_ip4(text, end, &address->ip4);
	char word[INET6_ADDRSTRLEN];
	size_t length = 0;

	address->family = ADDRESS_IP4;
	if (after != NULL)
		return after;
	for (; length < sizeof(word) - 1 && text < end && is_of_ip6(*text); text++)
		word[length++] = *text;
	word[length] = '\0';
	address->family = ADDRESS_IP6;
	return inet_pton(AF_INET6, word, address->ip6) == 1 ? text : NULL;
}

const char *address_read_prefix(
	const char *text, const char *end, struct ip_address *prefix, uint8_t *length)
{
	uint32_t bits = 0;

	text = address_read(text, end, prefix);
	if (text == NULL || text == end || *text != '/')
		return NULL;
	text = read_number(text + 1, end, prefix->family == ADDRESS_IP6 ? 128 : 32, &bits);
	*length = (uint8_t)bits;
	return text;
}

const char *address_text(const struct ip_address *address, char text[ADDRESS_TEXT_BYTES])
{
	const uint32_t word = htonl(address->ip4);

	return address->family == ADDRESS_IP6
		       ? inet_ntop(AF_INET6, address->ip6, text, ADDRESS_TEXT_BYTES)
		       : inet_ntop(AF_INET, &word, text, ADDRESS_TEXT_BYTES);
}
