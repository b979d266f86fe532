/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload_policy.h"

#include "core/memory.h"

#include <math.h>
#include <rte_prefetch.h>
#include <stdlib.h>
#include <string.h>

/* Time of weights: 2^16 of them pass before an old cell looks fresh, 4.5 hours. */
#define EPOCH_MS 250u
#define HALF_LIFE_EPOCHS (OFFLOAD_HALF_LIFE_MS / EPOCH_MS)
/* Weights are samples, in sixteenths. */
#define ONE 16u
#define WEIGHT_MAX ((1u << 24) - 1)
/* Fewer say nothing. */
#define FLOOR (4 * ONE)
/* More than an occupant's weight, and by as many standard deviations of what was counted. */
#define MARGIN 1.25
#define MARGIN_DEVIATIONS 4.0
#define BAR_MS_UNIT 1024u

enum cell_state {
	CELL_NONE,
	CELL_CANDIDATE,
	CELL_PLACED,
	CELL_BARRED,
};

/* State of a flow: one word, so that a sample misses the cache once. */
struct cell {
	uint64_t weight : 24;
	uint64_t epoch : 16; /* that the weight is of */
	uint64_t tag : 8;    /* of the mark: direction and generation */
	uint64_t state : 2;  /* enum cell_state */
	uint64_t place : 14; /* CELL_PLACED; CELL_BARRED: until when, in units of BAR_MS_UNIT */
};
_Static_assert(sizeof(struct cell) == 8, "one word");
_Static_assert(OFFLOAD_PLACES_MAX < 1 << 14, "fits a cell");

/* A flow's mark, or an occupant's place, and its weight. */
struct ranked {
	uint32_t weight;
	uint32_t what;
};

struct offload_policy {
	struct cell *cells;
	uint32_t records;
	uint32_t now_ms, epoch_ms; /* of the epoch's begin */
	uint16_t epoch;
	uint32_t threshold; /* weight */
	uint64_t marked;

	unsigned nb_places, limit, used, leaving;
	struct offload_place *places;
	uint16_t *free; /* places, a stack */
	unsigned nb_free;

	struct ranked
		*candidates; /* heaviest first, as of the epoch's begin; then who came since */
	unsigned nb_candidates, nb_ranked, candidates_max;
	unsigned next_candidate;
	struct ranked *occupants; /* lightest first, of those that stood */
	unsigned nb_occupants, next_occupant;
};

/* 2^(-i / HALF_LIFE_EPOCHS) of 2^16 */
static const uint32_t decay[HALF_LIFE_EPOCHS] = {
	65536, 60097, 55109, 50535, 46341, 42495, 38968, 35734};

static uint32_t mark_tag(uint32_t mark)
{
	return mark >> FLOW_INDEX_BITS;
}

static struct cell *cell_of(const struct offload_policy *policy, uint32_t mark)
{
	return &policy->cells[FLOW_MARK_INDEX(mark)];
}

/* Brings the weight up to now. */
static void cell_decay(const struct offload_policy *policy, struct cell *cell)
{
	uint32_t epochs = (uint16_t)(policy->epoch - cell->epoch);
	uint32_t halves = epochs / HALF_LIFE_EPOCHS;

	if (epochs == 0)
		return;
	cell->epoch = policy->epoch;
	if (halves >= 24)
		cell->weight = 0;
	else
		cell->weight =
			((uint64_t)(cell->weight >> halves) * decay[epochs % HALF_LIFE_EPOCHS] +
				32768) >>
			16;
}

struct offload_policy *offload_policy_create(uint32_t records, unsigned places, uint32_t now_ms)
{
	struct offload_policy *policy = calloc(1, sizeof(*policy));

	if (policy == NULL)
		return NULL;
	policy->records = records;
	policy->nb_places = places;
	policy->limit = places;
	policy->candidates_max = RTE_MAX(2 * places, 256u);
	policy->threshold = FLOOR;
	policy->now_ms = now_ms;
	policy->epoch_ms = now_ms;
	policy->cells = memory_map(records * sizeof(struct cell));
	policy->places = calloc(places, sizeof(*policy->places));
	policy->free = calloc(places, sizeof(*policy->free));
	policy->candidates = calloc(policy->candidates_max, sizeof(struct ranked));
	policy->occupants = calloc(places, sizeof(struct ranked));
	if (policy->cells == NULL || policy->places == NULL || policy->free == NULL ||
		policy->candidates == NULL || policy->occupants == NULL) {
		offload_policy_destroy(policy);
		return NULL;
	}
	for (unsigned i = 0; i < places; i++)
		policy->free[policy->nb_free++] = (uint16_t)(places - 1 - i);
	return policy;
}

void offload_policy_destroy(struct offload_policy *policy)
{
	if (policy == NULL)
		return;
	if (policy->cells != NULL)
		memory_unmap(policy->cells, policy->records * sizeof(struct cell));
	free(policy->places);
	free(policy->free);
	free(policy->candidates);
	free(policy->occupants);
	free(policy);
}

/* Weight that a flow needs to replace an occupant: more than the chance difference of equals. */
static uint32_t deserving(uint32_t occupant)
{
	double samples = (double)occupant / ONE;

	samples = samples * MARGIN + MARGIN_DEVIATIONS * sqrt(samples) + 2;
	return RTE_MAX(FLOOR, (uint32_t)(samples * ONE));
}

static int heavier(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->weight < y->weight) - (x->weight > y->weight);
}

static int lighter(const void *a, const void *b)
{
	return heavier(b, a);
}

static void rank_candidates(struct offload_policy *policy)
{
	unsigned kept = 0;

	for (unsigned i = policy->next_candidate; i < policy->nb_candidates; i++) {
		struct ranked candidate = policy->candidates[i];
		struct cell *cell = cell_of(policy, candidate.what);

		/* Another flow may have the record by now. */
		if (cell->state != CELL_CANDIDATE || cell->tag != mark_tag(candidate.what))
			continue;
		cell_decay(policy, cell);
		candidate.weight = cell->weight;
		if (candidate.weight < policy->threshold)
			cell->state = CELL_NONE;
		else
			policy->candidates[kept++] = candidate;
	}
	qsort(policy->candidates, kept, sizeof(struct ranked), heavier);
	/* Room for those that come; what is cut comes again with its next sample. */
	while (kept > policy->candidates_max / 2)
		cell_of(policy, policy->candidates[--kept].what)->state = CELL_NONE;
	policy->nb_candidates = kept;
	policy->nb_ranked = kept;
	policy->next_candidate = 0;
}

static void rank_occupants(struct offload_policy *policy)
{
	policy->nb_occupants = 0;
	policy->next_occupant = 0;
	for (unsigned i = 0; i < policy->nb_places; i++) {
		struct offload_place *place = &policy->places[i];
		struct cell *cell;

		if (place->state != OFFLOAD_STANDING)
			continue;
		cell = cell_of(policy, place->mark);
		cell_decay(policy, cell);
		policy->occupants[policy->nb_occupants++] =
			(struct ranked){.weight = (uint32_t)cell->weight, .what = i};
	}
	qsort(policy->occupants, policy->nb_occupants, sizeof(struct ranked), lighter);
}

/* The lightest occupant says what a place costs; the emptier it is, the less it matters. */
static void set_threshold(struct offload_policy *policy)
{
	uint32_t lightest = policy->nb_occupants == 0 ? 0 : policy->occupants[0].weight;
	unsigned half = policy->limit / 2;

	policy->threshold = FLOOR;
	if (policy->used >= policy->limit)
		policy->threshold = deserving(lightest);
	else if (policy->used > half && lightest > FLOOR)
		policy->threshold += (uint32_t)((uint64_t)(lightest - FLOOR) *
						(policy->used - half) / (policy->limit - half));
}

bool offload_policy_clock(struct offload_policy *policy, uint32_t now_ms)
{
	uint32_t epochs = (now_ms - policy->epoch_ms) / EPOCH_MS;

	policy->now_ms = now_ms;
	if (epochs == 0)
		return false;
	policy->epoch_ms += epochs * EPOCH_MS;
	policy->epoch = (uint16_t)(policy->epoch + epochs);
	rank_occupants(policy);
	set_threshold(policy);
	rank_candidates(policy);
	return true;
}

static void place_sampled(struct offload_policy *policy, struct offload_place *place,
	const struct flow_sample *sample)
{
	if (place->state != OFFLOAD_STANDING)
		return;
	if (sample->marked == 0) {
		/* Packets in flight when the rule was created do not count. */
		if (policy->now_ms - place->since_ms > OFFLOAD_SILENT_MS)
			place->unmarked++;
		return;
	}
	policy->marked++;
	place->worked = true;
	place->marked_ms = policy->now_ms;
	place->unmarked = 0;
}

static uint32_t bar_clock(const struct offload_policy *policy)
{
	return policy->now_ms / BAR_MS_UNIT;
}

/* The clock of bars is short: what lies more than half its range ahead is past. */
static bool barred(const struct offload_policy *policy, const struct cell *cell)
{
	uint32_t left = ((uint32_t)cell->place - bar_clock(policy)) & 0x3fff;

	return left != 0 && left < 0x2000;
}

static void take_sample(struct offload_policy *policy, const struct flow_sample *sample)
{
	struct cell *cell = cell_of(policy, sample->mark);

	if (cell->tag != mark_tag(sample->mark)) {
		/* No other flow can have a held record, but the other direction may. */
		if (cell->state == CELL_PLACED)
			return;
		*cell = (struct cell){.tag = mark_tag(sample->mark), .epoch = policy->epoch};
	}
	cell_decay(policy, cell);
	cell->weight = RTE_MIN((uint32_t)cell->weight + ONE, WEIGHT_MAX);
	if (cell->state == CELL_PLACED)
		place_sampled(policy, &policy->places[cell->place], sample);
	else if (cell->state == CELL_BARRED && !barred(policy, cell))
		cell->state = CELL_NONE;
	if (cell->state != CELL_NONE || cell->weight < policy->threshold ||
		policy->nb_candidates == policy->candidates_max)
		return;
	cell->state = CELL_CANDIDATE;
	policy->candidates[policy->nb_candidates++].what = sample->mark;
}

void offload_policy_samples(
	struct offload_policy *policy, const struct flow_sample *samples, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (FLOW_MARK_INDEX(samples[i].mark) < policy->records)
			rte_prefetch0(cell_of(policy, samples[i].mark));
	for (unsigned i = 0; i < count; i++)
		if (FLOW_MARK_INDEX(samples[i].mark) < policy->records)
			take_sample(policy, &samples[i]);
}

/* The candidate's flow may have gone since it was ranked, and another have its record. */
static bool still_candidate(const struct offload_policy *policy, uint32_t mark)
{
	const struct cell *cell = cell_of(policy, mark);

	return cell->state == CELL_CANDIDATE && cell->tag == mark_tag(mark);
}

static void promote(struct offload_policy *policy, uint32_t mark, struct offload_choice *choice)
{
	uint16_t number = policy->free[--policy->nb_free];
	struct cell *cell = cell_of(policy, mark);

	policy->places[number] = (struct offload_place){
		.mark = mark, .state = OFFLOAD_PROMOTED, .since_ms = policy->now_ms};
	policy->used++;
	cell->state = CELL_PLACED;
	cell->place = number;
	*choice = (struct offload_choice){.what = OFFLOAD_PROMOTE, .place = number};
}

/* Flows that may be demoted make room for as many of the candidates, the heaviest. */
static bool demote(struct offload_policy *policy, struct offload_choice *choice)
{
	unsigned claim = policy->next_candidate + policy->leaving;

	while (claim < policy->nb_ranked && policy->next_occupant < policy->nb_occupants) {
		const struct ranked *occupant = &policy->occupants[policy->next_occupant];
		const struct offload_place *place = &policy->places[occupant->what];

		if (policy->candidates[claim].weight < deserving(occupant->weight))
			return false;
		policy->next_occupant++;
		if (place->state != OFFLOAD_STANDING ||
			policy->now_ms - place->since_ms < OFFLOAD_STAY_MS)
			continue;
		offload_policy_leave(policy, occupant->what);
		*choice = (struct offload_choice){.what = OFFLOAD_DEMOTE, .place = occupant->what};
		return true;
	}
	return false;
}

/* More stand than may, since the limit fell. */
static bool shrink(struct offload_policy *policy, struct offload_choice *choice)
{
	while (policy->used - policy->leaving > policy->limit &&
		policy->next_occupant < policy->nb_occupants) {
		unsigned number = policy->occupants[policy->next_occupant++].what;

		if (policy->places[number].state != OFFLOAD_STANDING)
			continue;
		offload_policy_leave(policy, number);
		*choice = (struct offload_choice){.what = OFFLOAD_DEMOTE, .place = number};
		return true;
	}
	return false;
}

bool offload_policy_next(struct offload_policy *policy, struct offload_choice *choice)
{
	while (policy->used < policy->limit && policy->next_candidate < policy->nb_ranked) {
		uint32_t mark = policy->candidates[policy->next_candidate++].what;

		if (!still_candidate(policy, mark))
			continue;
		promote(policy, mark, choice);
		return true;
	}
	if (policy->used < policy->limit)
		return false;
	return shrink(policy, choice) || demote(policy, choice);
}

void offload_policy_stands(struct offload_policy *policy, unsigned place)
{
	struct offload_place *one = &policy->places[place];

	one->state = OFFLOAD_STANDING;
	one->since_ms = policy->now_ms;
	one->marked_ms = policy->now_ms;
}

void offload_policy_leave(struct offload_policy *policy, unsigned place)
{
	if (policy->places[place].state == OFFLOAD_LEAVING)
		return;
	policy->places[place].state = OFFLOAD_LEAVING;
	policy->leaving++;
}

void offload_policy_free(struct offload_policy *policy, unsigned place, uint32_t bar_ms)
{
	struct offload_place *one = &policy->places[place];
	struct cell *cell = cell_of(policy, one->mark);

	if (one->state == OFFLOAD_LEAVING)
		policy->leaving--;
	cell->state = bar_ms == 0 ? CELL_NONE : CELL_BARRED;
	cell->place = bar_ms == 0 ? 0
				  : bar_clock(policy) + 1 +
					    RTE_MIN(bar_ms, 8191000u - BAR_MS_UNIT) / BAR_MS_UNIT;
	one->state = OFFLOAD_FREE;
	policy->used--;
	policy->free[policy->nb_free++] = (uint16_t)place;
}

void offload_policy_limit(struct offload_policy *policy, unsigned places)
{
	policy->limit = RTE_MIN(RTE_MAX(places, 1u), policy->nb_places);
}

unsigned offload_policy_used(const struct offload_policy *policy)
{
	return policy->used;
}

double offload_policy_threshold(const struct offload_policy *policy)
{
	/* A steady flow weighs its samples in half-life / ln 2. */
	return (double)policy->threshold / ONE * M_LN2;
}

const struct offload_place *offload_policy_place(
	const struct offload_policy *policy, unsigned place)
{
	return &policy->places[place];
}

int offload_policy_find(const struct offload_policy *policy, uint32_t mark)
{
	const struct cell *cell;

	if (FLOW_MARK_INDEX(mark) >= policy->records)
		return -1;
	cell = cell_of(policy, mark);
	if (cell->state != CELL_PLACED || (cell->tag ^ mark_tag(mark)) >> 1 != 0)
		return -1;
	return (int)cell->place;
}

bool offload_policy_silent(const struct offload_policy *policy, unsigned place)
{
	const struct offload_place *one = &policy->places[place];

	return one->state == OFFLOAD_STANDING && one->unmarked >= OFFLOAD_SILENT_SAMPLES &&
	       policy->now_ms - one->marked_ms > OFFLOAD_SILENT_MS;
}

uint64_t offload_policy_marked(const struct offload_policy *policy)
{
	return policy->marked;
}
