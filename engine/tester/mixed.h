/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers of 32 bits by their place in the sequence: as many at once as wanted. */
#ifndef LINERATE_MIXED_H
#define LINERATE_MIXED_H

#include <rte_common.h>
#include <stdint.h>

/* murmur3's last step: a bijection of 32 bits that looks random (Appleby, public domain). */
static __rte_always_inline uint32_t mixed(uint32_t value)
{
	value ^= value >> 16;
	value *= 0x85ebca6b;
	value ^= value >> 13;
	value *= 0xc2b2ae35;
	return value ^ value >> 16;
}

#endif
