/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames in configurations are hexadecimal digits. */
#ifndef LINERATE_HEX_H
#define LINERATE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Value of a digit, or -1. */
static inline int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if ((digit | 32) >= 'a' && (digit | 32) <= 'f')
		return (digit | 32) - 'a' + 10;
	return -1;
}

/* Reads `bytes` bytes of twice as many digits. Returns how many were read: less where a character
 * is none. */
static inline size_t hex_read(uint8_t *to, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return i;
		to[i] = (uint8_t)(high << 4 | low);
	}
	return bytes;
}

#endif
