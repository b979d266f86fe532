/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include "card/cards.h"
#include "core/memory.h"
#include "core/node.h"
#include "core/worker.h"
#include "impair/delay.h"
#include "modes/forwarder.h"
#include "port/port.h"
#include "telemetry/command.h"
#include "tester/sender.h"
#include "tester/tester.h"

#include <errno.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CPUS_MAX 256
#define EAL_ARGUMENTS_MAX 96
/* Buffers a worker beyond those in the rings: its pool cache, vectors under way. */
#define WORKER_BUFFERS (RTE_MEMPOOL_CACHE_MAX_SIZE * 2 + 4 * NODE_VECTOR_MAX)

static char name[64] = "engine";
static int cpus[CPUS_MAX];
static unsigned nb_cpus;
static bool eal_started;

static void parse_name(const struct config_node *root)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_";
	struct config_node key = config_child(root, "name");
	const char *text = config_string(root, "name", name);
	size_t length = strlen(text);

	if (length == 0 || length >= 48 || strspn(text, letters) != length)
		config_mistake(&key, "expected 1 to 47 letters, digits, '-' or '_'");
	else if (text != name)
		snprintf(name, sizeof(name), "%s", text);
}

static void allowed_cpus(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE && nb_cpus < CPUS_MAX; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[nb_cpus++] = cpu;
}

static void parse_cpus(const struct config_node *root)
{
	struct config_node array = config_child(root, "cpus");
	size_t count = config_items(&array);
	unsigned allowed;

	allowed_cpus();
	allowed = nb_cpus;
	if (count == 0)
		return;
	nb_cpus = 0;
	for (size_t i = 0; i < count && i < CPUS_MAX; i++) {
		struct config_node item = config_item(&array, i);
		json_int_t cpu = json_is_integer(item.json) ? json_integer_value(item.json) : -1;

		if (cpu < 0 || cpu >= CPU_SETSIZE)
			config_mistake(
				&item, "expected the number of a CPU (%u may be used)", allowed);
		else
			cpus[nb_cpus++] = (int)cpu;
	}
}

unsigned engine_parse(struct config *config)
{
	struct config_node root = config_root(config);
	struct config_node memory = config_child(&root, "memory");
	struct config_node cards = config_child(&root, "cards");
	struct config_node ports = config_child(&root, "ports");
	struct config_node forwarder = config_child(&root, "forwarder");
	struct config_node tester_node = config_child(&root, "tester");

	config_known(&root, "name", "memory", "cpus", "cards", "ports", "forwarder", "tester");
	parse_name(&root);
	parse_cpus(&root);
	memory_parse(&memory);
	cards_parse(&cards);
	ports_parse(&ports);
	if (ports_need_pci())
		memory_require_hugepages(&memory);
	tester_parse(&tester_node);
	forwarder_parse(&forwarder);
	if (forwarder.json == NULL && tester_node.json == NULL)
		config_mistake(&root, "neither \"forwarder\" nor \"tester\": nothing to do");
	return config->mistakes;
}

/* "--lcores=0@0,1@0,2@1": the main lcore, then a lcore a worker. */
static void lcores_argument(char *argument, size_t size)
{
	size_t length = (size_t)snprintf(argument, size, "--lcores=0@%d", workers_main_cpu());

	for (unsigned i = 0; i < workers_count() && length < size; i++)
		length += (size_t)snprintf(argument + length, size - length, ",%u@%d",
			worker_at(i)->lcore, worker_at(i)->cpu);
}

static int eal_start(const char *program)
{
	static char lcores[2048], prefix[96];
	const char *arguments[EAL_ARGUMENTS_MAX];
	int count = 0, more;

	lcores_argument(lcores, sizeof(lcores));
	snprintf(prefix, sizeof(prefix), "--file-prefix=linerate-%s", name);
	arguments[count++] = program;
	arguments[count++] = lcores;
	arguments[count++] = prefix;
	arguments[count++] = "--log-level=lib.eal:error";
	arguments[count++] = "--log-level=lib.telemetry:critical";
	arguments[count++] = "--log-level=warning";
	/* DPDK's libraries and drivers choose AVX-512 only when this allows it. */
	arguments[count++] = "--force-max-simd-bitwidth=512";
	if (!ports_need_pci()) {
		arguments[count++] = "--no-pci";
		arguments[count++] = "--iova-mode=va";
	}
	more = memory_eal_arguments(arguments + count, EAL_ARGUMENTS_MAX - (unsigned)count);
	if (more < 0)
		return -ENOMEM;
	count += more;
	count += (int)ports_eal_arguments(
		arguments + count, EAL_ARGUMENTS_MAX - (unsigned)count - 1);
	arguments[count] = NULL;
	if (rte_eal_init(count, (char **)(uintptr_t)arguments) < 0) {
		fprintf(stderr, "DPDK does not start: %s\n", rte_strerror(rte_errno));
		return -rte_errno;
	}
	eal_started = true;
	return 0;
}

/*
 * Packets that a port received may be in its own rx rings, in any tx ring of the forwarder's (all
 * workers have one on each port), in rings between workers, in a delay node, in a worker's cache,
 * or in processing.
 */
static unsigned buffers_needed(const struct port *port)
{
	unsigned buffers =
		port->rx_ring * port->nb_rx_queues + WORKER_BUFFERS * (workers_count() + 1);

	if (!forwarder_has_port(port))
		return buffers;
	for (unsigned i = 0; i < forwarder_ports(); i++)
		buffers += forwarder_port(i)->tx_ring * forwarder_workers();
	return buffers + forwarder_handoff_buffers() + delay_buffers() * forwarder_workers();
}

static int create_pools(void)
{
	for (unsigned i = 0; i < ports_count(); i++) {
		struct port *port = port_at(i);
		char pool[RTE_MEMPOOL_NAMESIZE];

		snprintf(pool, sizeof(pool), "port-%u", port->index);
		port->pool = memory_packet_pool(pool, buffers_needed(port), port->max_frame_bytes);
		if (port->pool == NULL)
			return -ENOMEM;
	}
	return 0;
}

static int plan_tx_queues(void)
{
	for (unsigned i = 0; i < ports_count(); i++) {
		struct port *port = port_at(i);
		int rc = port_plan_tx_queues(port, forwarder_has_port(port) ? forwarder_workers()
						   : port->tester           ? senders_of(port)
									    : 1);

		if (rc != 0)
			return rc;
	}
	return 0;
}

static int create_all(void)
{
	int rc = memory_start();

	if (rc == 0)
		rc = workers_create_wakers();
	if (rc == 0)
		rc = cards_create((uint16_t)RTE_MAX(forwarder_workers(), 1u));
	if (rc == 0)
		rc = plan_tx_queues();
	if (rc == 0)
		rc = create_pools();
	if (rc == 0)
		rc = ports_configure();
	if (rc == 0)
		rc = tester_create();
	if (rc == 0)
		rc = nodes_register();
	if (rc == 0 && forwarder_present())
		rc = forwarder_create();
	if (rc == 0)
		rc = tester_create_nodes();
	if (rc == 0)
		rc = ports_start();
	if (rc == 0)
		rc = forwarder_join_wakers();
	if (rc == 0)
		rc = workers_create_graphs(memory_socket());
	return rc;
}

int engine_start(const char *program)
{
	int rc;

	/* Sockets and files of this process are its user's alone. */
	umask(0077);
	if (workers_plan(cpus, nb_cpus, tester.nb_ports > 0 ? tester.asked_workers : 0,
		    forwarder_workers(), forwarder_rx_mode()) < 0)
		return -EINVAL;
	rc = eal_start(program);
	if (rc != 0)
		return rc;
	rc = create_all();
	if (rc == 0)
		rc = commands_start(name);
	if (rc == 0)
		rc = workers_start();
	return rc;
}

void engine_stop(void)
{
	workers_stop();
	forwarder_stop();
	ports_stop();
	/* It logs a line for everything that it never started. */
	if (eal_started)
		rte_eal_cleanup();
}
