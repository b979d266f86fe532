/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream_rx.h"

#include "tester.h"
#include "tester_worker.h"

#include <errno.h>
#include <string.h>

static struct stream_rx *rx_of(const struct tester_worker *worker, const struct stream *stream)
{
	return &worker->streams[stream->id];
}

/* Whether the worker receives it at more than one port. */
static bool has_ports(const struct tester_worker *worker, const struct stream *stream)
{
	return stream->rx_port < 0 && (worker->ports & (worker->ports - 1)) != 0;
}

/* Memory that was made for an id stays with it. */
static int take_memory(struct tester_worker *worker, const struct stream *stream)
{
	struct stream_rx *rx = rx_of(worker, stream);

	if (rx->sequence.bits == NULL)
		rx->sequence.bits =
			tester_worker_memory(worker, SEQUENCE_WORDS * sizeof(*rx->sequence.bits));
	if (has_ports(worker, stream) && rx->elsewhere == NULL)
		rx->elsewhere =
			tester_worker_memory(worker, ports_count() * sizeof(*rx->elsewhere));
	if (stream->stamped && rx->latency == NULL)
		rx->latency = latency_new();
	return rx->sequence.bits == NULL || (has_ports(worker, stream) && rx->elsewhere == NULL) ||
			       (stream->stamped && rx->latency == NULL)
		       ? -ENOMEM
		       : 0;
}

static void forget(struct stream_rx *rx)
{
	struct latency *latency = rx->latency;
	uint64_t *missing = rx->sequence.bits;
	struct stream_rx_port *elsewhere = rx->elsewhere;

	*rx = (struct stream_rx){
		.latency = latency, .sequence.bits = missing, .elsewhere = elsewhere};
	if (missing != NULL)
		memset(missing, 0, SEQUENCE_WORDS * sizeof(*missing));
	if (elsewhere != NULL)
		memset(elsewhere, 0, ports_count() * sizeof(*elsewhere));
}

static int create_at(struct tester_worker *worker, const struct stream *stream)
{
	struct stream_rx *rx = rx_of(worker, stream);

	forget(rx);
	if (take_memory(worker, stream) != 0)
		return -ENOMEM;
	if (!stream->stamped) {
		latency_free(rx->latency);
		rx->latency = NULL;
	}
	rx->rx_port = rx->port =
		stream->rx_port < 0 ? STREAM_RX_NO_PORT : (uint16_t)stream->rx_port;
	/* Where frames differ in size, any may be a message. */
	rx->longest = stream->mean_bytes < stream->frame_bytes ? 0 : stream->frame_bytes;
	rx->checks_payload = stream->check_payload;
	__atomic_store_n(&rx->stream, stream, __ATOMIC_RELEASE);
	return 0;
}

int stream_rx_create(const struct stream *stream)
{
	int rc = 0;

	for (unsigned i = 0; i < tester.nb_workers && rc == 0; i++)
		if (tester_worker_polls(tester.workers[i], stream->rx_port))
			rc = create_at(tester.workers[i], stream);
	return rc;
}

void stream_rx_remove(const struct stream *stream)
{
	for (unsigned i = 0; i < tester.nb_workers; i++)
		__atomic_store_n(&rx_of(tester.workers[i], stream)->stream, NULL, __ATOMIC_RELEASE);
}

void stream_rx_read(const struct stream *stream, struct stream_counts *counts)
{
	*counts = (struct stream_counts){0};
	for (unsigned i = 0; i < tester.nb_workers; i++) {
		const struct stream_rx *rx = rx_of(tester.workers[i], stream);

		if (rx->stream == NULL)
			continue;
		counts->received += rx->sequence.received;
		counts->rx_bytes += rx->rx_bytes;
		counts->lost += rx->sequence.lost;
		counts->duplicated += rx->sequence.duplicated;
		counts->out_of_order += rx->sequence.out_of_order;
		counts->corrupted += rx->corrupted;
	}
}

/* All but what came elsewhere. */
static struct stream_rx_port at_its_port(const struct stream_rx *rx)
{
	struct stream_rx_port counts = {rx->sequence.received, rx->rx_bytes};

	for (unsigned i = 0; rx->elsewhere != NULL && i < ports_count(); i++) {
		counts.received -= rx->elsewhere[i].received;
		counts.rx_bytes -= rx->elsewhere[i].rx_bytes;
	}
	return counts;
}

void stream_rx_read_port(const struct stream *stream, uint16_t port, struct stream_rx_port *counts)
{
	for (unsigned i = 0; i < tester.nb_workers; i++) {
		const struct stream_rx *rx = rx_of(tester.workers[i], stream);
		struct stream_rx_port here = {0};

		if (rx->stream == NULL)
			continue;
		if (rx->port == port)
			here = at_its_port(rx);
		else if (rx->elsewhere != NULL)
			here = rx->elsewhere[port];
		counts->received += here.received;
		counts->rx_bytes += here.rx_bytes;
	}
}

const struct latency *stream_rx_latency(
	const struct tester_worker *worker, const struct stream *stream)
{
	const struct stream_rx *rx = rx_of(worker, stream);
	uint32_t trial = __atomic_load_n(&tester.order.start, __ATOMIC_ACQUIRE);

	if (rx->stream == NULL || __atomic_load_n(&rx->trial, __ATOMIC_ACQUIRE) != trial)
		return NULL;
	return rx->latency;
}

void stream_rx_restart(struct stream_rx *rx, uint32_t trial)
{
	/* All was drained: what comes from now on is this trial's. */
	sequence_restart(&rx->sequence, rx->stream->first_sequence);
	rx->sent = rx->stream->first_sequence;
	if (rx->latency != NULL)
		latency_restart(rx->latency);
	__atomic_store_n(&rx->trial, trial, __ATOMIC_RELEASE);
}

bool stream_rx_was_sent(struct stream_rx *rx, uint32_t number)
{
	uint32_t first = rx->stream->first_sequence;

	if (number - first < rx->sent - first)
		return true;
	/* A line of the sender's: it is asked no more often than this. */
	rx->sent = __atomic_load_n(&rx->stream->next_sequence, __ATOMIC_RELAXED);
	return number - first < rx->sent - first;
}

void stream_rx_note_elsewhere(
	struct stream_rx *rx, uint16_t port, uint64_t received, uint64_t rx_bytes)
{
	if (rx->port == STREAM_RX_NO_PORT)
		rx->port = port;
	else if (rx->elsewhere != NULL) {
		rx->elsewhere[port].received += received;
		rx->elsewhere[port].rx_bytes += rx_bytes;
	}
}
