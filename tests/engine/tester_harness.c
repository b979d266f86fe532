/* SPDX-License-Identifier: BSD-3-Clause */
#include "tester_harness.h"
#include "eal.h"

#include "core/config.h"
#include "core/node.h"
#include "core/rcu.h"
#include "core/worker.h"
#include "tester/tester.h"

#include <rte_graph_worker.h>

uint64_t device_clock;
unsigned tester_senders = 1;

static int test_parse(struct port *port, const struct config_node *node)
{
	port_parse_tx_queues(port, node);
	port->max_frame_bytes = tester_device.max_frame_bytes;
	port->nb_rx_queues = 1;
	port->nb_tx_queues = (uint16_t)RTE_MAX(port->asked_tx_queues, 1);
	return 0;
}

static uint16_t test_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return tester_device.rx_burst == NULL ? 0 : tester_device.rx_burst(queue, mbufs, count);
}

static uint16_t test_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	if (tester_device.tx_burst != NULL)
		return tester_device.tx_burst(queue, mbufs, count);
	rte_pktmbuf_free_bulk(mbufs, count);
	return count;
}

static int test_configure(struct port *port)
{
	port->rx_queues[0] = port;
	for (unsigned q = 0; q < port->nb_tx_queues; q++)
		port->tx_queues[q] = port;
	return 0;
}

static void test_stats(const struct port *port, struct port_stats *stats)
{
	(void)port;
	memset(stats, 0, sizeof(*stats));
}

static uint64_t test_link_bps(const struct port *port)
{
	(void)port;
	return 0;
}

static uint64_t test_clock_of(const struct port *port)
{
	(void)port;
	return device_clock;
}

static const char *const test_keys[] = {"tx_queues", NULL};

static struct port_driver test_driver = {
	.name = "test",
	.keys = test_keys,
	.parse = test_parse,
	.configure = test_configure,
	.rx_burst = test_rx_burst,
	.tx_burst = test_tx_burst,
	.stats = test_stats,
	.link_bps = test_link_bps,
	.clock = test_clock_of,
};
PORT_DRIVER_REGISTER(test_driver)

static void die(const char *what)
{
	fprintf(stderr, "tester harness: %s\n", what);
	exit(2);
}

static void parse(const char *text)
{
	struct config config;
	struct config_node root, child;

	if (config_open_text(&config, "test.json", text) != 0)
		die("no JSON");
	root = config_root(&config);
	child = config_child(&root, "ports");
	ports_parse(&child);
	child = config_child(&root, "tester");
	tester_parse(&child);
	if (config.mistakes != 0)
		die("mistakes in the configuration");
	config_close(&config);
}

void tester_start(const char *text)
{
	static const int cpus[] = {0};
	unsigned senders = tester_senders;
	char whole[4096], lcores[256] = "--lcores=0@0";

	snprintf(whole, sizeof(whole),
		"{\"ports\": [{\"name\": \"e0\", \"driver\": \"test\", \"tx_queues\": %u}, "
		"{\"name\": \"e1\", \"driver\": \"test\", \"tx_queues\": %u}], "
		"\"tester\": {\"ports\": [\"e0\", \"e1\"], %s}}",
		senders, senders, text);
	for (unsigned i = 1; i <= senders; i++)
		snprintf(lcores + strlen(lcores), sizeof(lcores) - strlen(lcores), ",%u@0", i);
	parse(whole);
	if (workers_plan(cpus, 1, senders, 0, RX_POLLING) < 0 || !eal_start("256", lcores))
		die("EAL does not start");
	if (rcu_start(WORKERS_MAX) != 0 || ports_configure() != 0 || tester_create() != 0 ||
		nodes_register() != 0 || tester_create_nodes() != 0 ||
		workers_create_graphs(SOCKET_ID_ANY) != 0)
		die("the tester does not start");
}

void tester_walk_worker(unsigned worker)
{
	worker_of_tester(worker)->loops++;
	rte_graph_walk(worker_of_tester(worker)->graph);
}

void tester_walk(void)
{
	for (unsigned i = 0; i < tester.nb_workers; i++)
		tester_walk_worker(i);
}
