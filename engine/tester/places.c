/* SPDX-License-Identifier: BSD-3-Clause */
/* A port's frames in an order that the streams say: each has its places in a round. */
#include "schedule.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool stream_parse_places(struct stream *stream, const struct config_node *array)
{
	size_t count = config_items(array);

	if (array->json == NULL)
		return true;
	if (count == 0 || count > SCHEDULE_SLOTS_MAX) {
		config_mistake(array, "expected 1 to %d numbers", SCHEDULE_SLOTS_MAX);
		return false;
	}
	stream->places = calloc(count, sizeof(*stream->places));
	if (stream->places == NULL)
		return false;
	CONFIG_EACH (item, array) {
		if (!json_is_integer(item.json) || json_integer_value(item.json) < 0 ||
			json_integer_value(item.json) >= SCHEDULE_SLOTS_MAX) {
			config_mistake(
				&item, "expected a number from 0 to %d", SCHEDULE_SLOTS_MAX - 1);
			return false;
		}
		stream->places[item.index] = (uint32_t)json_integer_value(item.json);
	}
	stream->nb_places = (uint32_t)count;
	return true;
}

/* Rates that the places can't keep would be broken silently. */
static bool in_proportion(const struct stream *stream, double total_pps, uint32_t round)
{
	return isinf(total_pps) ||
	       fabs(stream->pps / total_pps - (double)stream->nb_places / round) < 1e-6;
}

static int take_places(struct schedule *schedule, struct stream *stream)
{
	for (uint32_t i = 0; i < stream->nb_places; i++) {
		uint32_t place = stream->places[i];

		if (place >= schedule->nb_slots || schedule->slots[place] != NULL) {
			fprintf(stderr,
				"stream %s: place %u is taken, or not in a round of %u frames; "
				"give each place from 0 on to one stream\n",
				stream->name, place, schedule->nb_slots);
			return -EINVAL;
		}
		schedule->slots[place] = stream;
	}
	return 0;
}

bool schedule_has_places(struct stream *const *streams, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (streams[i]->nb_places == 0)
			return false;
	return count > 0;
}

int schedule_in_places(struct schedule *schedule, struct stream *const *streams, unsigned count)
{
	uint64_t round = 0;
	double total = 0;
	int rc = 0;

	for (unsigned i = 0; i < count; i++) {
		round += streams[i]->nb_places;
		total += streams[i]->pps;
	}
	if (round > SCHEDULE_SLOTS_MAX) {
		fprintf(stderr, "places: a round has at most %d frames\n", SCHEDULE_SLOTS_MAX);
		return -EINVAL;
	}
	schedule->slots = calloc(round + 1, sizeof(*schedule->slots));
	if (schedule->slots == NULL)
		return -ENOMEM;
	schedule->nb_slots = (uint32_t)round;
	schedule->full_pps = total;
	for (unsigned i = 0; i < count && rc == 0; i++) {
		if (!in_proportion(streams[i], total, schedule->nb_slots)) {
			fprintf(stderr,
				"stream %s: %u of %u places is not its share of the port's rate; "
				"expected rates in proportion to places\n",
				streams[i]->name, streams[i]->nb_places, schedule->nb_slots);
			return -EINVAL;
		}
		rc = take_places(schedule, streams[i]);
	}
	return rc;
}
