/* SPDX-License-Identifier: BSD-3-Clause */
/* A port's frames at times that the streams say: of each place in the round, its part of it. */
#include "schedule.h"

#include <errno.h>
#include <math.h>
#include <rte_common.h>
#include <stdio.h>
#include <stdlib.h>

bool stream_parse_times(struct stream *stream, const struct config_node *array)
{
	size_t count = config_items(array);

	if (array->json == NULL)
		return true;
	if (schedule_alone(stream))
		config_mistake(array, "goes without \"burst\", \"bursts\" and \"start_us\"");
	if (count == 0 || count != stream->nb_places) {
		config_mistake(array, "expected a number for each of \"places\"");
		return false;
	}
	stream->at = calloc(count, sizeof(*stream->at));
	if (stream->at == NULL)
		return false;
	CONFIG_EACH (item, array) {
		double at = json_is_number(item.json) ? json_number_value(item.json) : -1;

		if (!(at >= 0 && at < 1)) {
			config_mistake(&item, "expected a part of the round, 0 to below 1");
			return false;
		}
		stream->at[item.index] = at;
	}
	return true;
}

/* Gaps backwards can't be kept. */
static int check_order(const struct schedule *schedule)
{
	for (uint32_t i = 1; i < schedule->nb_slots; i++)
		if (schedule->at[i] < schedule->at[i - 1]) {
			fprintf(stderr,
				"stream %s: at: place %u is before place %u; expected times in the "
				"order of places\n",
				schedule->slots[i]->name, i, i - 1);
			return -EINVAL;
		}
	return 0;
}

int schedule_set_times(struct schedule *schedule, struct stream *const *streams, unsigned count)
{
	unsigned timed = 0;

	for (unsigned i = 0; i < count; i++)
		timed += streams[i]->at != NULL;
	/* As fast as can be there is no round that would take its time. */
	if (timed == 0 || isinf(schedule->full_pps))
		return 0;
	if (timed < count) {
		fprintf(stderr, "at: %u of %u streams of a port have times; expected all or none\n",
			timed, count);
		return -EINVAL;
	}
	schedule->at = calloc(schedule->nb_slots, sizeof(*schedule->at));
	if (schedule->at == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++)
		for (uint32_t k = 0; k < streams[i]->nb_places; k++)
			schedule->at[streams[i]->places[k]] = streams[i]->at[k];
	schedule->uneven = true;
	return check_order(schedule);
}

/* Number of a round's frames before that part of it. */
static uint32_t before(const struct schedule *schedule, double part)
{
	uint32_t low = 0, high = schedule->nb_slots;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (schedule->at[middle] < part)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t schedule_timed_frames(const struct schedule *schedule, double scale, double seconds)
{
	double rounds = schedule->full_pps * scale * seconds / schedule->nb_slots, whole;

	if (!(rounds > 0))
		return 0;
	whole = floor(rounds);
	if (whole * schedule->nb_slots >= 0x1p62)
		return 1ull << 62;
	return (uint64_t)whole * schedule->nb_slots + before(schedule, rounds - whole);
}

void schedule_timed_start(struct schedule *schedule, double clocks_per_s)
{
	schedule->round_clocks = schedule->nb_slots * clocks_per_s / schedule->pps;
	schedule->slice_clocks = SCHEDULE_SLICE_S * clocks_per_s;
	schedule->rounds = 0;
	schedule->next = schedule->position = 0;
	schedule->not_before = (uint64_t)ceil(schedule->at[0] * schedule->round_clocks);
}

/* In cycles of the trial. */
static inline double due_at(const struct schedule *schedule)
{
	return ((double)schedule->rounds + schedule->at[schedule->next]) * schedule->round_clocks;
}

unsigned schedule_timed_due(const struct schedule *schedule, uint64_t elapsed, unsigned room)
{
	double until = RTE_MIN((double)elapsed, due_at(schedule) + schedule->slice_clocks);
	double round_clocks = schedule->round_clocks, rounds = (double)schedule->rounds;
	uint32_t next = schedule->next, nb_slots = schedule->nb_slots;
	const double *at = schedule->at;
	unsigned count = 0;

	room = (unsigned)RTE_MIN((uint64_t)room, schedule->limit - schedule->sent);
	while (count < room && (rounds + at[next]) * round_clocks <= until) {
		count++;
		if (++next == nb_slots) {
			next = 0;
			rounds += 1;
		}
	}
	return count;
}

/* Late frames continue at their own pace, a little faster: gaps stay gaps while it catches up. */
void schedule_timed_sent(struct schedule *schedule, uint64_t elapsed, unsigned count)
{
	double first = due_at(schedule), now = (double)elapsed, next;

	schedule->next += count;
	while (schedule->next >= schedule->nb_slots) {
		schedule->next -= schedule->nb_slots;
		schedule->rounds++;
	}
	next = due_at(schedule);
	schedule->not_before = (uint64_t)ceil(fmax(next, now + SCHEDULE_CATCH_UP * (next - first)));
}
