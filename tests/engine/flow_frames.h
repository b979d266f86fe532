/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of random flows, for tests of the flow table. */
#ifndef LINERATE_FLOW_FRAMES_H
#define LINERATE_FLOW_FRAMES_H

#include "flow/flow_record.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOW_FRAME_BYTES 512

/* A flow as a person would write it down: two ends, in no order. */
struct end_pair {
	uint8_t version, protocol;
	uint8_t addresses[2][16]; /* IPv4 in the first four bytes */
	uint16_t ports[2];
	uint8_t icmp_type, icmp_code; /* of what end 0 sends */
	uint16_t icmp_id;
	unsigned low; /* the end that the key has first */
};

/* Properties of a frame beside its flow. */
struct frame_wish {
	unsigned from; /* which end sends it */
	unsigned tags, labels, extensions;
	uint8_t tcp_flags;
	unsigned payload;
	bool fragment, more;      /* it is one; another comes after it */
	unsigned fragment_offset; /* in units of 8 bytes */
	uint32_t fragment_id;
};

/* A number below `below`. */
unsigned flow_dice(unsigned below);
void flow_dice_seed(uint64_t seed);

void flow_random_pair(struct end_pair *pair);
/* Both have the same key. */
bool flow_pairs_same(const struct end_pair *a, const struct end_pair *b);
bool flow_pair_has_key(
	const struct end_pair *pair, const struct flow_key *key, const struct flow_addresses6 *six);
/* Returns its length. */
unsigned flow_make_frame(const struct end_pair *pair, const struct frame_wish *wish,
	uint8_t frame[FLOW_FRAME_BYTES]);

#endif
