/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A slot before it is sorted: the k-th of a stream's n stands at (k + 1/2) / n. */
struct place {
	double at;
	struct stream *stream;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (int)x->stream->id - (int)y->stream->id;
}

/* The smallest table in which every stream's share is exact, if there is a small one. */
static uint32_t table_size(struct stream *const *streams, unsigned count, double total)
{
	for (uint32_t size = count; size <= SCHEDULE_SLOTS_MAX; size++) {
		unsigned i;

		for (i = 0; i < count; i++) {
			double slots = streams[i]->pps / total * size;

			if (slots < 0.5 || fabs(slots - round(slots)) > 1e-9 * size)
				break;
		}
		if (i == count)
			return size;
	}
	return SCHEDULE_SLOTS_MAX;
}

/* Largest remainder: the slots add up, and no share is off by a whole slot. */
static void share_slots(struct stream *const *streams, unsigned count, double total, uint32_t size,
	uint32_t *shares)
{
	uint32_t given = 0;

	for (unsigned i = 0; i < count; i++) {
		shares[i] = (uint32_t)fmax(1, floor(streams[i]->pps / total * size + 1e-6));
		given += shares[i];
	}
	while (given < size) {
		unsigned most = 0;
		double most_missing = -INFINITY;

		for (unsigned i = 0; i < count; i++) {
			double missing = streams[i]->pps / total * size - shares[i];

			if (missing > most_missing) {
				most_missing = missing;
				most = i;
			}
		}
		shares[most]++;
		given++;
	}
}

/* Each stream's slots in a row, if a burst has whole rounds. */
static void gather_slots(struct schedule *schedule, struct stream *const *streams, unsigned count)
{
	unsigned at = 0, first;

	schedule->gathers = schedule->nb_slots > 1 && schedule->nb_slots <= STREAM_BURST_MAX;
	for (unsigned i = 0; i < count && schedule->gathers; i++) {
		first = at;
		for (unsigned k = 0; k < schedule->nb_slots; k++)
			if (schedule->slots[k] == streams[i])
				schedule->gather[at++] = (uint8_t)k;
		if (at > first)
			schedule->nb_gather[first] = (uint8_t)(at - first);
	}
}

static int make_slots(struct schedule *schedule, struct stream *const *streams, unsigned count)
{
	uint32_t *shares;
	struct place *places;
	uint32_t size, used = 0;
	double total = 0;

	if ((count > 1 || streams[0]->at != NULL) && schedule_has_places(streams, count)) {
		int rc = schedule_in_places(schedule, streams, count);

		return rc != 0 ? rc : schedule_set_times(schedule, streams, count);
	}
	shares = calloc(count, sizeof(*shares));
	for (unsigned i = 0; i < count; i++)
		total += streams[i]->pps;
	size = count == 1 || isinf(total) ? 0 : table_size(streams, count, total);
	if (shares != NULL && count > 1 && !isinf(total))
		share_slots(streams, count, total, size, shares);
	for (unsigned i = 0; shares != NULL && (count == 1 || isinf(total)) && i < count; i++)
		shares[i] = count == 1 ? 1 : streams[i]->weight;
	for (unsigned i = 0; shares != NULL && i < count; i++)
		used += shares[i];
	places = calloc(used + 1, sizeof(*places));
	schedule->slots = calloc(used + 1, sizeof(*schedule->slots));
	if (shares == NULL || places == NULL || schedule->slots == NULL) {
		free(shares);
		free(places);
		return -ENOMEM;
	}
	used = 0;
	for (unsigned i = 0; i < count; i++)
		for (uint32_t k = 0; k < shares[i]; k++)
			places[used++] = (struct place){(k + 0.5) / shares[i], streams[i]};
	qsort(places, used, sizeof(*places), by_place);
	for (uint32_t i = 0; i < used; i++)
		schedule->slots[i] = places[i].stream;
	schedule->nb_slots = used;
	schedule->full_pps = total;
	schedule->burst = streams[0]->burst;
	schedule->unscaled = streams[0]->unscaled;
	if (schedule_alone(streams[0]))
		schedule->bursts = streams[0]->bursts;
	schedule->uneven = schedule->bursts.frames != 0 || schedule->bursts.start_s != 0;
	free(shares);
	free(places);
	return 0;
}

int schedule_create(struct schedule *schedule, struct stream *const *streams, unsigned count)
{
	int rc = make_slots(schedule, streams, count);

	if (rc != 0)
		return rc;
	schedule->plain = true;
	for (unsigned i = 0; i < count; i++)
		schedule->plain &= stream_is_plain(streams[i]);
	gather_slots(schedule, streams, count);
	return 0;
}

void schedule_free(struct schedule *schedule)
{
	if (schedule == NULL)
		return;
	free(schedule->slots);
	free(schedule->at);
	free(schedule);
}

void schedule_set_clocks(struct schedule *schedule, double clocks_per_s)
{
	const struct stream_bursts *bursts = &schedule->bursts;
	double gap_clocks = bursts->gap_s / schedule->scale * clocks_per_s;

	schedule->frame_clocks = clocks_per_s / schedule->pps;
	schedule->start_clocks = bursts->start_s / schedule->scale * clocks_per_s;
	schedule->bursts_per_frame = nextafter(1 / (double)bursts->frames, 0);
	schedule->period_clocks =
		((double)bursts->frames - 1) * schedule->frame_clocks + gap_clocks;
}

uint64_t schedule_frames(const struct schedule *schedule, double scale, double seconds)
{
	const struct stream_bursts *bursts = &schedule->bursts;
	double pps = schedule->full_pps * scale, frames, period, whole;

	if (schedule->at != NULL)
		return schedule_timed_frames(schedule, scale, seconds);
	seconds -= bursts->start_s / scale;
	if (seconds < 0 || pps <= 0)
		return 0;
	frames = pps * seconds;
	if (bursts->frames != 0) {
		/* The first frame of a burst opens it. */
		period = ((double)bursts->frames - 1) / pps + bursts->gap_s / scale;
		whole = period > 0 ? floor(seconds / period) : 0;
		frames = floor((seconds - whole * period) * pps) + 1;
		frames = whole * (double)bursts->frames + fmin(frames, (double)bursts->frames);
	}
	if (schedule->burst != 0)
		frames = fmin(frames, (double)schedule->burst);
	return frames < 0x1p62 ? (uint64_t)frames : 1ull << 62;
}
