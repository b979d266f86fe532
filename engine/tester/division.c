/* SPDX-License-Identifier: BSD-3-Clause */
#include "division.h"

#include "schedule.h"
#include "stream_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A stream, or a part of one. */
struct item {
	struct stream *stream;
	double load;
	unsigned number; /* in the order of the streams */
	unsigned sender;
	bool placed;
};

struct items {
	unsigned count, nb_senders;
	bool endless; /* some rate has no end: they go by weights */
	double total;
	struct item *items;
};

static double load_of(const struct items *items, const struct stream *stream)
{
	return items->endless ? stream->weight : stream->pps;
}

static bool is_continuous(const struct stream *stream)
{
	return !schedule_alone(stream) && stream->pps > 0;
}

/* Places that some do not say are not kept, as a port with one sender does not: without the others
 * of its round a stream would say wrong ones. Returns whether they are kept. */
static bool keep_places(struct stream *const *streams, unsigned count)
{
	bool all = true;

	for (unsigned i = 0; i < count; i++)
		all &= !is_continuous(streams[i]) || streams[i]->nb_places != 0;
	for (unsigned i = 0; i < count && !all; i++)
		streams[i]->nb_places = 0;
	return all;
}

/* In how many parts it is sent. */
static unsigned parts_of(const struct items *items, const struct stream *stream, unsigned room)
{
	double grain = DIVISION_GRAIN * items->total / items->nb_senders;

	if (items->nb_senders == 1 || (!items->endless && stream->pps <= grain))
		return 1;
	return stream_parts(stream, RTE_MIN(items->nb_senders, room + 1));
}

static void add_item(struct items *items, struct stream *stream)
{
	items->items[items->count] = (struct item){.stream = stream, .number = items->count};
	items->count++;
}

static int cut_streams(
	struct items *items, struct stream *const *streams, unsigned count, unsigned room)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned parts = parts_of(items, streams[i], room);

		if (parts > 1 && stream_cut(streams[i], parts) != 0)
			return -ENOMEM;
		room -= parts - 1;
		for (struct stream *part = streams[i]; part != NULL; part = part->next_part) {
			struct item *item = &items->items[items->count];

			add_item(items, part);
			item->load = load_of(items, part) / (items->endless ? parts : 1);
		}
	}
	return 0;
}

static int by_load(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->load != y->load)
		return x->load > y->load ? -1 : 1;
	return (int)x->number - (int)y->number;
}

static int by_number(const void *a, const void *b)
{
	return (int)((const struct item *)a)->number - (int)((const struct item *)b)->number;
}

static void give(struct division *division, struct item *item, unsigned sender)
{
	item->sender = item->stream->sender = sender;
	item->placed = true;
	division->senders[sender].count++;
	division->senders[sender].load += item->load;
}

/* The item, and all of its chain. */
static void give_chain(
	struct division *division, struct items *items, struct item *first, unsigned sender)
{
	uint64_t chain = first->stream->chain;

	give(division, first, sender);
	for (unsigned i = 0; chain != 0 && i < items->count; i++)
		if (!items->items[i].placed && items->items[i].stream->chain == chain)
			give(division, &items->items[i], sender);
}

static void give_all(struct division *division, struct items *items, bool in_places)
{
	for (unsigned i = 0; i < items->count; i++)
		if (in_places && is_continuous(items->items[i].stream))
			give(division, &items->items[i], 0);
	qsort(items->items, items->count, sizeof(*items->items), by_load);
	for (unsigned i = 0; i < items->count; i++) {
		unsigned least = 0;

		if (items->items[i].placed)
			continue;
		for (unsigned s = 1; s < items->nb_senders; s++)
			if (division->senders[s].load < division->senders[least].load)
				least = s;
		give_chain(division, items, &items->items[i], least);
	}
	qsort(items->items, items->count, sizeof(*items->items), by_number);
}

static int note_streams(struct division *division, const struct items *items)
{
	for (unsigned s = 0; s < items->nb_senders; s++) {
		unsigned count = division->senders[s].count;

		division->senders[s].count = 0;
		division->senders[s].streams = calloc(count + 1, sizeof(struct stream *));
		if (division->senders[s].streams == NULL)
			return -ENOMEM;
	}
	for (unsigned i = 0; i < items->count; i++) {
		unsigned sender = items->items[i].sender;

		division->senders[sender].streams[division->senders[sender].count++] =
			items->items[i].stream;
	}
	return 0;
}

int division_make(struct division *division, struct stream *const *streams, unsigned count,
	unsigned nb_senders, unsigned room, const double *loads)
{
	size_t most = (size_t)count * nb_senders + 1;
	struct items items = {
		.nb_senders = nb_senders, .items = calloc(most, sizeof(*items.items))};
	bool in_places = nb_senders > 1 && keep_places(streams, count);
	int rc = -ENOMEM;

	*division = (struct division){0};
	for (unsigned i = 0; i < count; i++)
		items.endless |= isinf(streams[i]->pps);
	for (unsigned i = 0; i < count; i++)
		items.total += load_of(&items, streams[i]);
	for (unsigned s = 0; loads != NULL && s < nb_senders; s++)
		items.total += division->senders[s].load = loads[s];
	if (items.items != NULL)
		rc = cut_streams(&items, streams, count, room);
	if (rc == 0) {
		give_all(division, &items, in_places);
		rc = note_streams(division, &items);
	}
	free(items.items);
	return rc;
}

void division_free(struct division *division)
{
	for (unsigned s = 0; s < PORT_QUEUES_MAX; s++)
		free(division->senders[s].streams);
}
