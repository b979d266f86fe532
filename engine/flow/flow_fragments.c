/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_fragments.h"

#include "flow_hash.h"
#include "flow_record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int flow_fragments_create(struct flow_fragments *fragments, uint64_t secret)
{
	fragments->secret = secret;
	fragments->sets = calloc(FLOW_FRAGMENTS_SETS, sizeof(*fragments->sets));
	return fragments->sets == NULL ? -ENOMEM : 0;
}

void flow_fragments_free(struct flow_fragments *fragments)
{
	free(fragments->sets);
	fragments->sets = NULL;
}

static struct flow_fragment *set_of(
	struct flow_fragments *fragments, const struct flow_fragment *wanted)
{
	uint64_t rest = (uint64_t)wanted->kind << 32 | wanted->id;
	uint64_t hash =
		flow_hash_fold(wanted->addresses ^ fragments->secret, rest ^ 0x9e3779b97f4a7c15ull);

	return fragments->sets[hash % FLOW_FRAGMENTS_SETS];
}

static bool same(const struct flow_fragment *a, const struct flow_fragment *b)
{
	return a->addresses == b->addresses && a->id == b->id && a->kind == b->kind;
}

void flow_fragments_learn(struct flow_fragments *fragments, const struct flow_fragment *wanted)
{
	struct flow_fragment *set = set_of(fragments, wanted), *place = set;

	for (unsigned way = 0; way < FLOW_FRAGMENTS_WAYS; way++) {
		if (set[way].mark == FLOW_MARK_NONE || same(&set[way], wanted)) {
			place = &set[way];
			break;
		}
		if ((int32_t)(set[way].seen_ms - place->seen_ms) < 0)
			place = &set[way];
	}
	*place = *wanted;
}

uint32_t flow_fragments_find(
	struct flow_fragments *fragments, const struct flow_fragment *wanted, uint32_t now_ms)
{
	const struct flow_fragment *set = set_of(fragments, wanted);

	for (unsigned way = 0; way < FLOW_FRAGMENTS_WAYS; way++)
		if (set[way].mark != FLOW_MARK_NONE && same(&set[way], wanted))
			return now_ms - set[way].seen_ms < FLOW_FRAGMENTS_MS ? set[way].mark
									     : FLOW_MARK_NONE;
	return FLOW_MARK_NONE;
}
