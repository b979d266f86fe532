/* SPDX-License-Identifier: BSD-3-Clause */
#include "tester.h"

#include "core/ledger.h"
#include "core/worker.h"
#include "connections.h"
#include "division.h"
#include "inject.h"
#include "ip_id.h"
#include "responder.h"
#include "sender.h"
#include "stream_rx.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A burst of so slow frames takes 25 ms at 2.5 GHz. */
#define BURN_CLOCKS_MAX 1000000

struct tester tester;

struct tester_port *tester_port_of(int port)
{
	for (unsigned i = 0; i < tester.nb_ports; i++)
		if (tester.ports[i].port->index == port)
			return &tester.ports[i];
	return NULL;
}

static void parse_ports(const struct config_node *array)
{
	size_t count = config_items(array);

	if (count == 0)
		config_mistake(array, "expected an array of port names");
	for (size_t i = 0; i < count && tester.nb_ports < PORTS_MAX; i++) {
		struct config_node item = config_item(array, i);
		struct port *port = port_find(json_string_value(item.json));

		if (port == NULL)
			config_mistake(&item, "expected the name of a port");
		else if (port->tester)
			config_mistake(&item, "named twice");
		else {
			port->tester = true;
			tester.ports[tester.nb_ports++].port = port;
		}
	}
}

int tester_stream_add(struct tester_port *port, struct stream *stream)
{
	struct stream **streams = realloc(port->streams, (port->nb_streams + 1) * sizeof(*streams));

	if (streams == NULL)
		return -ENOMEM;
	port->streams = streams;
	if (tester.nb_streams == STREAMS_MAX)
		return -ENOSPC;
	stream->port = port->port->index;
	stream->id = (uint16_t)tester.nb_streams;
	ip_id_write(stream);
	if (stream->name[0] == '\0')
		snprintf(stream->name, sizeof(stream->name), "%u", stream->id);
	streams[port->nb_streams++] = stream;
	port->nb_stamped += stream->stamped;
	if (!stream->is_part) {
		tester.rows[tester.nb_rows] = stream;
		__atomic_store_n(&tester.nb_rows, tester.nb_rows + 1, __ATOMIC_RELEASE);
	}
	/* A worker that sees the number sees the stream. */
	tester.streams[tester.nb_streams] = stream;
	__atomic_store_n(&tester.nb_streams, tester.nb_streams + 1, __ATOMIC_RELEASE);
	return 0;
}

static void add_stream(struct stream *stream, const struct config_node *node)
{
	struct tester_port *port = tester_port_of(stream->port);
	const struct stream *other;

	stream->id = (uint16_t)tester.nb_streams;
	other = ip_id_clash(stream, tester.streams, tester.nb_streams);
	if (port == NULL)
		config_mistake(node, "port: expected the name of one of the tester's ports");
	else if (other != NULL)
		config_mistake(node, IP_ID_CLASH, stream->name, other->name);
	else if (tester_stream_add(port, stream) != 0)
		config_mistake(node, "no memory");
}

static void parse_burn(const struct config_node *node)
{
	if (!config_object(node, "clocks"))
		return;
	tester.burn_clocks = config_u64(node, "clocks", 0, 0, BURN_CLOCKS_MAX);
}

/* Where latency streams are, all ports of the tester say when frames came. */
static void check_latency(const struct config_node *streams)
{
	unsigned stamped = 0;

	for (unsigned i = 0; i < tester.nb_ports; i++)
		stamped += tester.ports[i].nb_stamped;
	for (unsigned i = 0; i < tester.nb_ports; i++)
		tester.ports[i].port->stamps_rx = stamped > 0 || tester.takes_profiles;
	if (stamped > LATENCY_STREAMS_MAX)
		config_mistake(streams, "%u latency streams, expected at most %d", stamped,
			LATENCY_STREAMS_MAX);
}

void tester_parse(const struct config_node *node)
{
	struct config_node burn = config_child(node, "burn");
	struct config_node ports = config_child(node, "ports");
	struct config_node addresses = config_child(node, "addresses");
	struct config_node streams = config_child(node, "streams");
	struct config_node connections = config_child(node, "connections");
	size_t count = json_array_size(streams.json);

	if (!config_object(node, "ports", "addresses", "streams", "connections", "burn", "profiles",
		    "workers"))
		return;
	tester.takes_profiles = config_bool(node, "profiles", false);
	tester.asked_workers = (unsigned)config_u64(node, "workers", 1, 1, TESTER_WORKERS_MAX);
	parse_ports(&ports);
	responders_parse(&addresses);
	parse_burn(&burn);
	tester.connections = connections_parse(&connections);
	if (connections.json != NULL && tester.asked_workers > 1)
		config_mistake(&connections, "a tester of connections has one worker");
	if (count > 0 && connections.json != NULL)
		config_mistake(&streams, "a tester has streams or connections, not both");
	if (count > STREAMS_MAX) {
		config_mistake(&streams, "more than %d streams", STREAMS_MAX);
		return;
	}
	CONFIG_EACH (item, &streams) {
		struct stream *stream = stream_parse(&item);

		if (stream != NULL)
			add_stream(stream, &item);
	}
	check_latency(&streams);
}

static int stream_set_pps(struct stream *stream, const struct port *port, FILE *complaints)
{
	double line_bps = (double)port->driver->link_bps(port);
	double l1_bits = stream_l1_bits(stream);

	switch (stream->rate_kind) {
	case RATE_PPS:
		stream->pps = stream->rate;
		break;
	case RATE_L1_BPS:
		stream->pps = stream->rate / l1_bits;
		break;
	case RATE_L2_BPS:
		stream->pps = stream->rate / (stream->mean_bytes * 8.0);
		break;
	case RATE_PERCENT:
		if (line_bps == 0) {
			fprintf(complaints,
				"stream %s: rate in percent, but port %s has no known line rate; "
				"give pps, l1_bps or l2_bps\n",
				stream->name, port->name);
			return -EINVAL;
		}
		stream->pps = line_bps * stream->rate / 100 / l1_bits;
		break;
	case RATE_MAX:
		stream->pps = INFINITY; /* or what share_line() says */
		break;
	}
	if (isinf(stream->pps) && (stream->bursts.frames != 0 || stream->bursts.start_s != 0)) {
		fprintf(complaints, "stream %s: bursts and start_us go with a rate; give one\n",
			stream->name);
		return -EINVAL;
	}
	return 0;
}

/* Streams without rates of their own fill the line together, in proportion to their weights. */
static void share_line(const struct tester_port *port)
{
	double line_bps = (double)port->port->driver->link_bps(port->port), round_bits = 0;

	for (unsigned i = 0; i < port->nb_streams; i++)
		if (port->streams[i]->rate_kind == RATE_MAX)
			round_bits += port->streams[i]->weight * stream_l1_bits(port->streams[i]);
	for (unsigned i = 0; i < port->nb_streams && line_bps != 0; i++)
		if (port->streams[i]->rate_kind == RATE_MAX)
			port->streams[i]->pps = port->streams[i]->weight * line_bps / round_bits;
}

/* More than the line can carry is a mistake of the plan, not a thing to find out by losses. */
static int check_line(const struct tester_port *port)
{
	double line_bps = (double)port->port->driver->link_bps(port->port), bps = 0;

	for (unsigned i = 0; i < port->nb_streams; i++)
		bps += port->streams[i]->pps * stream_l1_bits(port->streams[i]);
	if (line_bps == 0 || bps <= line_bps * 1.000001)
		return 0;
	fprintf(stderr, "port %s: its streams ask for %.6g of %.6g L1 bit/s: %.4g %% of line\n",
		port->port->name, bps, line_bps, 100 * bps / line_bps);
	return -EINVAL;
}

static int stream_set_new_flows(struct stream *stream, FILE *complaints)
{
	if (stream->flows == NULL || flows_set_rate(stream->flows, stream->pps))
		return 0;
	fprintf(complaints,
		"stream %s: flows.new_per_s: expected at most one for each frame that it sends"
		" a second; give it a rate\n",
		stream->name);
	return -EINVAL;
}

/* Only once it is known that few have histograms. */
static int create_rx(const struct stream *stream)
{
	if (stream_rx_create(stream) == 0)
		return 0;
	fprintf(stderr, "stream %s: no memory for its counters\n", stream->name);
	return -ENOMEM;
}

int tester_stream_prepare(struct stream *stream, const struct port *port, FILE *complaints)
{
	int rc = stream_set_pps(stream, port, complaints);

	if (rc == 0)
		rc = stream_set_new_flows(stream, complaints);
	return rc;
}

static int add_part(struct tester_port *port, struct stream *part)
{
	const struct stream *other;

	part->id = (uint16_t)tester.nb_streams;
	other = ip_id_clash(part, tester.streams, tester.nb_streams);
	if (other == NULL)
		return tester_stream_add(port, part);
	fprintf(stderr, IP_ID_CLASH "\n", part->name, other->name);
	return -EINVAL;
}

/* The parts of a stream are its port's. */
static int add_parts(struct tester_port *port, const struct division *division)
{
	int rc = 0;

	for (unsigned s = 0; s < port->nb_senders; s++)
		for (unsigned i = 0; i < division->senders[s].count && rc == 0; i++) {
			struct stream *stream = division->senders[s].streams[i];

			if (stream->is_part)
				rc = add_part(port, stream);
			if (stream->is_part && rc == 0)
				rc = create_rx(stream);
		}
	return rc;
}

static int create_senders(struct tester_port *port)
{
	struct division division;
	int rc = 0;

	for (unsigned s = 0; s < senders_of(port->port); s++)
		if (sender_new(port) == NULL)
			return -ENOMEM;
	rc = division_make(&division, port->streams, port->nb_streams, port->nb_senders,
		STREAMS_MAX - tester.nb_streams, NULL);
	if (rc == 0)
		rc = add_parts(port, &division);
	for (unsigned s = 0; s < port->nb_senders && rc == 0; s++)
		rc = sender_create(
			port->senders[s], division.senders[s].streams, division.senders[s].count);
	division_free(&division);
	return rc;
}

static int tester_port_create(struct tester_port *port)
{
	int rc;

	for (unsigned i = 0; i < port->nb_streams; i++) {
		rc = stream_set_pps(port->streams[i], port->port, stderr);
		if (rc != 0)
			return rc;
	}
	share_line(port);
	for (unsigned i = 0; i < port->nb_streams; i++) {
		rc = stream_set_new_flows(port->streams[i], stderr);
		if (rc == 0)
			rc = create_rx(port->streams[i]);
		if (rc != 0)
			return rc;
	}
	rc = check_line(port);
	return rc != 0 ? rc : create_senders(port);
}

int tester_create(void)
{
	if (tester_workers_create() != 0 || stream_rx_make_room() != 0)
		return -ENOMEM;
	for (unsigned i = 0; i < tester.nb_ports; i++) {
		int rc = tester_port_create(&tester.ports[i]);

		if (tester.ports[i].port->stamps_rx)
			tester_workers_stamp(tester.ports[i].port);
		if (rc != 0)
			return rc;
	}
	if (responders_create() != 0)
		return -ENOMEM;
	return tester.connections == NULL ? 0 : connections_create(tester.connections);
}

static int create_connections(struct connections *connections, struct worker *worker)
{
	struct sender_nodes client = sender_nodes(connections->ports[SIDE_CLIENT]->senders[0]);
	struct sender_nodes server = sender_nodes(connections->ports[SIDE_SERVER]->senders[0]);
	const char *const made[] = {client.made, server.made};
	const char *const kept[] = {client.wire, server.wire};

	return connections_create_nodes(connections, worker, made, kept);
}

static const char *analyser_name(void)
{
	return tester.connections == NULL ? "analyser" : "connection-analyser";
}

static int create_responder(struct port *port, struct worker *worker)
{
	char node[RTE_NODE_NAMESIZE];

	if (node_clone("responder", port->name, port, NULL) == RTE_NODE_ID_INVALID)
		return -EINVAL;
	snprintf(node, sizeof(node), "responder-%s", port->name);
	worker_add_node(worker, node);
	return 0;
}

/* Each queue is polled by its own worker. */
static int create_rx_nodes(unsigned place)
{
	const char *const to_analyser[] = {analyser_name(), NULL};
	const struct tester_port *port = &tester.ports[place];
	char name[RTE_NODE_NAMESIZE];

	for (unsigned q = 0; q < port->port->nb_rx_queues; q++) {
		snprintf(name, sizeof(name), "%s-%u", port->port->name, q);
		if (node_clone("port-rx", name, port_queue(port->port, q), to_analyser) ==
			RTE_NODE_ID_INVALID)
			return -EINVAL;
		snprintf(name, sizeof(name), "port-rx-%s-%u", port->port->name, q);
		worker_add_node(worker_of_tester(tester_worker_of_queue(place, q)), name);
	}
	return 0;
}

/* A port whose frames connections make has no generator: one of the two finishes a trial. */
static bool has_generator(const struct tester_port *port)
{
	const struct connections *connections = tester.connections;

	return connections == NULL ||
	       (port != connections->ports[SIDE_CLIENT] && port != connections->ports[SIDE_SERVER]);
}

/* Each sender is walked by its own worker; the responder by that of the first, before it. */
static int create_port_nodes(unsigned place)
{
	const struct tester_port *port = &tester.ports[place];
	int rc = create_rx_nodes(place);

	if (rc == 0)
		rc = create_responder(
			port->port, worker_of_tester(tester_worker_of_sender(place, 0)));
	for (unsigned s = 0; s < port->nb_senders && rc == 0; s++) {
		struct worker *worker = worker_of_tester(tester_worker_of_sender(place, s));

		rc = sender_create_tx(port->senders[s], worker);
		if (rc == 0 && has_generator(port))
			rc = sender_create_generator(port->senders[s], worker);
	}
	return rc;
}

int tester_create_nodes(void)
{
	for (unsigned i = 0; i < tester.nb_workers; i++)
		if (tester.workers[i]->ports != 0)
			worker_add_node(tester.workers[i]->worker, analyser_name());
	for (unsigned i = 0; i < tester.nb_ports; i++) {
		int rc = create_port_nodes(i);

		if (rc != 0)
			return rc;
	}
	return tester.connections == NULL
		       ? 0
		       : create_connections(tester.connections, worker_of_tester(0));
}

static uint64_t port_sent(const struct tester_port *port)
{
	const struct connections *connections = tester.connections;
	uint64_t sent = 0;

	for (unsigned i = 0; i < port->nb_streams; i++)
		sent += port->streams[i]->sent;
	for (unsigned side = 0; side < CONNECTION_SIDES && connections != NULL; side++)
		if (connections->ports[side] == port)
			sent += connections_sent(connections, (enum connection_side)side);
	return sent;
}

static uint64_t port_unsigned_sent(const struct tester_port *port)
{
	uint64_t sent = 0;

	for (unsigned i = 0; i < port->nb_streams; i++)
		if (!stream_is_counted(port->streams[i]))
			sent += port->streams[i]->sent;
	return sent;
}

static uint64_t port_held(const struct tester_port *port)
{
	uint64_t held = 0;

	for (unsigned i = 0; i < port->nb_senders; i++)
		held += port->senders[i]->nb_held;
	return held;
}

uint64_t tester_sent(void)
{
	uint64_t sent = 0;

	for (unsigned i = 0; i < tester.nb_ports; i++)
		sent += port_sent(&tester.ports[i]);
	return sent;
}

uint64_t tester_received_frames(void)
{
	uint64_t received = 0;

	for (unsigned i = 0; i < tester.nb_workers; i++)
		received += __atomic_load_n(&tester.workers[i]->received, __ATOMIC_RELAXED);
	return received;
}

uint64_t tester_other(void)
{
	uint64_t other = 0;

	for (unsigned i = 0; i < tester.nb_workers; i++)
		other += __atomic_load_n(&tester.workers[i]->other, __ATOMIC_RELAXED);
	return other;
}

/* Only once a frame came so late that its worker cannot tell. */
static uint64_t late_frames(void)
{
	uint64_t older = 0, late = 0;

	for (unsigned i = 0; i < tester.nb_workers; i++)
		older += __atomic_load_n(&tester.workers[i]->older, __ATOMIC_RELAXED);
	for (unsigned i = 0; older > 0 && i < tester.nb_streams; i++)
		late += stream_rx_late(tester.streams[i]);
	return late;
}

uint64_t tester_received(void)
{
	uint64_t received = tester_received_frames() + late_frames();

	if (tester.connections != NULL)
		received += connections_received();
	return received;
}

static void read_sent(struct ledger *ledger)
{
	for (unsigned i = 0; i < tester.nb_ports; i++) {
		const struct tester_port *port = &tester.ports[i];
		uint64_t unsigned_sent = port_unsigned_sent(port);

		ledger_add(ledger, LEDGER_SENT, port_sent(port) - unsigned_sent, "tester %s",
			port->port->name);
		/* They are received as other frames. */
		if (unsigned_sent != 0)
			ledger_add(ledger, LEDGER_SENT, unsigned_sent, "tester %s: unsigned",
				port->port->name);
		if (port_held(port) != 0)
			ledger_add(ledger, LEDGER_HELD, port_held(port), "tester %s: tx full",
				port->port->name);
	}
	inject_ledger(ledger);
}
LEDGER_SOURCE_REGISTER(LEDGER_STAGE_SENDER, read_sent)

static void read_received(struct ledger *ledger)
{
	uint64_t duplicated = 0, corrupted = 0;

	if (tester.nb_ports == 0)
		return;
	for (unsigned i = 0; i < tester.nb_streams; i++) {
		struct stream_counts counts;

		stream_rx_read(tester.streams[i], &counts);
		duplicated += counts.sequence.duplicated;
		corrupted += counts.corrupted;
	}
	ledger_add(ledger, LEDGER_RECEIVED, tester_received(), "tester");
	ledger_add(ledger, LEDGER_DUPLICATED, duplicated, "tester: came again");
	ledger_add(ledger, LEDGER_CORRUPTED, corrupted, "tester: damaged frames");
	ledger_add(ledger, LEDGER_OTHER, tester_other(), "tester: other frames");
}
LEDGER_SOURCE_REGISTER(LEDGER_STAGE_RECEIVER, read_received)
