/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile_streams.h"

#include "division.h"
#include "ip_id.h"
#include "stream_part.h"
#include "stream_rx.h"
#include "tester.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void free_streams(struct stream **streams, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		stream_parts_free(streams[i]);
}

static int read_stream(const struct tester_port *port, struct stream *stream, FILE *complaints)
{
	int rc = tester_stream_prepare(stream, port->port, complaints);

	if (rc == 0 && isinf(stream->pps)) {
		fprintf(complaints, "stream %s: expected a rate of its own\n", stream->name);
		rc = -EINVAL;
	}
	return rc;
}

static int read_all(struct tester_port *port, const struct config_node *array,
	struct stream **streams, FILE *complaints)
{
	unsigned count = 0;
	int rc = 0;

	CONFIG_EACH (item, array) {
		struct stream *stream = stream_parse(&item);

		if (stream != NULL)
			streams[count++] = stream;
		if (stream == NULL || read_stream(port, stream, complaints) != 0)
			rc = -EINVAL;
	}
	if (rc == 0)
		return (int)count;
	free_streams(streams, count);
	return rc;
}

/* Frames a second that each sender has of the profile. */
static void read_loads(const struct profile *profile, double *loads)
{
	for (unsigned i = 0; profile != NULL && i < profile->nb_streams; i++)
		for (const struct stream *part = profile->streams[i]; part != NULL;
			part = part->next_part)
			loads[part->sender] += part->base_pps;
}

/* Cuts the streams into parts, each of which knows its sender. */
static int divide(const struct tester_port *port, const struct profile *profile,
	struct stream **streams, unsigned count)
{
	unsigned room = STREAMS_MAX - RTE_MIN((unsigned)STREAMS_MAX, tester.nb_streams + count);
	double loads[PORT_QUEUES_MAX] = {0};
	struct division division;
	int rc;

	read_loads(profile, loads);
	rc = division_make(&division, streams, count, port->nb_senders, room, loads);
	division_free(&division);
	for (unsigned i = 0; i < count; i++)
		for (struct stream *part = streams[i]; part != NULL; part = part->next_part)
			part->base_pps = part->pps;
	return rc;
}

/* Calls `visit` with the streams in the order of their ids: parts before the first, which answers
 * show, so that it is whole when they do. Stops at what is not 0, and returns it. */
static int for_each_part(
	struct stream *stream, int (*visit)(struct stream *part, void *to), void *to)
{
	int rc = 0;

	for (struct stream *part = stream->next_part; part != NULL && rc == 0;
		part = part->next_part)
		rc = visit(part, to);
	return rc != 0 ? rc : visit(stream, to);
}

/* Streams of a file that were looked at. */
struct looked {
	struct stream **streams;
	unsigned count;
	FILE *complaints;
};

/* With those that the tester has, and those before it in its file. */
static int check_ip_id(struct stream *stream, void *to)
{
	struct looked *looked = to;
	const struct stream *other;

	stream->id = (uint16_t)(tester.nb_streams + looked->count);
	other = ip_id_clash(stream, tester.streams, tester.nb_streams);
	if (other == NULL)
		other = ip_id_clash(stream, looked->streams, looked->count);
	looked->streams[looked->count++] = stream;
	if (other == NULL)
		return 0;
	fprintf(looked->complaints, IP_ID_CLASH "\n", stream->name, other->name);
	return -EINVAL;
}

static int check_ip_ids(
	const struct tester_port *port, struct stream **streams, unsigned count, FILE *complaints)
{
	struct looked looked = {.complaints = complaints};
	int rc = 0;

	looked.streams = calloc((size_t)count * port->nb_senders + 1, sizeof(struct stream *));
	if (looked.streams == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++)
		if (for_each_part(streams[i], check_ip_id, &looked) != 0)
			rc = -EINVAL;
	free(looked.streams);
	return rc;
}

int profile_streams_read(struct tester_port *port, const struct profile *profile,
	const struct config_node *array, struct stream **streams, FILE *complaints)
{
	int count = read_all(port, array, streams, complaints), rc;

	if (count < 0)
		return count;
	rc = divide(port, profile, streams, (unsigned)count);
	if (rc == 0)
		rc = check_ip_ids(port, streams, (unsigned)count, complaints);
	if (rc == 0)
		return count;
	free_streams(streams, (unsigned)count);
	return rc;
}

/* Gives it to the port: from then on it is. */
static int add_part(struct stream *part, void *to)
{
	struct tester_port *port = to;
	int rc = tester_stream_add(port, part);

	if (rc != 0)
		return rc;
	port->senders[part->sender]->nb_stamped += part->stamped;
	return stream_rx_create(part) != 0 ? -ENOMEM : 0;
}

static int add(struct profile *profile, struct stream *stream)
{
	unsigned count = profile->nb_streams + 1;
	struct stream **streams = realloc(profile->streams, count * sizeof(*streams));
	double *scales;
	int rc;

	if (streams == NULL)
		return -ENOMEM;
	profile->streams = streams;
	scales = realloc(profile->scales, count * sizeof(*scales));
	if (scales == NULL)
		return -ENOMEM;
	profile->scales = scales;
	rc = for_each_part(stream, add_part, profile->port);
	if (rc != 0)
		return rc;
	scales[profile->nb_streams] = 1;
	streams[profile->nb_streams++] = stream;
	return 0;
}

int profile_streams_add(struct profile *profile, struct stream **streams, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		int rc = add(profile, streams[i]);

		if (rc == 0)
			continue;
		/* Parts of the one that failed may be the port's already. */
		free_streams(streams + i + 1, count - i - 1);
		return rc;
	}
	return 0;
}

void profile_streams_set_pps(struct profile *profile)
{
	for (unsigned i = 0; i < profile->nb_streams; i++)
		for (struct stream *part = profile->streams[i]; part != NULL;
			part = part->next_part)
			part->pps = part->base_pps * profile->scales[i];
}
