/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers, the same in each run: xorshift64 (Marsaglia 2003). */
#ifndef LINERATE_TEST_ANY_H
#define LINERATE_TEST_ANY_H

#include <stdint.h>

static inline uint32_t any(void)
{
	static uint64_t seed = 88172645463325252ull;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

#endif
