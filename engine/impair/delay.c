/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delay: holds each frame for the configured microseconds; delayed: releases due frames in their
 * order. One clone of each a port, and a FIFO for each worker that walks them.
 */
#include "delay.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/worker.h"
#include "delay_fifo.h"

#include <errno.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>
#include <stdio.h>

#define DELAY_MAX_US 100000

enum reason {
	NO_ROOM,
};

/* One worker's, of one port. */
struct delayer {
	struct node_state *state; /* of "delay": there it is counted what waits */
	struct delay_fifo fifo;
};

static uint64_t delay_us;
static uint64_t delay_clocks; /* known once there is a TSC rate */
static struct delayer *delayers[PORT_QUEUES_MAX][PORTS_MAX];

/* The same for both nodes of a port, whichever is made first. */
static struct delayer *delayer_of(const struct worker *worker, const struct port *port)
{
	struct delayer **delayer = &delayers[worker->forwarder_index][port->index];

	if (*delayer == NULL)
		*delayer = rte_zmalloc_socket(
			"delay", sizeof(**delayer), RTE_CACHE_LINE_SIZE, worker->socket);
	return *delayer;
}

static uint16_t delay_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	struct delayer *delayer = node_object(node);
	uint16_t taken = delay_fifo_put(
		&delayer->fifo, (struct rte_mbuf **)objs, count, clock_now() + delay_clocks);

	delayer->state->held += taken;
	if (unlikely(taken < count)) {
		delayer->state->drops[NO_ROOM] += count - taken;
		rte_node_enqueue(graph, node, 0, objs + taken, count - taken);
	}
	return count;
}

static uint16_t delayed_process(
	struct rte_graph *graph, struct rte_node *node, __rte_unused void **objs, uint16_t count)
{
	struct delayer *delayer = node_object(node);
	struct rte_mbuf *mbufs[NODE_VECTOR_MAX];

	count = delay_fifo_take(&delayer->fifo, mbufs, NODE_VECTOR_MAX, clock_now());
	if (count == 0)
		return 0;
	/* They have long left the cache. */
	for (uint16_t i = 0; i < count; i++)
		rte_prefetch0(mbufs[i]);
	delayer->state->held -= count;
	rte_node_enqueue(graph, node, 0, (void **)mbufs, count);
	return count;
}

static int delay_init(struct node_state *state, struct rte_node *node)
{
	struct delayer *delayer = delayer_of(state->worker, state->object);

	if (delayer == NULL)
		return -ENOMEM;
	/* No frame goes on before its time: a part of a clock counts as a whole one. */
	delay_clocks = (delay_us * rte_get_tsc_hz() + 999999) / 1000000;
	delayer->state = state;
	node_context(node)->object = delayer;
	return 0;
}

static int delayed_init(struct node_state *state, struct rte_node *node)
{
	node_context(node)->object = delayer_of(state->worker, state->object);
	return node_object(node) == NULL ? -ENOMEM : 0;
}

static struct node_type delay = {
	.name = "delay",
	.process = delay_process,
	.init = delay_init,
	.nexts = {"drop"},
	.reasons = {[NO_ROOM] = "no room to delay"},
	.template = true,
};
NODE_REGISTER(delay)

static struct node_type delayed = {
	.name = "delayed",
	.process = delayed_process,
	.init = delayed_init,
	.nexts = {"drop"},
	.source = true,
	.template = true,
};
NODE_REGISTER(delayed)

void delay_parse(const struct config_node *node)
{
	if (!config_object(node, "us"))
		return;
	delay_us = config_u64(node, "us", 0, 0, DELAY_MAX_US);
}

bool delay_present(void)
{
	return delay_us > 0;
}

unsigned delay_buffers(void)
{
	return delay_present() ? DELAY_FRAMES : 0;
}

int delay_add_port(struct port *port, char entry[RTE_NODE_NAMESIZE])
{
	const char *const on[] = {entry, NULL};

	if (node_clone("delayed", port->name, port, on) == RTE_NODE_ID_INVALID ||
		node_clone("delay", port->name, port, NULL) == RTE_NODE_ID_INVALID)
		return -EINVAL;
	snprintf(entry, RTE_NODE_NAMESIZE, "delay-%s", port->name);
	return 0;
}

void delay_add_worker(const struct port *port, struct worker *worker)
{
	char name[RTE_NODE_NAMESIZE];

	snprintf(name, sizeof(name), "delayed-%s", port->name);
	worker_add_node(worker, name);
}

uint64_t delay_held(void)
{
	uint64_t held = 0;

	for (unsigned w = 0; w < PORT_QUEUES_MAX; w++)
		for (unsigned p = 0; p < PORTS_MAX; p++)
			if (delayers[w][p] != NULL && delayers[w][p]->state != NULL)
				held += delayers[w][p]->state->held;
	return held;
}
