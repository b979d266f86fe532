/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile_schedules.h"

#include "tester_state.h"

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

/* In cache lines that no other sender's has. */
static struct schedule *schedule_of(struct stream *const *streams, unsigned count)
{
	size_t bytes = RTE_ALIGN_CEIL(sizeof(struct schedule), (size_t)RTE_CACHE_LINE_SIZE);
	struct schedule *schedule = aligned_alloc(RTE_CACHE_LINE_SIZE, bytes);

	if (schedule == NULL)
		return NULL;
	memset(schedule, 0, sizeof(*schedule));
	if (schedule_create(schedule, streams, count) != 0) {
		schedule_free(schedule);
		return NULL;
	}
	return schedule;
}

/* A sender's streams of a profile. */
struct share {
	unsigned count;
	struct stream **streams;
};

/* Those whose rates are not 0. Returns 0 or -ENOMEM. */
static int share_of(const struct profile *profile, unsigned sender, struct share *share)
{
	unsigned most = 0;

	for (unsigned i = 0; i < profile->nb_streams; i++)
		for (struct stream *part = profile->streams[i]; part != NULL;
			part = part->next_part)
			most++;
	*share = (struct share){.streams = calloc(most + 1, sizeof(*share->streams))};
	if (share->streams == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < profile->nb_streams; i++)
		for (struct stream *part = profile->streams[i]; part != NULL;
			part = part->next_part)
			if (part->sender == sender && part->pps > 0)
				share->streams[share->count++] = part;
	return 0;
}

/* Streams that share a schedule; returns how many. */
static unsigned shared(const struct share *share, struct stream **streams)
{
	unsigned count = 0;

	for (unsigned i = 0; i < share->count; i++)
		if (!schedule_alone(share->streams[i]))
			streams[count++] = share->streams[i];
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
static int add_alone(struct profile_order *order, const struct share *share,
	const struct profile_order *before, bool unscaled)
{
	int rc = 0;

	for (unsigned i = 0; i < share->count && rc == 0; i++) {
		struct stream *stream = share->streams[i];
		struct schedule *same = schedule_before(before, stream);

		if (schedule_alone(stream) && stream->unscaled == unscaled)
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

static int add_schedules(
	struct profile_order *order, const struct share *share, const struct profile_order *before)
{
	struct stream **streams = calloc(share->count + 1, sizeof(struct stream *));
	unsigned count = streams == NULL ? 0 : shared(share, streams);
	int rc = streams == NULL ? -ENOMEM : 0;

	if (count > 0) {
		struct schedule *same = shared_before(before, streams, count);

		rc = add(order, same != NULL ? same : schedule_of(streams, count));
		order->nb_shared = count;
	}
	if (rc == 0)
		rc = add_alone(order, share, before, false);
	if (rc == 0)
		rc = add_alone(order, share, before, true);
	if (rc == 0)
		rc = create_heaps(order);
	free(streams);
	return rc;
}

static struct profile_order *make_order(
	const struct profile *profile, unsigned sender, const struct profile_order *before)
{
	struct profile_order *order = NULL;
	struct share share;

	if (share_of(profile, sender, &share) == 0)
		order = calloc(1, sizeof(*order) + (share.count + 1) * sizeof(struct schedule *));
	if (order != NULL && add_schedules(order, &share, before) != 0) {
		profile_order_free(order, before);
		order = NULL;
	}
	free(share.streams);
	return order;
}

/* Rates that the schedules of all orders go by. */
static void note_rates(const struct profile *profile)
{
	for (unsigned i = 0; i < profile->nb_streams; i++)
		for (struct stream *part = profile->streams[i]; part != NULL;
			part = part->next_part)
			part->scheduled_pps = part->pps;
}

/* The order whose schedules may stay; NULL: a run begins. */
static const struct profile_order *order_before(
	const struct profile *profile, const struct profile_plan *plan, unsigned sender)
{
	return plan->run == profile->plan.run ? profile->parts[sender].order : NULL;
}

int profile_orders_make(const struct profile *profile, struct profile_plan *plan,
	struct profile_order **orders, FILE *complaints)
{
	unsigned nb_senders = profile->port->nb_senders;

	memset(orders, 0, nb_senders * sizeof(*orders));
	plan->sends = false;
	for (unsigned s = 0; s < nb_senders; s++) {
		orders[s] = make_order(profile, s, order_before(profile, plan, s));
		if (orders[s] == NULL) {
			fprintf(complaints, "profile %s: no memory for its schedules\n",
				profile->name);
			profile_orders_drop(profile, orders);
			return -ENOMEM;
		}
		plan->sends |= orders[s]->nb_schedules > 0;
	}
	note_rates(profile);
	return 0;
}

void profile_orders_drop(const struct profile *profile, struct profile_order **orders)
{
	for (unsigned s = 0; s < profile->port->nb_senders; s++)
		profile_order_free(orders[s], profile->parts[s].order);
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
