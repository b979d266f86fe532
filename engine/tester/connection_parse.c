/* SPDX-License-Identifier: BSD-3-Clause */
/* The tester's "connections" object. */
#include "connections.h"
#include "hex.h"

#include "port/port.h"

#include <stdio.h>
#include <stdlib.h>

#define CPS_MAX 10e6
#define GAP_US_MAX 3600e6
#define WEIGHT_MAX 65535

static void parse_port(struct connections *connections, enum connection_side side,
	const struct config_node *node, const char *key)
{
	struct config_node child = config_child(node, key);
	const char *name = config_required(node, key);
	const struct port *port = port_find(name);

	connections->port_indices[side] = port == NULL ? -1 : (int)port->index;
	if (name[0] != '\0' && (port == NULL || !port->tester))
		config_mistake(&child, "expected the name of one of the tester's ports");
}

static void parse_macs(struct connections *connections, enum connection_side side,
	const struct config_node *node, const char *key)
{
	struct config_node macs = config_child(node, key);
	struct config_node src = config_child(&macs, "src");

	if (!config_is_object(&macs)) {
		if (macs.json == NULL)
			config_mistake(node, "%s: expected {\"dst\": MAC address}", key);
		return;
	}
	config_known(&macs, "src", "dst");
	connections->has_src[side] = src.json != NULL;
	if (src.json != NULL)
		config_mac(&macs, "src", &connections->src[side]);
	config_mac(&macs, "dst", &connections->dst[side]);
}

static struct connection_range parse_ports(const struct config_node *node)
{
	struct config_node range = config_child(node, "client_ports");
	struct connection_range read = {1024, UINT16_MAX};

	if (!config_object(&range, "min", "max"))
		return read;
	read.min = (uint32_t)config_u64(&range, "min", read.min, 1, UINT16_MAX);
	read.max = (uint32_t)config_u64(&range, "max", read.max, 1, UINT16_MAX);
	if (read.max < read.min) {
		config_mistake(&range, "expected min before max");
		read.max = read.min;
	}
	return read;
}

/* Returns the frame's bytes, with room for whole blocks; NULL after counting a mistake. */
static uint8_t *parse_hex(const struct config_node *node, unsigned *length)
{
	const char *text = config_required(node, "frame");
	size_t digits = strlen(text);
	uint8_t *frame;

	*length = (unsigned)(digits / 2);
	if (digits == 0)
		return NULL;
	if (digits % 2 != 0 || digits / 2 > CONNECTION_FRAME_MAX) {
		config_mistake(node, "frame: expected 1 to %d bytes as hexadecimal digits",
			CONNECTION_FRAME_MAX);
		return NULL;
	}
	frame = calloc(1, RTE_ALIGN_CEIL(digits / 2, CONNECTION_FRAME_BLOCK));
	if (frame != NULL && hex_read(frame, text, digits / 2) < digits / 2) {
		config_mistake(node, "frame: expected hexadecimal digits");
		free(frame);
		return NULL;
	}
	return frame;
}

static void parse_prefix(
	struct connections *connections, unsigned side, const struct config_node *node)
{
	static const char *const keys[CONNECTION_SIDES] = {"clients", "servers"};
	struct config_node child = config_child(node, keys[side]);
	struct in6_addr address;

	if (!config_ip6(node, keys[side], &address))
		return;
	if (address.s6_addr32[3] != 0)
		config_mistake(&child, "expected the last 32 bits to be zero, as in 2001:db8::");
	memcpy(connections->prefixes.of[side], &address, sizeof(connections->prefixes.of[side]));
}

static void parse_prefixes(struct connections *connections, const struct config_node *node)
{
	struct config_node prefixes = config_child(node, "ip6_prefixes");

	if (!config_object(&prefixes, "clients", "servers"))
		return;
	for (unsigned side = 0; side < CONNECTION_SIDES; side++)
		parse_prefix(connections, side, &prefixes);
}

static void parse_packet(struct connections *connections, const struct config_node *node)
{
	static const char *const sides[] = {"client", "server", NULL};
	struct connection_packet packet = {0};
	const char *mistake;
	unsigned length;
	uint8_t *frame;

	if (!config_object(node, "from", "after_us", "frame"))
		return;
	packet.side = (uint8_t)config_choice(node, "from", sides, SIDE_CLIENT);
	frame = parse_hex(node, &length);
	if (frame == NULL)
		return;
	mistake = connection_frame_read(&packet, frame, length, &connections->prefixes);
	if (mistake != NULL) {
		config_mistake(node, "frame: %s", mistake);
		free(frame);
		return;
	}
	packet.frame = frame;
	connections->gaps_us[connections->nb_packets] =
		config_number(node, "after_us", 0, 0, GAP_US_MAX);
	connections->packets[connections->nb_packets++] = packet;
}

/* Room for `more` packets. */
static bool grow(struct connections *connections, size_t more)
{
	size_t count = connections->nb_packets + more;
	void *packets = realloc(connections->packets, count * sizeof(*connections->packets));
	void *gaps;

	if (packets == NULL)
		return false;
	connections->packets = packets;
	gaps = realloc(connections->gaps_us, count * sizeof(*connections->gaps_us));
	if (gaps == NULL)
		return false;
	connections->gaps_us = gaps;
	return true;
}

static void parse_packets(struct connections *connections, struct connection_template *template,
	const struct config_node *array)
{
	size_t count = config_items(array);

	template->first_packet = connections->nb_packets;
	if (count == 0)
		config_mistake(array, "expected an array of packets");
	if (connections->nb_packets + count > CONNECTION_PACKETS_MAX) {
		config_mistake(array, "more than %d packets", CONNECTION_PACKETS_MAX);
		return;
	}
	if (count == 0 || !grow(connections, count))
		return;
	CONFIG_EACH (item, array)
		parse_packet(connections, &item);
	template->nb_packets = connections->nb_packets - template->first_packet;
}

static void parse_template(struct connections *connections, const struct config_node *node)
{
	struct config_node server = config_child(node, "server");
	struct config_node packets = config_child(node, "packets");
	unsigned index = connections->nb_templates++;
	struct connection_template *template = &connections->templates[index];

	if (!config_object(node, "name", "cps", "weight", "limit", "server", "client_pool",
		    "server_pool", "packets"))
		return;
	snprintf(template->name, sizeof(template->name), "%s", config_string(node, "name", ""));
	if (template->name[0] == '\0')
		snprintf(template->name, sizeof(template->name), "%u", index);
	template->cps = config_number(node, "cps", 1, 1e-6, CPS_MAX);
	template->weight = (unsigned)config_u64(node, "weight", 1, 1, WEIGHT_MAX);
	template->limit = (uint32_t)config_u64(node, "limit", 0, 0, CONNECTIONS_MAX);
	template->one_server = server.json != NULL;
	if (template->one_server)
		config_ip4(node, "server", &template->server);
	connections_parse_choice(connections, template, node);
	parse_packets(connections, template, &packets);
}

static void parse_templates(struct connections *connections, const struct config_node *array)
{
	size_t count = config_items(array);

	if (count == 0 || count > CONNECTION_TEMPLATES_MAX) {
		config_mistake(
			array, "expected an array of 1 to %d templates", CONNECTION_TEMPLATES_MAX);
		return;
	}
	connections->templates =
		aligned_alloc(RTE_CACHE_LINE_SIZE, count * sizeof(*connections->templates));
	if (connections->templates == NULL)
		return;
	memset(connections->templates, 0, count * sizeof(*connections->templates));
	CONFIG_EACH (item, array)
		parse_template(connections, &item);
	/* Templates of one rate do not start all at the same moment. */
	for (size_t i = 0; i < count; i++)
		connections->templates[i].phase = ((double)i + 0.5) / (double)count;
}

static void parse_ends(struct connections *connections, const struct config_node *node)
{
	struct config_node server = config_child(node, "server_port");

	parse_port(connections, SIDE_CLIENT, node, "client_port");
	parse_port(connections, SIDE_SERVER, node, "server_port");
	if (connections->port_indices[SIDE_CLIENT] >= 0 &&
		connections->port_indices[SIDE_CLIENT] == connections->port_indices[SIDE_SERVER])
		config_mistake(&server, "expected another port than the clients'");
	parse_macs(connections, SIDE_CLIENT, node, "client_macs");
	parse_macs(connections, SIDE_SERVER, node, "server_macs");
}

struct connections *connections_parse(const struct config_node *node)
{
	struct config_node templates = config_child(node, "templates");
	unsigned mistakes = node->config->mistakes;
	struct connections *connections;

	if (!config_is_object(node))
		return NULL;
	connections = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*connections));
	if (connections == NULL)
		return NULL;
	memset(connections, 0, sizeof(*connections));
	config_known(node, "client_port", "server_port", "client_macs", "server_macs", "clients",
		"servers", "client_ports", "ip6_prefixes", "order", "max_active", "templates");
	parse_ends(connections, node);
	connections_parse_pools(connections, node);
	parse_prefixes(connections, node);
	connections->client_ports.range = parse_ports(node);
	connections->max_active = (uint32_t)config_u64(node, "max_active", 0, 1, CONNECTIONS_MAX);
	parse_templates(connections, &templates);
	if (node->config->mistakes == mistakes)
		return connections;
	connections_free(connections);
	return NULL;
}

void connections_free(struct connections *connections)
{
	for (uint32_t i = 0; i < connections->nb_packets; i++)
		free((void *)(uintptr_t)connections->packets[i].frame);
	free(connections->packets);
	free(connections->gaps_us);
	free(connections->templates);
	for (unsigned side = 0; side < CONNECTION_SIDES; side++)
		free(connections->pools[side]);
	free(connections);
}
