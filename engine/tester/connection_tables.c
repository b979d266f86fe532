/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up of connections before they begin: tables, frames, nodes. */
#include "connections.h"

#include "core/memory.h"
#include "core/worker.h"
#include "tester.h"

#include <errno.h>
#include <rte_cycles.h>
#include <stdio.h>
#include <stdlib.h>

/* Made by one call of the node and kept by the wires. */
#define CONNECTION_BUFFERS (2 * SENDER_BUFFERS)
/* Default of active connections, in lifetimes of connections at the configured rate. */
#define ACTIVE_FACTOR 2.0
#define ACTIVE_MORE 1024

static double side_rate(const struct connections *connections, enum connection_side side,
	double a_frame, double a_byte)
{
	double rate = 0;

	for (unsigned t = 0; t < connections->nb_templates; t++) {
		const struct connection_template *template = &connections->templates[t];

		for (uint32_t p = 0; p < template->nb_packets; p++) {
			const struct connection_packet *packet =
				&connections->packets[template->first_packet + p];

			if (packet->side == side)
				rate += template->cps * (a_frame + a_byte * packet->length);
		}
	}
	return rate;
}

double connections_pps(const struct connections *connections, enum connection_side side)
{
	return side_rate(connections, side, 1, 0);
}

double connections_l1_bps(const struct connections *connections, enum connection_side side)
{
	return side_rate(connections, side, (RTE_ETHER_CRC_LEN + 20) * 8.0, 8);
}

/* Expected number of active connections, twice and some more. */
static uint32_t usual_active(const struct connections *connections)
{
	double active = 0;

	for (unsigned t = 0; t < connections->nb_templates; t++) {
		const struct connection_template *template = &connections->templates[t];

		for (uint32_t p = 0; p < template->nb_packets; p++)
			active += template->cps / 1e6 *
				  connections->gaps_us[template->first_packet + p];
	}
	return (uint32_t)RTE_MIN(ACTIVE_FACTOR * active + ACTIVE_MORE, (double)CONNECTIONS_MAX);
}

static int create_pools(struct connections *connections)
{
	int rc = connection_ports_create(&connections->client_ports, connections->max_active);

	for (unsigned i = 0; i < connections->nb_pools[SIDE_CLIENT] && rc == 0; i++)
		rc = connection_pool_create(
			&connections->pools[SIDE_CLIENT][i], connections->client_ports.range);
	return rc;
}

/* Address ranges of all connections: of pools, and of templates that have a server of their own. */
static int create_ranges(struct connections *connections)
{
	for (unsigned side = 0; side < CONNECTION_SIDES; side++) {
		struct connection_ranges *known = &connections->addresses[side];

		known->ranges = calloc(connections->nb_pools[side] + connections->nb_templates,
			sizeof(*known->ranges));
		if (known->ranges == NULL)
			return -ENOMEM;
		for (unsigned i = 0; i < connections->nb_pools[side]; i++)
			known->ranges[known->count++] = connections->pools[side][i].addresses;
		for (unsigned t = 0; side == SIDE_SERVER && t < connections->nb_templates; t++)
			if (connections->templates[t].one_server)
				known->ranges[known->count++] =
					(struct connection_range){connections->templates[t].server,
						connections->templates[t].server};
		connection_ranges_merge(known);
	}
	return 0;
}

static int create_tables(struct connections *connections)
{
	uint32_t count;

	if (connections->max_active == 0)
		connections->max_active = usual_active(connections);
	count = connections->max_active;
	connections->living = memory_map_whole(count * sizeof(*connections->living));
	connections->free_numbers = memory_map_whole(count * sizeof(*connections->free_numbers));
	if (connections->living == NULL || connections->free_numbers == NULL ||
		create_pools(connections) != 0 || create_ranges(connections) != 0 ||
		connection_wheel_create(&connections->wheel, count + connections->nb_templates) !=
			0) {
		fprintf(stderr,
			"no memory for %u connections; lower tester.connections.max_active\n",
			count);
		return -ENOMEM;
	}
	connections_clear(connections);
	return 0;
}

static void set_macs(const struct connections *connections, uint8_t *frame, uint8_t side)
{
	const struct port *port = connections->ports[side]->port;
	const struct rte_ether_addr *src =
		connections->has_src[side] ? &connections->src[side] : &port->mac;

	memcpy(frame, &connections->dst[side], RTE_ETHER_ADDR_LEN);
	memcpy(frame + RTE_ETHER_ADDR_LEN, src, RTE_ETHER_ADDR_LEN);
}

/* All frames one after the other, on pages like those of packets. */
static int place_frames(struct connections *connections)
{
	double hertz = (double)rte_get_tsc_hz();
	size_t bytes = 0;
	uint8_t *at;

	for (uint32_t i = 0; i < connections->nb_packets; i++)
		bytes += RTE_ALIGN_CEIL(connections->packets[i].length, CONNECTION_FRAME_BLOCK);
	at = memory_map(bytes);
	if (at == NULL) {
		fprintf(stderr, "no memory for %zu bytes of frames\n", bytes);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < connections->nb_packets; i++) {
		struct connection_packet *packet = &connections->packets[i];
		size_t block = RTE_ALIGN_CEIL(packet->length, CONNECTION_FRAME_BLOCK);

		memcpy(at, packet->frame, block);
		free((void *)(uintptr_t)packet->frame);
		packet->frame = at;
		packet->gap_clocks = (uint64_t)(connections->gaps_us[i] * hertz / 1e6);
		set_macs(connections, at, packet->side);
		at += block;
	}
	return 0;
}

static int check_frames(const struct connections *connections)
{
	for (unsigned t = 0; t < connections->nb_templates; t++) {
		const struct connection_template *template = &connections->templates[t];

		for (uint32_t p = 0; p < template->nb_packets; p++) {
			const struct connection_packet *packet =
				&connections->packets[template->first_packet + p];
			const struct port *port = connections->ports[packet->side]->port;
			unsigned bytes = packet->length + (unsigned)RTE_ETHER_CRC_LEN;

			if (bytes <= port->max_frame_bytes)
				continue;
			fprintf(stderr,
				"template %s: its packet %u has %u bytes, port %s takes at most %u;"
				" capture it without offloads, or raise max_frame_bytes\n",
				template->name, p, bytes, port->name, port->max_frame_bytes);
			return -EINVAL;
		}
	}
	return 0;
}

static int check_lines(const struct connections *connections)
{
	for (unsigned side = 0; side < CONNECTION_SIDES; side++) {
		const struct port *port = connections->ports[side]->port;
		double line = (double)port->driver->link_bps(port);
		double bps = connections_l1_bps(connections, (enum connection_side)side);

		if (line == 0 || bps <= line * 1.000001)
			continue;
		fprintf(stderr,
			"port %s: its connections ask for %.6g of %.6g L1 bit/s: %.4g %% of line\n",
			port->name, bps, line, 100 * bps / line);
		return -EINVAL;
	}
	return 0;
}

int connections_create(struct connections *connections)
{
	unsigned longest = CONNECTION_FRAME_MIN;
	int rc;

	for (unsigned side = 0; side < CONNECTION_SIDES; side++)
		connections->ports[side] = tester_port_of(connections->port_indices[side]);
	rc = check_frames(connections);
	if (rc == 0)
		rc = check_lines(connections);
	if (rc == 0)
		rc = create_tables(connections);
	if (rc == 0)
		rc = place_frames(connections);
	if (rc != 0)
		return rc;
	for (uint32_t i = 0; i < connections->nb_packets; i++)
		longest = RTE_MAX(longest, connections->packets[i].length);
	connections->mbufs = memory_packet_pool("connections", CONNECTION_BUFFERS,
		(uint16_t)(RTE_ALIGN_CEIL(longest, CONNECTION_FRAME_BLOCK) + RTE_ETHER_CRC_LEN));
	return connections->mbufs == NULL ? -ENOMEM : 0;
}

int connections_create_nodes(struct connections *connections, struct worker *worker,
	const char *const *made, const char *const *kept)
{
	const char *const nexts[] = {made[0], made[1], kept[0], kept[1], NULL};
	const char *suffix = connections->ports[SIDE_CLIENT]->port->name;
	char name[RTE_NODE_NAMESIZE];

	if (node_clone("connections", suffix, connections, nexts) == RTE_NODE_ID_INVALID)
		return -EINVAL;
	snprintf(name, sizeof(name), "connections-%s", suffix);
	worker_add_node(worker, name);
	return 0;
}
