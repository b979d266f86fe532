/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames in configurations are hexadecimal digits. */
#ifndef LINERATE_HEX_H
#define LINERATE_HEX_H

/* What a digit stands for, or -1. */
static inline int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if ((digit | 32) >= 'a' && (digit | 32) <= 'f')
		return (digit | 32) - 'a' + 10;
	return -1;
}

#endif
