/* SPDX-License-Identifier: BSD-3-Clause */
#include "load_balance_fill.h"

#include <string.h>

#define UNASSIGNED UINT8_MAX

/* A path that takes part. */
struct share {
	uint32_t adjacency;
	int weight;
	int count; /* of its buckets */
	bool takes, gives;
};

struct deal {
	unsigned nb_shares;
	int weights; /* the sum */
	struct share shares[LOAD_BALANCE_PATHS_MAX];
	uint8_t owners[LOAD_BALANCE_BUCKETS]; /* a share's place, or UNASSIGNED */
};

static bool any_up(const struct load_balance_paths *paths)
{
	for (unsigned i = 0; i < paths->count; i++)
		if (paths->paths[i].up)
			return true;
	return false;
}

/* The path's weight; 0 when it had no part. */
static int weight_before(const struct load_balance_paths *before, uint32_t adjacency)
{
	bool some_up = any_up(before);

	for (unsigned i = 0; i < before->count; i++)
		if (before->paths[i].adjacency == adjacency)
			return before->paths[i].up || !some_up ? before->paths[i].weight : 0;
	return 0;
}

static void take_part(struct deal *deal, const struct load_balance_paths *before,
	const struct load_balance_paths *paths)
{
	bool some_up = any_up(paths);

	deal->nb_shares = 0;
	deal->weights = 0;
	for (unsigned i = 0; i < paths->count; i++) {
		const struct load_balance_path *path = &paths->paths[i];
		int weighed = weight_before(before, path->adjacency);

		if (!path->up && some_up)
			continue;
		deal->shares[deal->nb_shares++] = (struct share){
			.adjacency = path->adjacency,
			.weight = path->weight,
			.takes = path->weight > weighed,
			.gives = path->weight < weighed,
		};
		deal->weights += path->weight;
	}
}

static void find_owners(struct deal *deal, const uint32_t *buckets)
{
	for (unsigned b = 0; b < LOAD_BALANCE_BUCKETS; b++) {
		deal->owners[b] = UNASSIGNED;
		for (unsigned s = 0; s < deal->nb_shares; s++)
			if (deal->shares[s].adjacency == buckets[b]) {
				deal->owners[b] = (uint8_t)s;
				deal->shares[s].count++;
				break;
			}
	}
}

/* Buckets that a share lacks, times the sum of weights, to stay with whole numbers. */
static int lacks(const struct deal *deal, const struct share *share)
{
	return (int)LOAD_BALANCE_BUCKETS * share->weight - share->count * deal->weights;
}

/* The share that lacks most; among those that take only, if asked. */
static struct share *poorest(struct deal *deal, bool of_takers)
{
	struct share *found = NULL;

	for (unsigned s = 0; s < deal->nb_shares; s++) {
		struct share *share = &deal->shares[s];

		if ((!of_takers || share->takes) &&
			(found == NULL || lacks(deal, share) > lacks(deal, found)))
			found = share;
	}
	return found;
}

static struct share *richest(struct deal *deal, bool of_givers)
{
	struct share *found = NULL;

	for (unsigned s = 0; s < deal->nb_shares; s++) {
		struct share *share = &deal->shares[s];

		if ((!of_givers || share->gives) &&
			(found == NULL || lacks(deal, share) < lacks(deal, found)))
			found = share;
	}
	return found;
}

static void move_bucket(struct deal *deal, unsigned bucket, struct share *to)
{
	if (deal->owners[bucket] != UNASSIGNED)
		deal->shares[deal->owners[bucket]].count--;
	deal->owners[bucket] = (uint8_t)(to - deal->shares);
	to->count++;
}

/* One bucket from `from` to `to`, if that brings both nearer to what they are due. */
static bool level(struct deal *deal, struct share *from, struct share *to)
{
	unsigned bucket = 0;

	if (from == NULL || to == NULL || lacks(deal, to) - lacks(deal, from) <= deal->weights)
		return false;
	while (deal->owners[bucket] != from - deal->shares)
		bucket++;
	move_bucket(deal, bucket, to);
	return true;
}

void load_balance_fill(uint32_t buckets[LOAD_BALANCE_BUCKETS],
	const struct load_balance_paths *before, const struct load_balance_paths *paths)
{
	struct deal deal;

	take_part(&deal, before, paths);
	find_owners(&deal, buckets);
	for (unsigned b = 0; b < LOAD_BALANCE_BUCKETS; b++)
		if (deal.owners[b] == UNASSIGNED)
			move_bucket(&deal, b, poorest(&deal, false));
	while (level(&deal, richest(&deal, false), poorest(&deal, true)) ||
		level(&deal, richest(&deal, true), poorest(&deal, false)))
		;
	for (unsigned b = 0; b < LOAD_BALANCE_BUCKETS; b++) {
		uint32_t adjacency = deal.shares[deal.owners[b]].adjacency;

		if (buckets[b] != adjacency)
			__atomic_store_n(&buckets[b], adjacency, __ATOMIC_RELEASE);
	}
}
