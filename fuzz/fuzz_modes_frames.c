/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames into each mode but the router, which has a target of its own. All modes stand in one
 * graph; the input's first byte says which one its frames enter. Then a list of frames: port
 * and what happens before (1 byte), length (2 bytes, little endian), as many bytes. After each
 * input no packet and no buffer may be unaccounted for, and nothing written around a frame.
 */
#include "modes/forwarder.h"
#include "harness.h"

#include <rte_graph_worker.h>

#define PORTS 4
#define MODES_MAX NODE_NEXTS_MAX

#define HAPPENS_PORT 3    /* which port */
#define HAPPENS_SECOND 4  /* a second goes by */
#define HAPPENS_TX_FULL 8 /* the next port's ring is full from here on */
#define HAPPENS_WALK 16   /* the frames so far are worked on */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct forwarding_mode *modes[MODES_MAX];
static unsigned nb_modes;
static rte_edge_t chosen;

/* Frames enter each port here and go on into the chosen mode. */
static uint16_t choose_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	rte_node_enqueue(graph, node, chosen, objs, count);
	return count;
}

static struct node_type choose = {
	.name = "choose",
	.process = choose_process,
	.template = true,
};
NODE_REGISTER(choose)

static void every_parse(const struct config_node *node)
{
	for (unsigned i = 0; i < nb_modes; i++) {
		struct config_node own =
			config_child(node->parent, modes[i]->key == NULL ? "" : modes[i]->key);

		if (modes[i]->parse != NULL)
			modes[i]->parse(&own);
	}
}

static int every_create(void)
{
	int rc = 0;

	for (unsigned i = 0; i < nb_modes && rc == 0; i++)
		if (modes[i]->create != NULL)
			rc = modes[i]->create();
	return rc;
}

static int every_entry(struct port *port, struct port *peer, char name[RTE_NODE_NAMESIZE])
{
	static char entries[MODES_MAX][RTE_NODE_NAMESIZE];
	const char *nexts[MODES_MAX + 1] = {NULL};
	int rc = 0;

	for (unsigned i = 0; i < nb_modes && rc == 0; i++) {
		rc = modes[i]->entry(port, modes[i]->paired ? peer : NULL, entries[i]);
		nexts[i] = entries[i];
	}
	if (rc != 0)
		return rc;
	snprintf(name, RTE_NODE_NAMESIZE, "choose-%s", port->name);
	return node_clone("choose", port->name, NULL, nexts) == RTE_NODE_ID_INVALID ? -1 : 0;
}

static void every_tick(void)
{
	for (unsigned i = 0; i < nb_modes; i++)
		if (modes[i]->tick != NULL)
			modes[i]->tick();
}

static struct forwarding_mode every = {
	.name = "every",
	.key = "every",
	.paired = true,
	.parse = every_parse,
	.create = every_create,
	.entry = every_entry,
	.tick = every_tick,
};

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct forwarding_mode *const *)a)->name,
		(*(const struct forwarding_mode *const *)b)->name);
}

/* In the order of their names, so that inputs mean the same in every build. */
static void start(void)
{
	REGISTRY_ADD(forwarding_modes, every);
	for (const struct forwarding_mode *mode = every.link; mode != NULL; mode = mode->link)
		if (mode->entry != NULL && strcmp(mode->name, "router") != 0 &&
			nb_modes < MODES_MAX)
			modes[nb_modes++] = mode;
	qsort(modes, nb_modes, sizeof(modes[0]), by_name);
	harness_start_mode(PORTS, "every", NULL);
}

static size_t one_frame(const uint8_t *data, size_t size)
{
	static struct frame frame;
	unsigned port = data[0] & HAPPENS_PORT;
	size_t length = data[1] | (size_t)data[2] << 8;

	if (data[0] & HAPPENS_WALK)
		harness_walk();
	if (data[0] & HAPPENS_SECOND)
		harness_seconds(1.1);
	if (data[0] & HAPPENS_TX_FULL)
		harness_tx_full((port + 1) % PORTS, true);
	length = RTE_MIN(length % 1700, size - 3);
	memcpy(frame.bytes, data + 3, length);
	frame.length = (unsigned)length;
	harness_put(port, &frame);
	return 3 + length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned frames = 0;

	if (nb_modes == 0)
		start();
	if (size == 0)
		return 0;
	chosen = (rte_edge_t)(data[0] % nb_modes);
	data++;
	size--;
	while (size > 3 && frames++ < 64) {
		size_t used = one_frame(data, size);

		data += used;
		size -= used;
	}
	harness_walk();
	for (unsigned i = 0; i < PORTS; i++)
		harness_tx_full(i, false);
	if (!harness_untouched_around())
		abort();
	harness_flush();
	if (!harness_balanced() || harness_failures() != 0)
		abort();
	return 0;
}
