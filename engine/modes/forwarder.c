/* SPDX-License-Identifier: BSD-3-Clause */
#include "forwarder.h"

#include "core/worker.h"
#include "impair/burn.h"
#include "impair/delay.h"
#include "impair/lose.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct forwarding_mode *forwarding_modes;
static struct forwarding_mode *mode;
static struct port *ports[PORTS_MAX];
static unsigned nb_ports;
static unsigned nb_workers;
static enum rx_mode rx_mode;

static void parse_mode(const struct config_node *node)
{
	struct config_node key = config_child(node, "mode");
	const char *name = config_required(node, "mode");
	char list[256] = "";

	for (struct forwarding_mode *m = forwarding_modes; m != NULL; m = m->link) {
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
		struct port *port = port_find(json_string_value(item.json));

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

/* An rx queue's worker; several queues share one where there are more queues than workers. */
static unsigned worker_of_queue(unsigned queue)
{
	return queue % (handoff_threading() == THREADING_RUN_TO_COMPLETION ? nb_workers
									   : handoff_readers());
}

static handoff_hash_t steering(void)
{
	return mode->steer == NULL ? NULL : mode->steer();
}

static bool receives(void)
{
	return mode->entry != NULL || mode->queue_entry != NULL;
}

/* Its packets are spread over the workers by software. */
static bool hands_off(const struct port *port)
{
	return nb_workers > 1 && !handoff_off() && mode->entry != NULL &&
	       (handoff_threading() != THREADING_RUN_TO_COMPLETION || steering() != NULL ||
		       port->nb_rx_queues < nb_workers);
}

static void parse_rx_mode(const struct config_node *node)
{
	const char *choices[RX_MODES + 1] = {NULL};
	struct config_node key = config_child(node, "rx_mode");

	for (unsigned i = 0; i < RX_MODES; i++)
		choices[i] = rx_mode_name((enum rx_mode)i);
	rx_mode = (enum rx_mode)config_choice(node, "rx_mode", choices, RX_POLLING);
	if (rx_mode == RX_POLLING || mode == NULL)
		return;
	if (mode->sends)
		config_mistake(&key, "%s sends all the time: expected polling", mode->name);
	for (unsigned i = 0; i < nb_ports; i++) {
		ports[i]->rx_interrupts = true;
		if (ports[i]->driver->rx_wakes == NULL)
			config_mistake(&key, "port %s: driver %s wakes no worker: expected polling",
				ports[i]->name, ports[i]->driver->name);
	}
}

/* Nodes between a queue and the mode's own hide which queue it was. */
static void check_queue_entry(const struct config_node *node)
{
	if (nb_workers > 1 || burn_present() || lose_present() || delay_present())
		config_mistake(node,
			"%s notes rx queues: expected one worker, without burn, lose and delay",
			mode->name);
}

void forwarder_parse(const struct config_node *node)
{
	const char *keys[] = {"mode", "ports", "workers", "rx_mode", "burn", "lose", "delay",
		HANDOFF_KEYS, NULL, NULL};
	struct config_node array = config_child(node, "ports");
	struct config_node burn = config_child(node, "burn");
	struct config_node lose = config_child(node, "lose");
	struct config_node delay = config_child(node, "delay");
	struct config_node threading_key = config_child(node, "threading");

	if (!config_is_object(node))
		return;
	parse_mode(node);
	if (mode != NULL)
		keys[RTE_DIM(keys) - 2] = mode->key;
	config_known_keys(node, keys);
	parse_ports(&array);
	nb_workers = (unsigned)config_u64(node, "workers", 1, 1, PORT_QUEUES_MAX);
	handoff_parse(node, nb_workers);
	if (mode != NULL && mode->entry == NULL &&
		handoff_threading() != THREADING_RUN_TO_COMPLETION)
		config_mistake(
			&threading_key, "%s reads nothing: expected run-to-completion", mode->name);
	parse_rx_mode(node);
	burn_parse(&burn, nb_workers);
	if (burn_present() && mode != NULL && !receives())
		config_mistake(&burn, "%s receives nothing", mode->name);
	lose_parse(&lose);
	if (lose_present() && mode != NULL && !receives())
		config_mistake(&lose, "%s receives nothing", mode->name);
	delay_parse(&delay);
	if (delay_present() && mode != NULL && !receives())
		config_mistake(&delay, "%s receives nothing", mode->name);
	if (delay_present() && rx_mode != RX_POLLING)
		config_mistake(&delay, "a worker that sleeps is late: expected rx_mode polling");
	if (mode != NULL && mode->queue_entry != NULL)
		check_queue_entry(node);
	if (mode != NULL && mode->parse != NULL) {
		struct config_node own = config_child(node, mode->key);

		mode->parse(&own);
		if (handoff_off() && steering() != NULL)
			config_mistake(&own, "steering needs \"handoff\": \"auto\"");
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

enum rx_mode forwarder_rx_mode(void)
{
	return rx_mode;
}

/* Workers that poll a queue of a port whose packets are handed off; a bit a worker. */
static uint64_t senders(void)
{
	uint64_t found = 0;

	for (unsigned i = 0; i < nb_ports; i++)
		for (unsigned q = 0; q < ports[i]->nb_rx_queues && hands_off(ports[i]); q++)
			found |= 1ull << worker_of_queue(q);
	return found;
}

unsigned forwarder_handoff_buffers(void)
{
	return mode == NULL
		       ? 0
		       : handoff_buffers((unsigned)__builtin_popcountll(senders()), nb_workers);
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

/* Whoever takes the port's frames into the mode may have to hold them. */
static void add_delay(const struct port *port)
{
	for (unsigned w = 0; w < nb_workers && delay_present(); w++) {
		bool takes = hands_off(port);

		for (unsigned q = 0; q < port->nb_rx_queues; q++)
			takes |= worker_of_queue(q) == w;
		if (takes)
			delay_add_worker(port, worker_of_forwarder(w));
	}
}

/* The first of the nodes that a port's frames enter; in a mode that asks for their queues none. */
static int create_entry(struct port *port, struct port *peer, char entry[RTE_NODE_NAMESIZE])
{
	int rc;

	if (mode->queue_entry != NULL)
		return 0;
	rc = mode->entry(port, peer, entry);
	if (rc == 0 && burn_present())
		rc = burn_add_port(port, entry);
	if (rc == 0 && lose_present())
		rc = lose_add_port(port, entry);
	if (rc == 0 && delay_present())
		rc = delay_add_port(port, entry);
	if (rc == 0 && hands_off(port)) {
		rc = handoff_add_port(port, entry);
		snprintf(entry, RTE_NODE_NAMESIZE, "worker-handoff");
	}
	return rc;
}

/* One port-rx an rx queue. */
static int create_rx(struct port *port, struct port *peer)
{
	char entry[RTE_NODE_NAMESIZE], name[RTE_NODE_NAMESIZE], suffix[RTE_NODE_NAMESIZE - 16];
	const char *const nexts[] = {entry, NULL};
	int rc;

	if (!receives())
		return 0;
	rc = create_entry(port, peer, entry);
	for (unsigned q = 0; q < port->nb_rx_queues && rc == 0; q++) {
		if (mode->queue_entry != NULL)
			rc = mode->queue_entry(port, q, entry);
		if (rc != 0)
			break;
		snprintf(suffix, sizeof(suffix), "%s-%u", port->name, q);
		if (node_clone("port-rx", suffix, port_queue(port, q), nexts) ==
			RTE_NODE_ID_INVALID)
			return -EINVAL;
		snprintf(name, sizeof(name), "port-rx-%s", suffix);
		worker_add_node(worker_of_forwarder(worker_of_queue(q)), name);
	}
	if (rc == 0)
		add_delay(port);
	return rc;
}

int forwarder_create(void)
{
	int rc = create_tx();

	if (rc == 0 && mode->create != NULL)
		rc = mode->create();
	for (unsigned i = 0; i < nb_ports && rc == 0; i++)
		rc = create_rx(ports[i], mode->paired ? ports[i ^ 1] : NULL);
	return rc == 0 ? handoff_create(steering(), senders()) : rc;
}

int forwarder_join_wakers(void)
{
	for (unsigned i = 0; i < nb_ports && rx_mode != RX_POLLING; i++)
		for (unsigned q = 0; q < ports[i]->nb_rx_queues; q++) {
			struct worker *worker = worker_of_forwarder(worker_of_queue(q));
			int rc = ports[i]->driver->rx_wakes(ports[i], q, worker->waker);

			if (rc == 0)
				continue;
			fprintf(stderr,
				"port %s: its device cannot wake a worker (%s): forwarder.rx_mode "
				"can only be polling\n",
				ports[i]->name, strerror(-rc));
			return rc;
		}
	return 0;
}

void forwarder_tick(void)
{
	if (mode != NULL && mode->tick != NULL)
		mode->tick();
}

void forwarder_stop(void)
{
	if (mode != NULL && mode->stop != NULL)
		mode->stop();
}
