/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the flows that get one of a port's few rules: decides, and does nothing else. A rule
 * covers one direction of a flow.
 *
 * Each sampled packet adds one to the weight of its flow, and weights halve every
 * OFFLOAD_HALF_LIFE_MS. A flow is a candidate once its weight passes a threshold, which rises
 * with how full the places are; when there is none left, another must outweigh its occupant by a
 * margin that chance alone does not give, and the occupant have stayed for a while.
 *
 * Not thread-safe; times are milliseconds modulo 2^32.
 */
#ifndef LINERATE_OFFLOAD_POLICY_H
#define LINERATE_OFFLOAD_POLICY_H

#include "flow_table.h"

#include <stdbool.h>
#include <stdint.h>

#define OFFLOAD_PLACES_MAX 16382u
#define OFFLOAD_HALF_LIFE_MS 2000u
#define OFFLOAD_STAY_MS 2000u
/* A rule counts as without effect after this time, and this number of samples that arrived
 * unmarked. */
#define OFFLOAD_SILENT_MS 1000u
#define OFFLOAD_SILENT_SAMPLES 8u

enum offload_place_state {
	OFFLOAD_FREE,
	OFFLOAD_PROMOTED, /* its rule is being made */
	OFFLOAD_STANDING,
	OFFLOAD_LEAVING, /* its rule is being destroyed */
};

struct offload_place {
	uint32_t mark;
	uint8_t state; /* enum offload_place_state */
	bool worked;   /* a packet came marked */
	uint32_t since_ms;
	uint32_t marked_ms; /* the last packet that came marked; since_ms when there was none */
	uint32_t unmarked;  /* samples since */
};

struct offload_policy;

/* For numbers of records below `records`, and 1 to OFFLOAD_PLACES_MAX places. NULL: no memory. */
struct offload_policy *offload_policy_create(uint32_t records, unsigned places, uint32_t now_ms);
void offload_policy_destroy(struct offload_policy *policy);

/* Moves the clock, never back. Returns true when weights were compared anew. */
bool offload_policy_clock(struct offload_policy *policy, uint32_t now_ms);
/* Packets of this port. */
void offload_policy_samples(
	struct offload_policy *policy, const struct flow_sample *samples, unsigned count);

enum offload_choice_what {
	OFFLOAD_PROMOTE, /* answer with _stands() or _free() */
	OFFLOAD_DEMOTE,  /* answer with _free() */
};
struct offload_choice {
	enum offload_choice_what what;
	unsigned place;
};
/* The next promotion or demotion, best first. Returns false when none is due. */
bool offload_policy_next(struct offload_policy *policy, struct offload_choice *choice);
/* The rule was made. */
void offload_policy_stands(struct offload_policy *policy, unsigned place);
/* The rule is to go for a reason of others'. */
void offload_policy_leave(struct offload_policy *policy, unsigned place);
/* There is no rule, or none any more. The flow is not promoted for `bar_ms`. */
void offload_policy_free(struct offload_policy *policy, unsigned place, uint32_t bar_ms);

/* Limits the number of rules in use: a device may take fewer rules than expected. */
void offload_policy_limit(struct offload_policy *policy, unsigned places);
unsigned offload_policy_used(const struct offload_policy *policy);
/* Samples that a flow must have in a half-life, about, to be promoted. */
double offload_policy_threshold(const struct offload_policy *policy);
const struct offload_place *offload_policy_place(
	const struct offload_policy *policy, unsigned place);
/* The place of a flow in either direction, or -1. */
int offload_policy_find(const struct offload_policy *policy, uint32_t mark);
/* Its rule stands, and packets of the flow come without mark. */
bool offload_policy_silent(const struct offload_policy *policy, unsigned place);
/* Samples that came with the mark of a rule that stands. */
uint64_t offload_policy_marked(const struct offload_policy *policy);

#endif
