/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile_schedules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The schedule that the stream has alone in the order before; NULL: none, or at another rate. */
static struct schedule *schedule_before(const struct profile_order *before, struct stream *stream)
{
	for (unsigned i = 0; before != NULL && i < before->nb_schedules; i++) {
		struct schedule *schedule = before->schedules[i];

		if (schedule->nb_slots == 1 && schedule->slots[0] == stream &&
			schedule->full_pps == stream->pps)
			return schedule;
	}
	return NULL;
}

static struct schedule *schedule_of(struct stream *const *streams, unsigned count)
{
	struct schedule *schedule = calloc(1, sizeof(*schedule));

	if (schedule != NULL && schedule_create(schedule, streams, count) != 0) {
		schedule_free(schedule);
		return NULL;
	}
	return schedule;
}

/* Streams that share a schedule; returns how many. */
static unsigned shared(const struct profile *profile, struct stream **streams)
{
	unsigned count = 0;

	for (unsigned i = 0; i < profile->nb_streams; i++)
		if (!schedule_alone(profile->streams[i]) && profile->streams[i]->pps > 0)
			streams[count++] = profile->streams[i];
	return count;
}

/* The one that streams share stays where all of them keep their rates. */
static struct schedule *shared_before(
	const struct profile_order *before, struct stream *const *streams, unsigned count)
{
	double pps = 0;

	if (count == 1)
		return schedule_before(before, streams[0]);
	if (before == NULL || before->nb_schedules == 0 || before->nb_shared != count)
		return NULL;
	for (unsigned i = 0; i < count; i++) {
		pps += streams[i]->pps;
		if (streams[i]->pps != streams[i]->scheduled_pps)
			return NULL;
	}
	return before->schedules[0]->full_pps == pps ? before->schedules[0] : NULL;
}

static int add(struct profile_order *order, struct schedule *schedule)
{
	if (schedule == NULL)
		return -ENOMEM;
	order->schedules[order->nb_schedules++] = schedule;
	order->nb_scaled += !schedule->unscaled;
	return 0;
}

/* Those of streams that have one each. */
static int add_alone(struct profile_order *order, const struct profile *profile,
	const struct profile_order *before, bool unscaled)
{
	int rc = 0;

	for (unsigned i = 0; i < profile->nb_streams && rc == 0; i++) {
		struct stream *stream = profile->streams[i];
		struct schedule *same = schedule_before(before, stream);

		if (schedule_alone(stream) && stream->unscaled == unscaled && stream->pps > 0)
			rc = add(order, same != NULL ? same : schedule_of(&stream, 1));
	}
	return rc;
}

static int create_heaps(struct profile_order *order)
{
	int rc = due_heap_create(&order->due[PROFILE_SCALED], order->nb_scaled);

	return rc != 0 ? rc
		       : due_heap_create(&order->due[PROFILE_UNSCALED],
				 order->nb_schedules - order->nb_scaled);
}

static int add_schedules(struct profile_order *order, const struct profile *profile,
	const struct profile_order *before, struct stream **streams)
{
	unsigned count = shared(profile, streams);
	int rc = 0;

	if (count > 0) {
		struct schedule *same = shared_before(before, streams, count);

		rc = add(order, same != NULL ? same : schedule_of(streams, count));
		order->nb_shared = count;
	}
	if (rc == 0)
		rc = add_alone(order, profile, before, false);
	if (rc == 0)
		rc = add_alone(order, profile, before, true);
	if (rc == 0)
		rc = create_heaps(order);
	for (unsigned i = 0; i < profile->nb_streams && rc == 0; i++)
		profile->streams[i]->scheduled_pps = profile->streams[i]->pps;
	return rc;
}

struct profile_order *profile_order_make(const struct profile *profile, bool anew, FILE *complaints)
{
	const struct profile_order *before = anew ? NULL : profile->order;
	size_t bytes = sizeof(struct profile_order) +
		       (profile->nb_streams + 1) * sizeof(struct schedule *);
	struct profile_order *order = calloc(1, bytes);
	struct stream **streams = calloc(profile->nb_streams + 1, sizeof(struct stream *));

	if (order != NULL && profile->order != NULL)
		memcpy(order, profile->order, sizeof(*order));
	if (order != NULL) {
		order->nb_schedules = order->nb_shared = order->nb_scaled = 0;
		memset(order->due, 0, sizeof(order->due));
	}
	if (order == NULL || streams == NULL ||
		add_schedules(order, profile, before, streams) != 0) {
		fprintf(complaints, "profile %s: no memory for its schedules\n", profile->name);
		if (order != NULL)
			profile_order_free(order, before);
		order = NULL;
	}
	free(streams);
	return order;
}

static bool has(const struct profile_order *order, const struct schedule *schedule)
{
	for (unsigned i = 0; order != NULL && i < order->nb_schedules; i++)
		if (order->schedules[i] == schedule)
			return true;
	return false;
}

void profile_order_free(struct profile_order *order, const struct profile_order *next)
{
	for (unsigned i = 0; order != NULL && i < order->nb_schedules; i++)
		if (!has(next, order->schedules[i]))
			schedule_free(order->schedules[i]);
	for (unsigned clock = 0; order != NULL && clock < PROFILE_CLOCKS; clock++)
		due_heap_free(&order->due[clock]);
	free(order);
}
