/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream_rx.h"

#include "ip_id.h"
#include "tester_state.h"
#include "tester_worker.h"

#include <errno.h>
#include <rte_ether.h>
#include <string.h>

static struct stream_rx *rx_of(const struct tester_worker *worker, const struct stream *stream)
{
	return &worker->streams[stream->id];
}

/* Whether several workers may receive frames of it. */
static bool is_spread(const struct stream *stream)
{
	unsigned workers = 0;

	for (unsigned i = 0; i < tester.nb_workers; i++)
		workers += tester_worker_polls(tester.workers[i], stream->rx_port);
	return workers > 1;
}

/* Whether the worker receives it at more than one port. */
static bool has_ports(const struct tester_worker *worker, const struct stream *stream)
{
	return stream->rx_port < 0 && (worker->ports & (worker->ports - 1)) != 0;
}

/* Whether the worker counts frames of the stream: by their signature, or by their IP header. */
static bool counts(const struct stream_rx *rx)
{
	return rx->stream != NULL || rx->ip_id.version != 0;
}

/* Memory that was made for an id stays with it. */
static int take_memory(struct tester_worker *worker, const struct stream *stream)
{
	struct stream_rx *rx = rx_of(worker, stream);
	bool in_sequence = stream->ip_id.version == 0;

	if (in_sequence && rx->sequence.bits == NULL)
		rx->sequence.bits =
			tester_worker_memory(worker, SEQUENCE_WORDS * sizeof(*rx->sequence.bits));
	if (has_ports(worker, stream) && rx->elsewhere == NULL)
		rx->elsewhere =
			tester_worker_memory(worker, ports_count() * sizeof(*rx->elsewhere));
	if (stream->stamped && rx->latency == NULL)
		rx->latency = latency_new(worker->latency_room);
	worker->latency_room->nb_streams += stream->stamped && rx->latency != NULL;
	return (in_sequence && rx->sequence.bits == NULL) ||
			       (has_ports(worker, stream) && rx->elsewhere == NULL) ||
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

int stream_rx_make_room(void)
{
	for (unsigned i = 0; i < tester.nb_workers; i++) {
		struct tester_worker *worker = tester.workers[i];

		worker->streams =
			tester_worker_map(worker, SIGNATURE_STREAMS * sizeof(*worker->streams));
		if (worker->streams == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* A worker that sees the version sees the rest. */
static void listen_to_ip_id(
	struct tester_worker *worker, struct stream_rx *rx, const struct ip_id_match *match)
{
	rx->ip_id = *match;
	rx->ip_id.version = 0;
	__atomic_store_n(&rx->ip_id.version, match->version, __ATOMIC_RELEASE);
	__atomic_store_n(&worker->counts_ip_ids, true, __ATOMIC_RELAXED);
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
	rx->is_spread = is_spread(stream);
	if (stream->ip_id.version == 0)
		__atomic_store_n(&rx->stream, stream, __ATOMIC_RELEASE);
	else
		listen_to_ip_id(worker, rx, &stream->ip_id);
	return 0;
}

int stream_rx_create(const struct stream *stream)
{
	int rc = 0;

	for (unsigned i = 0; i < tester.nb_workers && rc == 0; i++)
		if (tester_worker_polls(tester.workers[i], stream->rx_port))
			rc = create_at(tester.workers[i], stream);
	tester_workers_make_room();
	return rc;
}

void stream_rx_remove(const struct stream *stream)
{
	for (unsigned i = 0; i < tester.nb_workers; i++) {
		struct stream_rx *rx = rx_of(tester.workers[i], stream);

		__atomic_store_n(&rx->stream, NULL, __ATOMIC_RELEASE);
		__atomic_store_n(&rx->ip_id.version, 0, __ATOMIC_RELEASE);
	}
}

/* Adds up the sequences of a stream that several workers share. */
static struct sequence_sum sum_of(const struct stream *stream)
{
	uint32_t trial = __atomic_load_n(&tester.order.start, __ATOMIC_RELAXED);
	struct sequence_sum sum = {0};

	for (unsigned i = 0; i < tester.nb_workers; i++) {
		const struct stream_rx *rx = rx_of(tester.workers[i], stream);

		if (rx->stream != NULL)
			sequence_spread_add(&sum, &rx->sequence,
				__atomic_load_n(&rx->trial, __ATOMIC_ACQUIRE) == trial);
	}
	return sum;
}

/* The counts of a stream that a single worker receives. */
static struct sequence_counts counts_of(const struct stream *stream)
{
	for (unsigned i = 0; i < tester.nb_workers; i++) {
		const struct stream_rx *rx = rx_of(tester.workers[i], stream);

		if (rx->stream != NULL)
			return (struct sequence_counts){rx->sequence.received, rx->sequence.lost,
				rx->sequence.duplicated, rx->sequence.out_of_order};
	}
	return (struct sequence_counts){0};
}

/* Counts of one that is counted by its IP header: what is missing is on its way, or lost. */
static struct sequence_counts ip_id_counts(const struct stream *stream)
{
	struct sequence_counts sum = {0};

	for (unsigned i = 0; i < tester.nb_workers; i++)
		sum.received += __atomic_load_n(
			&rx_of(tester.workers[i], stream)->sequence.received, __ATOMIC_RELAXED);
	return sum;
}

void stream_rx_read(const struct stream *stream, struct stream_counts *sums)
{
	*sums = (struct stream_counts){0};
	if (stream->ip_id.version != 0)
		sums->sequence = ip_id_counts(stream);
	else if (is_spread(stream)) {
		struct sequence_sum sum = sum_of(stream);

		sums->sequence = sequence_spread_counts(&sum, &stream->settled);
	} else
		sums->sequence = counts_of(stream);
	for (unsigned i = 0; i < tester.nb_workers; i++) {
		const struct stream_rx *rx = rx_of(tester.workers[i], stream);

		if (!counts(rx))
			continue;
		sums->rx_bytes += rx->rx_bytes;
		sums->corrupted += rx->corrupted;
	}
}

uint64_t stream_rx_late(const struct stream *stream)
{
	struct sequence_sum sum;

	if (stream->ip_id.version != 0 || !is_spread(stream))
		return 0;
	sum = sum_of(stream);
	return sequence_spread_counts(&sum, &stream->settled).received - sum.received;
}

void stream_rx_settle(struct stream *stream)
{
	if (stream->ip_id.version == 0 && is_spread(stream)) {
		struct sequence_sum sum = sum_of(stream);

		sequence_spread_settle(&sum, &stream->settled);
	}
	stream->first_sequence = stream->next_sequence;
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

void stream_rx_read_port(const struct stream *stream, uint16_t port, struct stream_rx_port *sums)
{
	for (unsigned i = 0; i < tester.nb_workers; i++) {
		const struct stream_rx *rx = rx_of(tester.workers[i], stream);
		struct stream_rx_port here = {0};

		if (!counts(rx))
			continue;
		if (rx->port == port)
			here = at_its_port(rx);
		else if (rx->elsewhere != NULL)
			here = rx->elsewhere[port];
		sums->received += here.received;
		sums->rx_bytes += here.rx_bytes;
	}
}

struct latency *stream_rx_latency(const struct tester_worker *worker, const struct stream *stream)
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
	if (rx->is_spread)
		sequence_spread_restart(&rx->sequence, rx->stream->first_sequence);
	else
		sequence_restart(&rx->sequence, rx->stream->first_sequence);
	rx->sent = rx->stream->first_sequence;
	if (rx->latency != NULL)
		latency_restart(rx->latency);
	__atomic_store_n(&rx->trial, trial, __ATOMIC_RELEASE);
}

bool stream_rx_find_number(struct stream_rx *rx, uint32_t sequence, uint32_t *number)
{
	uint32_t first = rx->stream->first_sequence;

	*number = signature_number(sequence, rx->sent);
	/* Farther back a newer number is as likely. */
	if (rx->sent - *number < SIGNATURE_NUMBERS / 2 && *number - first < rx->sent - first)
		return true;
	/* A line of the sender's: it is asked no more often than this. */
	rx->sent = __atomic_load_n(&rx->stream->next_sequence, __ATOMIC_RELAXED);
	*number = signature_number(sequence, rx->sent);
	return *number - first < rx->sent - first;
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

bool stream_rx_note_ip_id(
	struct tester_worker *worker, const uint8_t *frame, unsigned length, uint16_t port)
{
	struct ip_id_packet packet;
	struct stream_rx *rx;

	if (!ip_id_read(frame, length, &packet) || packet.id > UINT16_MAX)
		return false;
	rx = &worker->streams[ip_id_of((uint16_t)packet.id)];
	if (__atomic_load_n(&rx->ip_id.version, __ATOMIC_ACQUIRE) == 0 ||
		!ip_id_matches(&rx->ip_id, &packet) ||
		(rx->rx_port != STREAM_RX_NO_PORT && rx->rx_port != port))
		return false;
	rx->sequence.received++;
	rx->rx_bytes += length + RTE_ETHER_CRC_LEN;
	worker->received++;
	if (rx->port != port)
		stream_rx_note_elsewhere(rx, port, 1, length + RTE_ETHER_CRC_LEN);
	return true;
}
