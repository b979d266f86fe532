/* SPDX-License-Identifier: BSD-3-Clause */
/* wyrand (Wang Yi, 2019): a Weyl sequence, one wide multiplication. */
#ifndef LINERATE_RANDOM_H
#define LINERATE_RANDOM_H

#include <rte_common.h>
#include <stdint.h>

static __rte_always_inline uint64_t random_next(uint64_t *state)
{
	unsigned __int128 product;

	*state += 0xa0761d6478bd642full;
	product = (unsigned __int128)*state * (*state ^ 0xe7037ed1a0b428dbull);
	return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

#endif
