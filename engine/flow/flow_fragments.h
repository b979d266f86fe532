/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps later fragments to the flow of the first one of their packet. A small table that never
 * grows: where a set is full the oldest entry is replaced, and its fragments are not recorded.
 */
#ifndef LINERATE_FLOW_FRAGMENTS_H
#define LINERATE_FLOW_FRAGMENTS_H

#include <rte_common.h>
#include <stdint.h>

#define FLOW_FRAGMENTS_SETS 1024u
#define FLOW_FRAGMENTS_WAYS 4
#define FLOW_FRAGMENTS_MS 30000u /* so long hosts wait at most (RFC 1122, 3.3.2: 60 s or less) */

struct flow_fragment {
	uint64_t addresses; /* of the key */
	uint32_t id;
	uint32_t kind; /* IP version, protocol, who sent it */
	uint32_t mark; /* FLOW_MARK_NONE: free */
	uint32_t seen_ms;
};

struct flow_fragments {
	struct flow_fragment (*sets)[FLOW_FRAGMENTS_WAYS];
	uint64_t secret;
};

/* Returns 0 or -ENOMEM. */
int flow_fragments_create(struct flow_fragments *fragments, uint64_t secret);
void flow_fragments_free(struct flow_fragments *fragments);

/* Learns the key that a packet's fragments share; `wanted` has mark and seen_ms too. */
void flow_fragments_learn(struct flow_fragments *fragments, const struct flow_fragment *wanted);
/* FLOW_MARK_NONE: the first has not come, or too long ago. */
uint32_t flow_fragments_find(
	struct flow_fragments *fragments, const struct flow_fragment *wanted, uint32_t now_ms);

#endif
