/* SPDX-License-Identifier: BSD-3-Clause */
#include "forwarder.h"

#include "../worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct forwarding_mode *modes;
static struct forwarding_mode *mode;
static struct port *ports[PORTS_MAX];
static unsigned nb_ports;
static unsigned nb_workers;

void forwarding_mode_register(struct forwarding_mode *new_mode)
{
	new_mode->link = modes;
	modes = new_mode;
}

static void parse_mode(const struct config_node *node)
{
	struct config_node key = config_child(node, "mode");
	const char *name = config_required(node, "mode");
	char list[256] = "";

	for (struct forwarding_mode *m = modes; m != NULL; m = m->link) {
		strncat(list, list[0] == '\0' ? "" : ", ", sizeof(list) - strlen(list) - 1);
		strncat(list, m->name, sizeof(list) - strlen(list) - 1);
		if (strcmp(m->name, name) == 0)
			mode = m;
	}
	if (mode == NULL && name[0] != '\0')
		config_mistake(&key, "expected one of: %s", list);
}

static void parse_ports(const struct config_node *array)
{
	size_t count = config_items(array);

	if (count == 0)
		config_mistake(array, "expected an array of port names");
	for (size_t i = 0; i < count && nb_ports < PORTS_MAX; i++) {
		struct config_node item = config_item(array, i);
		struct port *port =
			json_is_string(item.json) ? port_find(json_string_value(item.json)) : NULL;

		if (port == NULL)
			config_mistake(&item, "expected the name of a port");
		else if (port->tester)
			config_mistake(&item, "%s is the tester's", port->name);
		else if (port->wire_end)
			config_mistake(&item, "%s is the tester's end of a card", port->name);
		else if (forwarder_has_port(port))
			config_mistake(&item, "named twice");
		else
			ports[nb_ports++] = port;
	}
	if (mode != NULL && mode->paired && count % 2 != 0)
		config_mistake(array, "%s pairs its ports: expected an even number", mode->name);
}

void forwarder_parse(const struct config_node *node)
{
	const char *keys[] = {"mode", "ports", "workers", NULL, NULL};
	struct config_node array = config_child(node, "ports");

	if (!config_is_object(node))
		return;
	parse_mode(node);
	if (mode != NULL)
		keys[3] = mode->key;
	config_known(node, keys);
	parse_ports(&array);
	nb_workers = (unsigned)config_u64(node, "workers", 1, 1, PORT_QUEUES_MAX);
	if (mode != NULL && mode->parse != NULL) {
		struct config_node own = config_child(node, mode->key);

		mode->parse(&own);
	}
}

bool forwarder_present(void)
{
	return mode != NULL;
}

const char *forwarder_mode(void)
{
	return mode == NULL ? "none" : mode->name;
}

unsigned forwarder_workers(void)
{
	return mode == NULL ? 0 : nb_workers;
}

unsigned forwarder_ports(void)
{
	return nb_ports;
}

struct port *forwarder_port(unsigned index)
{
	return ports[index];
}

bool forwarder_has_port(const struct port *port)
{
	for (unsigned i = 0; i < nb_ports; i++)
		if (ports[i] == port)
			return true;
	return false;
}

/* One port-tx a port, walked by every worker on a tx queue of its own. */
static int create_tx(void)
{
	for (unsigned i = 0; i < nb_ports; i++)
		if (node_clone("port-tx", ports[i]->name, ports[i], NULL) == RTE_NODE_ID_INVALID)
			return -EINVAL;
	return 0;
}

/* One port-rx an rx queue; queue q goes to worker q modulo workers. */
static int create_rx(struct port *port, struct port *peer)
{
	char entry[RTE_NODE_NAMESIZE], name[RTE_NODE_NAMESIZE], suffix[RTE_NODE_NAMESIZE - 16];
	const char *const nexts[] = {entry, NULL};
	int rc;

	if (mode->entry == NULL)
		return 0;
	rc = mode->entry(port, peer, entry);
	if (rc != 0)
		return rc;
	for (unsigned q = 0; q < port->nb_rx_queues; q++) {
		snprintf(suffix, sizeof(suffix), "%s-%u", port->name, q);
		if (node_clone("port-rx", suffix, port_queue(port, q), nexts) ==
			RTE_NODE_ID_INVALID)
			return -EINVAL;
		snprintf(name, sizeof(name), "port-rx-%s", suffix);
		worker_add_node(worker_of_forwarder(q % nb_workers), name);
	}
	return 0;
}

int forwarder_create(void)
{
	int rc = create_tx();

	if (rc == 0 && mode->create != NULL)
		rc = mode->create();
	for (unsigned i = 0; i < nb_ports && rc == 0; i++)
		rc = create_rx(ports[i], mode->paired ? ports[i ^ 1] : NULL);
	return rc;
}

void forwarder_tick(void)
{
	if (mode != NULL && mode->tick != NULL)
		mode->tick();
}
