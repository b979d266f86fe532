/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "eal.h"

#include "core/clock.h"
#include "core/config.h"
#include "core/ledger.h"
#include "core/memory.h"
#include "core/node.h"
#include "core/worker.h"
#include "handoff/handoff.h"
#include "modes/forwarder.h"

#include <jansson.h>
#include <rte_cycles.h>
#include <rte_graph_worker.h>
#include <rte_malloc.h>

#define QUEUE_FRAMES 4096
#define POOL_BUFFERS 8191
#define PORTS 4
/* Fills a buffer around the frame that harness_put() gives it. */
#define AROUND_FRAME 0xa5

/* Marks of harness_put() in mbuf fields that no node here uses. */
enum mark {
	MARK_BUFFER, /* the mbuf itself: the low half of its address */
	MARK_START,
	MARK_END,
};

struct test_port {
	struct port *port;
	bool full;
	unsigned nb_rx, nb_tx, first_tx;
	struct rte_mbuf *rx[QUEUE_FRAMES];
	struct rte_mbuf *tx[QUEUE_FRAMES];
};

const char harness_router_cli[] = "set int state e0 up\n"
				  "set int state e1 up\n"
				  "set int ip address e0 100.64.1.1/30\n"
				  "set int ip address e1 100.64.2.1/30\n"
				  "ip route add 16.0.0.0/24 via 100.64.1.2\n"
				  "ip route add 48.0.0.0/24 via 100.64.2.2\n"
				  "ip neighbor e0 100.64.1.2 50:7c:6f:20:30:70\n"
				  "ip neighbor e1 100.64.2.2 50:7c:6f:20:30:71\n"
				  "mpls table add 0\n"
				  "set interface mpls e0 enable\n"
				  "set interface mpls e1 enable\n"
				  "mpls local-label add 16 eos via 100.64.2.2 e1 out-labels 17\n"
				  "mpls local-label add 17 eos via 100.64.1.2 e0 out-labels 16\n";

static struct test_port test_ports[PORTS];
static struct rte_mempool *pool;
static uint64_t frames_in, frames_out;

static uint16_t test_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct test_port *port = queue;

	count = RTE_MIN(count, port->nb_rx);
	memcpy(mbufs, port->rx, count * sizeof(void *));
	port->nb_rx -= count;
	memmove(port->rx, port->rx + count, port->nb_rx * sizeof(void *));
	frames_in += count;
	return count;
}

static uint16_t test_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct test_port *port = queue;

	count = port->full ? 0 : RTE_MIN(count, QUEUE_FRAMES - port->nb_tx);
	memcpy(port->tx + port->nb_tx, mbufs, count * sizeof(void *));
	port->nb_tx += count;
	frames_out += count;
	return count;
}

static int test_parse(struct port *port, const struct config_node *node)
{
	port->max_frame_bytes = (uint16_t)config_u64(
		node, "max_frame_bytes", FRAME_BYTES_DEFAULT, 64, FRAME_BYTES_DEFAULT);
	port->nb_rx_queues = 1;
	port->device = &test_ports[port->index];
	test_ports[port->index].port = port;
	return 0;
}

static int test_configure(struct port *port)
{
	port->rx_queues[0] = port->device;
	for (unsigned q = 0; q < port->nb_tx_queues; q++)
		port->tx_queues[q] = port->device;
	return 0;
}

/* Packets in rings between workers. */
static uint64_t handed_over(void)
{
	struct ledger ledger = {0};
	uint64_t held;

	handoff_ledger(&ledger);
	held = ledger_sum(&ledger, LEDGER_HELD);
	ledger_free(&ledger);
	return held;
}

static const char *const test_keys[] = {"max_frame_bytes", NULL};

static struct port_driver test_driver = {
	.name = "test",
	.keys = test_keys,
	.parse = test_parse,
	.configure = test_configure,
	.rx_burst = test_rx_burst,
	.tx_burst = test_tx_burst,
};
PORT_DRIVER_REGISTER(test_driver)

static void die(const char *what)
{
	fprintf(stderr, "harness: %s\n", what);
	exit(2);
}

static void parse(unsigned ports, json_t *forwarder)
{
	json_t *list = json_array(), *names = json_array();
	struct config config = {.file = "test.json", .complaints = stderr};
	struct config_node root, child;

	for (unsigned i = 0; i < ports; i++) {
		char name[16], mac[32];

		snprintf(name, sizeof(name), "e%u", i);
		snprintf(mac, sizeof(mac), "02:00:00:00:0e:%02x", i);
		json_array_append_new(list,
			json_pack("{s:s, s:s, s:s}", "name", name, "driver", "test", "mac", mac));
		json_array_append_new(names, json_string(name));
	}
	json_object_set_new(forwarder, "ports", names);
	config.root = json_pack("{s:o, s:o}", "ports", list, "forwarder", forwarder);
	root = config_root(&config);
	child = config_child(&root, "ports");
	ports_parse(&child);
	child = config_child(&root, "forwarder");
	forwarder_parse(&child);
	json_decref(config.root);
	if (config.mistakes != 0)
		die("mistakes in the configuration");
}

static void start(unsigned ports, json_t *forwarder)
{
	static const int cpus[] = {0};

	clock_advance(0);
	parse(ports, forwarder);
	if (workers_plan(cpus, 1, 0, forwarder_workers(), RX_POLLING) < 0 ||
		!eal_start("512", "--lcores=0@0,1@0"))
		die("EAL does not start");
	pool = memory_packet_pool("test", POOL_BUFFERS, 1518);
	for (unsigned i = 0; i < ports; i++) {
		port_at(i)->pool = pool;
		port_at(i)->nb_tx_queues = (uint16_t)forwarder_workers();
	}
	if (pool == NULL || ports_configure() != 0 || nodes_register() != 0 ||
		forwarder_create() != 0 || workers_create_graphs(SOCKET_ID_ANY) != 0)
		die("the forwarder does not start");
}

void harness_start_workers(unsigned ports, const char *options)
{
	start(ports, json_loads(options, 0, NULL));
}

void harness_start(unsigned ports, const char *cli)
{
	start(ports, json_pack("{s:s, s:{s:s}}", "mode", "router", "router", "cli", cli));
}

void harness_start_mode(unsigned ports, const char *mode, const char *options)
{
	json_t *forwarder = json_pack("{s:s}", "mode", mode);

	if (options != NULL)
		json_object_set_new(forwarder, mode, json_loads(options, 0, NULL));
	start(ports, forwarder);
}

unsigned harness_failures(void)
{
	return test_failures;
}

void harness_put(unsigned port, const struct frame *frame)
{
	struct test_port *test_port = &test_ports[port];
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	if (mbuf == NULL || test_port->nb_rx == QUEUE_FRAMES)
		die("no room for a frame");
	/* The bytes around the frame are not zero in operation either. */
	memset(mbuf->buf_addr, AROUND_FRAME, mbuf->buf_len);
	memcpy(rte_pktmbuf_mtod(mbuf, void *), frame->bytes, frame->length);
	mbuf->data_len = (uint16_t)frame->length;
	mbuf->pkt_len = frame->length;
	mbuf->port = (uint16_t)port;
	mbuf->dynfield1[MARK_BUFFER] = (uint32_t)(uintptr_t)mbuf;
	mbuf->dynfield1[MARK_START] = mbuf->data_off;
	mbuf->dynfield1[MARK_END] = mbuf->data_off + frame->length;
	test_port->rx[test_port->nb_rx++] = mbuf;
}

static bool all_around(const uint8_t *from, const uint8_t *to)
{
	while (from < to && *from == AROUND_FRAME)
		from++;
	return from == to;
}

/* A node's own copy has the mark of another buffer, and is not looked at. */
static bool untouched(const struct rte_mbuf *mbuf)
{
	const uint8_t *buffer = mbuf->buf_addr;

	return mbuf->dynfield1[MARK_BUFFER] != (uint32_t)(uintptr_t)mbuf ||
	       (all_around(buffer, buffer + mbuf->dynfield1[MARK_START]) &&
		       all_around(buffer + mbuf->dynfield1[MARK_END], buffer + mbuf->buf_len));
}

bool harness_untouched_around(void)
{
	for (unsigned p = 0; p < ports_count(); p++)
		for (unsigned i = 0; i < test_ports[p].nb_tx; i++)
			if (!untouched(test_ports[p].tx[i]))
				return false;
	return true;
}

void harness_walk_worker(unsigned worker)
{
	struct rte_graph *graph = worker_of_forwarder(worker)->graph;

	if (graph != NULL)
		rte_graph_walk(graph);
}

static bool more_to_do(void)
{
	bool more = handed_over() > 0;

	for (unsigned i = 0; i < ports_count(); i++)
		more |= test_ports[i].nb_rx > 0;
	return more;
}

void harness_walk(void)
{
	do {
		for (unsigned i = 0; i < workers_forwarders(); i++)
			harness_walk_worker(i);
	} while (more_to_do());
}

void harness_send(unsigned port, const struct frame *frame)
{
	harness_put(port, frame);
	harness_walk();
}

bool harness_get(unsigned port, struct frame *frame)
{
	struct test_port *test_port = &test_ports[port];
	struct rte_mbuf *mbuf;

	if (test_port->nb_tx == 0)
		return false;
	mbuf = test_port->tx[0];
	test_port->nb_tx--;
	memmove(test_port->tx, test_port->tx + 1, test_port->nb_tx * sizeof(void *));
	rte_mbuf_sanity_check(mbuf, 1);
	CHECK_EQUAL(mbuf->pkt_len, mbuf->data_len);
	CHECK_EQUAL(mbuf->ol_flags, 0);
	memset(frame, 0, sizeof(*frame));
	frame->length = mbuf->data_len;
	memcpy(frame->bytes, rte_pktmbuf_mtod(mbuf, void *), mbuf->data_len);
	rte_pktmbuf_free(mbuf);
	return true;
}

unsigned harness_flush(void)
{
	struct frame frame;
	unsigned count = 0;

	for (unsigned i = 0; i < ports_count(); i++)
		while (harness_get(i, &frame))
			count++;
	return count;
}

void harness_tx_full(unsigned port, bool full)
{
	test_ports[port].full = full;
}

void harness_seconds(double seconds)
{
	clock_advance((uint64_t)(seconds * (double)rte_get_tsc_hz()));
	forwarder_tick();
	harness_walk();
}

uint64_t harness_reason(const char *node, const char *reason)
{
	const struct node_type *type = node_type_find(node);
	uint64_t count = 0;
	unsigned index = 0;

	while (type != NULL && index < NODE_REASONS_MAX && type->reasons[index] != NULL &&
		strcmp(type->reasons[index], reason) != 0)
		index++;
	if (type == NULL || index == NODE_REASONS_MAX || type->reasons[index] == NULL)
		die(reason);
	for (const struct node_state *s = node_states(); s != NULL; s = s->link)
		if (s->type == type)
			count += s->drops[index];
	return count;
}

uint64_t harness_originated(void)
{
	uint64_t count = 0;

	for (const struct node_state *s = node_states(); s != NULL; s = s->link)
		count += s->originated;
	return count;
}

uint64_t harness_held(void)
{
	uint64_t count = handed_over();

	for (const struct node_state *s = node_states(); s != NULL; s = s->link)
		count += s->held;
	return count;
}

static void count_in_use(struct rte_mempool *mempool, void *count)
{
	if (mempool == pool || strncmp(mempool->name, "origin-", 7) == 0)
		*(unsigned *)count += rte_mempool_in_use_count(mempool);
}

/* Modes that make frames have pools of their own. */
static unsigned buffers_in_use(void)
{
	unsigned count = 0;

	rte_mempool_walk(count_in_use, &count);
	return count;
}

bool harness_balanced(void)
{
	uint64_t gone = 0, held = harness_held(), buffers = held;

	for (const struct node_state *s = node_states(); s != NULL; s = s->link)
		for (unsigned r = 0; r < NODE_REASONS_MAX; r++)
			gone += s->drops[r];
	for (unsigned i = 0; i < ports_count(); i++)
		buffers += test_ports[i].nb_tx + test_ports[i].nb_rx;
	if (frames_in + harness_originated() == frames_out + gone + held &&
		buffers_in_use() == buffers)
		return true;
	fprintf(stderr,
		"not balanced: in %lu + originated %lu, out %lu + gone %lu + held %lu; "
		"%u buffers in use, %lu accounted for\n",
		frames_in, harness_originated(), frames_out, gone, held, buffers_in_use(), buffers);
	return false;
}
