/* SPDX-License-Identifier: BSD-3-Clause */
#include "port.h"

#include "core/ledger.h"
#include "core/worker.h"

#include <errno.h>
#include <rte_cycles.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct port_driver *port_drivers;
static struct port *ports[PORTS_MAX];
static unsigned nb_ports;

static struct port_driver *port_driver_find(const struct config_node *node)
{
	const char *name = config_required(node, "driver");
	char list[256] = "";

	for (struct port_driver *driver = port_drivers; driver != NULL; driver = driver->link) {
		if (strcmp(driver->name, name) == 0)
			return driver;
		strncat(list, list[0] == '\0' ? "" : ", ", sizeof(list) - strlen(list) - 1);
		strncat(list, driver->name, sizeof(list) - strlen(list) - 1);
	}
	if (name[0] != '\0') {
		struct config_node key = config_child(node, "driver");

		config_mistake(&key, "expected one of: %s", list);
	}
	return NULL;
}

static bool port_name_is_good(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.";
	size_t length = strlen(name);

	return length > 0 && length < 24 && strspn(name, letters) == length;
}

static void port_known_keys(const struct config_node *node, const struct port_driver *driver)
{
	const char *keys[32] = {"name", "driver", "mac"};
	unsigned count = 3;

	for (unsigned i = 0; driver->keys[i] != NULL && count < RTE_DIM(keys) - 1; i++)
		keys[count++] = driver->keys[i];
	config_known_keys(node, keys);
}

static void port_parse(const struct config_node *node)
{
	struct config_node name_key = config_child(node, "name");
	const char *name;
	struct port *port;

	if (!config_is_object(node))
		return;
	name = config_required(node, "name");
	if (name[0] != '\0' && !port_name_is_good(name))
		config_mistake(&name_key, "expected 1 to 23 letters, digits, '_' or '.'");
	else if (port_find(name) != NULL)
		config_mistake(&name_key, "another port is called %s", name);
	if (nb_ports == PORTS_MAX) {
		config_mistake(node, "more than %d ports", PORTS_MAX);
		return;
	}
	port = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*port));
	if (port == NULL)
		return;
	memset(port, 0, sizeof(*port));
	snprintf(port->name, sizeof(port->name), "%.23s", name);
	port->driver = port_driver_find(node);
	if (port->driver == NULL) {
		free(port);
		return;
	}
	port->index = (uint16_t)nb_ports;
	port->wire_end = port->driver->wire_end;
	/* A locally administered address of our own unless one is given. */
	port->mac = (struct rte_ether_addr){
		{0x02, 'L', 'R', 0, (uint8_t)(nb_ports >> 8), (uint8_t)nb_ports}};
	port->mac_given = config_child(node, "mac").json != NULL;
	config_mac(node, "mac", &port->mac);
	port_known_keys(node, port->driver);
	if (port->driver->parse(port, node) != 0) {
		free(port);
		return;
	}
	ports[nb_ports++] = port;
	if (port->system_calls)
		workers_expect_system_calls();
}

void ports_parse(const struct config_node *array)
{
	CONFIG_EACH (item, array)
		port_parse(&item);
}

unsigned ports_count(void)
{
	return nb_ports;
}

struct port *port_at(unsigned index)
{
	return index < nb_ports ? ports[index] : NULL;
}

struct port *port_find(const char *name)
{
	for (unsigned i = 0; i < nb_ports; i++)
		if (name != NULL && strcmp(ports[i]->name, name) == 0)
			return ports[i];
	return NULL;
}

unsigned ports_eal_arguments(const char **arguments, unsigned max)
{
	unsigned count = 0;

	for (unsigned i = 0; i < nb_ports && count < max; i++) {
		const char *argument = ports[i]->driver->eal_argument == NULL
					       ? NULL
					       : ports[i]->driver->eal_argument(ports[i]);

		if (argument != NULL)
			arguments[count++] = argument;
	}
	return count;
}

bool ports_need_pci(void)
{
	const char *arguments[PORTS_MAX];
	unsigned count = ports_eal_arguments(arguments, PORTS_MAX);

	for (unsigned i = 0; i < count; i++)
		if (strncmp(arguments[i], "-a", 2) == 0)
			return true;
	return false;
}

void port_parse_tx_queues(struct port *port, const struct config_node *node)
{
	port->asked_tx_queues = (uint16_t)config_u64(node, "tx_queues", 0, 1, PORT_QUEUES_MAX);
}

int port_plan_tx_queues(struct port *port, unsigned workers)
{
	if (port->asked_tx_queues != 0 && port->asked_tx_queues < workers) {
		fprintf(stderr,
			"port %s: tx_queues: %u are too few for %u workers, which have one each: "
			"expected %u or more\n",
			port->name, port->asked_tx_queues, workers, workers);
		return -EINVAL;
	}
	port->nb_tx_queues = (uint16_t)RTE_MAX(port->asked_tx_queues, workers);
	return 0;
}

static void port_fill_queues(struct port *port)
{
	for (unsigned q = 0; q < PORT_QUEUES_MAX; q++)
		port->queues[q] = (struct port_queue){
			.rx_burst = port->driver->rx_burst,
			.rx = port->rx_queues[q],
			.tx_burst = port->driver->tx_burst,
			.tx = port->tx_queues[q],
			.port = port,
		};
}

int ports_configure(void)
{
	for (unsigned i = 0; i < nb_ports; i++) {
		int rc = ports[i]->driver->configure(ports[i]);

		port_fill_queues(ports[i]);
		if (rc != 0 && rc != -EINVAL)
			fprintf(stderr, "port %s: cannot be configured: %s\n", ports[i]->name,
				strerror(-rc));
		if (rc != 0)
			return rc;
	}
	return 0;
}

int ports_start(void)
{
	for (unsigned i = 0; i < nb_ports; i++) {
		int rc = ports[i]->driver->start == NULL ? 0 : ports[i]->driver->start(ports[i]);

		if (rc != 0) {
			fprintf(stderr, "port %s: cannot be started: %s\n", ports[i]->name,
				strerror(-rc));
			return rc;
		}
	}
	return 0;
}

void ports_stop(void)
{
	for (unsigned i = 0; i < nb_ports; i++)
		if (ports[i]->driver->stop != NULL)
			ports[i]->driver->stop(ports[i]);
}

void ports_tick(void)
{
	for (unsigned i = 0; i < nb_ports; i++)
		if (ports[i]->driver->tick != NULL)
			ports[i]->driver->tick(ports[i]);
}

void port_link_note(struct port *port, struct port_link *link, bool up)
{
	if (link->known && up && !link->up) {
		link->ups++;
		link->up_tsc = rte_rdtsc();
	} else if (link->known && !up && link->up) {
		link->downs++;
		link->down_tsc = rte_rdtsc();
	}
	link->known = true;
	link->up = up;
	__atomic_store_n(&port->link_down, !up, __ATOMIC_RELAXED);
}

static void read_drivers(struct ledger *ledger)
{
	for (unsigned i = 0; i < nb_ports; i++)
		if (ports[i]->driver->ledger != NULL)
			ports[i]->driver->ledger(ports[i], ledger);
}
LEDGER_SOURCE_REGISTER(LEDGER_STAGE_PORTS, read_drivers)
