/* SPDX-License-Identifier: BSD-3-Clause */
/* Rate limit of a worker's ICMP errors: a token bucket (RFC 1812 4.3.2.8, RFC 4443 2.4 f). */
#ifndef LINERATE_ERROR_BUCKET_H
#define LINERATE_ERROR_BUCKET_H

#include "core/clock.h"
#include "core/node.h"

#include <rte_common.h>
#include <stdbool.h>
#include <stdint.h>

#define ERRORS_PER_SECOND 1000
#define ERRORS_BURST 128

struct error_bucket {
	uint64_t clocks; /* saved up, ERRORS_BURST messages' worth at most */
	uint64_t last;
	uint64_t clocks_per_message;
};

/* The init() of a node whose private data begins with its bucket. */
static inline int error_bucket_init(struct node_state *state, __rte_unused struct rte_node *node)
{
	struct error_bucket *bucket = (struct error_bucket *)state->private_data;

	bucket->clocks_per_message = rte_get_tsc_hz() / ERRORS_PER_SECOND;
	bucket->clocks = ERRORS_BURST * bucket->clocks_per_message;
	bucket->last = clock_now();
	return 0;
}

static inline bool error_bucket_take(struct error_bucket *bucket)
{
	uint64_t now = clock_now();

	bucket->clocks = RTE_MIN(
		bucket->clocks + (now - bucket->last), ERRORS_BURST * bucket->clocks_per_message);
	bucket->last = now;
	if (bucket->clocks < bucket->clocks_per_message)
		return false;
	bucket->clocks -= bucket->clocks_per_message;
	return true;
}

#endif
