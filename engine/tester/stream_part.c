/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream_part.h"

#include "schedule.h"
#include "template.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Odd, so that parts draw other numbers than each other. */
#define SEED_STEP 0x85ebca6bu

/* Fields of a stream that take their values in turn, each within a number of frames: its round. */
struct rounds {
	unsigned count;
	uint64_t divisor; /* largest that divides all of them; 0: there are none */
};

static void add_round(struct rounds *rounds, uint64_t frames)
{
	uint64_t one = rounds->divisor, other = frames;

	if (frames <= 1)
		return;
	while (one != 0) {
		uint64_t rest = other % one;

		other = one;
		one = rest;
	}
	rounds->divisor = other;
	rounds->count++;
}

/* Frames after which the modifier's values come again; 1: it has one, or draws them. */
static uint64_t modifier_round(const struct modifier *modifier)
{
	return modifier->op == MODIFIER_RANDOM ? 1 : (uint64_t)modifier->last + 1;
}

static struct rounds modifier_rounds(const struct stream *stream)
{
	struct rounds rounds = {0};

	for (unsigned i = 0; i < stream->nb_modifiers; i++)
		add_round(&rounds, modifier_round(&stream->modifiers[i]));
	return rounds;
}

/* Whether the flows are what is divided among the parts. Those that are drawn alike are not, where
 * there are fields that take turns: those are. */
static bool cuts_flows(const struct stream *stream)
{
	return stream->flows != NULL && (stream->flows->order == FLOWS_INCREMENT ||
						(stream->flows->order == FLOWS_UNIFORM &&
							modifier_rounds(stream).count == 0));
}

static struct rounds rounds_of(const struct stream *stream)
{
	struct rounds rounds = modifier_rounds(stream);

	if (cuts_flows(stream))
		add_round(&rounds, stream->flows->count);
	return rounds;
}

static bool is_whole(const struct stream *stream)
{
	/* Each part would renew all flows by itself. */
	bool renews_drawn = stream->flows != NULL && stream->flows->order == FLOWS_ZIPF &&
			    stream->flows->renewal.new_per_s > 0;

	return stream->stamped || schedule_alone(stream) || stream->nb_places != 0 ||
	       renews_drawn || (stream->template != NULL && stream->template->program != NULL);
}

unsigned stream_parts(const struct stream *stream, unsigned most)
{
	struct rounds rounds = rounds_of(stream);
	unsigned parts = most;

	if (is_whole(stream))
		return 1;
	if (rounds.count == 0)
		return most;
	if (rounds.count == 1)
		return (unsigned)RTE_MIN(rounds.divisor, (uint64_t)most);
	while (rounds.divisor % parts != 0)
		parts--;
	return parts;
}

/* The number of those that come to the part in turn: part, part + parts, … */
static uint64_t part_of(uint64_t count, unsigned part, unsigned parts)
{
	return (count - part + parts - 1) / parts;
}

static double share_of(const struct stream *stream, unsigned part, unsigned parts)
{
	struct rounds rounds = rounds_of(stream);

	return rounds.count == 1
		       ? (double)part_of(rounds.divisor, part, parts) / (double)rounds.divisor
		       : 1.0 / parts;
}

static void take_values(struct modifier *modifier, unsigned part, unsigned parts)
{
	uint64_t round = modifier_round(modifier), step = modifier->step;
	uint32_t first = (uint32_t)(part * step), span;

	modifier->seed += part * SEED_STEP;
	if (round == 1)
		return;
	span = (uint32_t)((part_of(round, part, parts) - 1) * step * parts);
	if (modifier->op == MODIFIER_INCREMENT) {
		modifier->min += first;
		modifier->max = modifier->min + span;
	} else {
		modifier->max -= first;
		modifier->min = modifier->max - span;
	}
	modifier->last = (uint32_t)(part_of(round, part, parts) - 1);
	modifier->step = (uint32_t)RTE_MIN(step * parts, (uint64_t)UINT32_MAX);
}

static void take_flows(struct flows *flows, bool cut, unsigned part, unsigned parts)
{
	flows->seed += part * SEED_STEP;
	if (!cut || flows->count == 1)
		return;
	flows->first = part;
	flows->stride = parts;
	flows->count = (uint32_t)part_of(flows->count, part, parts);
}

static void take_part(struct stream *stream, unsigned part, unsigned parts)
{
	bool cut = cuts_flows(stream);

	stream->pps *= share_of(stream, part, parts);
	for (unsigned i = 0; i < stream->nb_modifiers; i++)
		take_values(&stream->modifiers[i], part, parts);
	if (stream->flows != NULL)
		take_flows(stream->flows, cut, part, parts);
}

static struct flows *copy_of_flows(const struct flows *flows)
{
	struct flows *copy = flows_new();

	if (copy != NULL)
		*copy = *flows;
	return copy;
}

/* A template is the same for all, as none that changes is cut; but for the identification that each
 * part has of its own. */
static bool has_own_template(const struct stream *stream)
{
	return stream->template != NULL && stream->ip_id.version != 0;
}

static struct stream *copy_of(const struct stream *stream)
{
	struct stream *copy = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*copy));

	if (copy == NULL)
		return NULL;
	*copy = *stream;
	copy->tag = stream_new_tag();
	copy->is_part = true;
	copy->places = NULL;
	copy->at = NULL;
	if (stream->flows != NULL)
		copy->flows = copy_of_flows(stream->flows);
	if (has_own_template(stream))
		copy->template = template_copy(stream->template);
	if ((stream->flows != NULL && copy->flows == NULL) ||
		(has_own_template(stream) && copy->template == NULL)) {
		stream_free(copy);
		return NULL;
	}
	return copy;
}

void stream_parts_free(struct stream *stream)
{
	while (stream != NULL) {
		struct stream *next = stream->next_part;

		stream_free(stream);
		stream = next;
	}
}

int stream_cut(struct stream *stream, unsigned parts)
{
	struct stream *copies = NULL;

	for (unsigned part = parts - 1; part > 0; part--) {
		struct stream *copy = copy_of(stream);

		if (copy == NULL) {
			stream_parts_free(copies);
			return -ENOMEM;
		}
		take_part(copy, part, parts);
		copy->next_part = copies;
		copies = copy;
	}
	take_part(stream, 0, parts);
	stream->next_part = copies;
	return 0;
}
