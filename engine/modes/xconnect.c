/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode xconnect, VPP's word: ports are joined in pairs as configured, and frames pass unseen.
 * As in io there is no node for it. Without configuration the pairs are those of io.
 */
#include "forwarder.h"

#include <stdio.h>

static struct port *peers[PORTS_MAX]; /* by port->index; NULL: not joined */

static struct port *parse_end(const struct config_node *pair, size_t index)
{
	struct config_node item = config_item(pair, index);
	struct port *port = port_find(json_string_value(item.json));

	if (port == NULL || !forwarder_has_port(port)) {
		config_mistake(&item, "expected the name of one of the forwarder's ports");
		return NULL;
	}
	if (peers[port->index] != NULL) {
		config_mistake(&item, "%s is joined already", port->name);
		return NULL;
	}
	return port;
}

static void parse_pair(const struct config_node *pair)
{
	struct port *ends[2];

	if (config_items(pair) != 2) {
		config_mistake(pair, "expected the names of two ports");
		return;
	}
	for (size_t i = 0; i < 2; i++)
		ends[i] = parse_end(pair, i);
	if (ends[0] == NULL || ends[1] == NULL)
		return;
	if (ends[0] == ends[1]) {
		config_mistake(pair, "a port cannot be joined to itself");
		return;
	}
	peers[ends[0]->index] = ends[1];
	peers[ends[1]->index] = ends[0];
}

static void join_neighbours(const struct config_node *node)
{
	if (forwarder_ports() % 2 != 0) {
		config_mistake(node, "an odd number of ports: expected \"pairs\"");
		return;
	}
	for (unsigned i = 0; i < forwarder_ports(); i++)
		peers[forwarder_port(i)->index] = forwarder_port(i ^ 1);
}

static void xconnect_parse(const struct config_node *node)
{
	struct config_node array = config_child(node, "pairs");

	if (!config_object(node, "pairs") || config_items(&array) == 0) {
		join_neighbours(node);
		return;
	}
	CONFIG_EACH (pair, &array)
		parse_pair(&pair);
	for (unsigned i = 0; i < forwarder_ports(); i++)
		if (peers[forwarder_port(i)->index] == NULL)
			config_mistake(&array, "%s is in no pair", forwarder_port(i)->name);
}

static int xconnect_entry(
	struct port *port, __rte_unused struct port *peer, char name[RTE_NODE_NAMESIZE])
{
	snprintf(name, RTE_NODE_NAMESIZE, "port-tx-%s", peers[port->index]->name);
	return 0;
}

static struct forwarding_mode xconnect_mode = {
	.name = "xconnect",
	.key = "xconnect",
	.parse = xconnect_parse,
	.entry = xconnect_entry,
};
FORWARDING_MODE_REGISTER(xconnect_mode)
