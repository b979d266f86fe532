/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flowtable: forwarding mode and its node. A bump in the wire: frames pass from each port to the
 * other of its pair as they are, and each packet's flow is recorded in the worker's table. No
 * packet is dropped for that: what cannot be recorded is counted there.
 */
#include "flow_exporter.h"
#include "flowtable.h"
#include "offload.h"

#include "core/node.h"
#include "modes/forwarder.h"
#include "flowtable_rss.h"

#include <errno.h>
#include <rte_cycles.h>
#include <stdio.h>
#include <sys/random.h>

#define FLOWS_DEFAULT (1u << 20)
#define FLOWS_MIN 1024
/* The numbers in marks; none is over the last. */
#define FLOWS_MAX (1u << FLOW_INDEX_BITS)
#define TIMEOUT_MAX_MS (24ull * 3600 * 1000)
/* Workers that only receive record nothing. */
#define READER_FLOWS 64

struct flowtable flowtable;

static uint32_t flows = FLOWS_DEFAULT;
static struct flow_timeouts timeouts = {.idle_ms = 5000, .closing_ms = 2000};

enum next {
	NEXT_DROP,
	NEXT_TX,
};

static uint16_t flowtable_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	struct flow_table *table = node_object(node);

	for (uint16_t done = 0; done < count; done += FLOW_VECTOR_MAX)
		flow_table_record(table, (struct rte_mbuf **)objs + done,
			RTE_MIN(count - done, FLOW_VECTOR_MAX));
	rte_node_next_stream_move(graph, node, NEXT_TX);
	return count;
}

static int flowtable_init(struct node_state *state, struct rte_node *node)
{
	node_context(node)->object = flowtable.tables[state->worker->forwarder_index];
	return 0;
}

static struct node_type flowtable_node = {
	.name = "flowtable",
	.process = flowtable_process,
	.init = flowtable_init,
	.nexts = {[NEXT_DROP] = "drop"},
	.template = true,
};
NODE_REGISTER(flowtable_node)

static void flowtable_parse(const struct config_node *node)
{
	struct config_node offload = config_child(node, "offload");
	struct config_node export = config_child(node, "export");

	if (!config_object(node, "flows", "idle_ms", "closing_ms", "hard_ms", "offload", "export"))
		return;
	flows = (uint32_t)config_u64(node, "flows", FLOWS_DEFAULT, FLOWS_MIN, FLOWS_MAX);
	timeouts.idle_ms = (uint32_t)config_u64(node, "idle_ms", 5000, 1, TIMEOUT_MAX_MS);
	timeouts.closing_ms = (uint32_t)config_u64(node, "closing_ms", 2000, 1, TIMEOUT_MAX_MS);
	timeouts.hard_ms = (uint32_t)config_u64(node, "hard_ms", 0, 0, TIMEOUT_MAX_MS);
	offload_parse(&offload);
	flow_exporter_parse(&export);
	timeouts.export_ms = flow_exporter_interval_ms();
}

/* Nobody who sends packets is to know which of them share a bucket. */
static uint64_t seed(void)
{
	uint64_t word;

	return getrandom(&word, sizeof(word), GRND_NONBLOCK) == sizeof(word) ? word : rte_rdtsc();
}

static int create_tables(void)
{
	unsigned workers = forwarder_workers(), readers = handoff_first_target();
	struct flow_table_config config = {.timeouts = timeouts};

	for (unsigned i = 0; i < workers; i++) {
		config.capacity = i < readers ? READER_FLOWS : flows / (workers - readers);
		if (config.base + config.capacity > FLOWS_MAX)
			config.capacity = FLOWS_MAX - config.base;
		config.seed = seed();
		flowtable.tables[i] = flow_table_create(&config);
		if (flowtable.tables[i] == NULL)
			return -ENOMEM;
		config.base += config.capacity;
		worker_add_node(worker_of_forwarder(i), "flowtable-timer");
	}
	flowtable.nb_tables = workers;
	return 0;
}

static int flowtable_create(void)
{
	int rc = flowtable_rss_create();

	(void)flowtable_clock_ms();
	if (rc == 0)
		rc = create_tables();
	if (rc == 0)
		rc = flow_exporter_create(flowtable.tables, flowtable.nb_tables);
	return rc == 0 ? offload_create(flowtable.tables, flowtable.nb_tables) : rc;
}

static int flowtable_entry(struct port *port, struct port *peer, char name[RTE_NODE_NAMESIZE])
{
	char tx[RTE_NODE_NAMESIZE];
	const char *const nexts[] = {"drop", tx, NULL};

	snprintf(tx, sizeof(tx), "port-tx-%s", peer->name);
	snprintf(name, RTE_NODE_NAMESIZE, "flowtable-%s", port->name);
	return node_clone("flowtable", port->name, NULL, nexts) == RTE_NODE_ID_INVALID ? -EINVAL
										       : 0;
}

static void flowtable_stop(void)
{
	for (unsigned i = 0; i < flowtable.nb_tables; i++)
		flow_table_tell_all(flowtable.tables[i]);
	flow_exporter_stop();
	offload_stop();
}

static struct forwarding_mode flowtable_mode = {
	.name = "flowtable",
	.key = "flowtable",
	.paired = true,
	.parse = flowtable_parse,
	.create = flowtable_create,
	.entry = flowtable_entry,
	.steer = flowtable_steer,
	.stop = flowtable_stop,
};
FORWARDING_MODE_REGISTER(flowtable_mode)
