/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flowtable-timer: in each walk moves the clock of the worker's flow table, and does a part of what
 * is due there: flows that end, what the offload thread wants.
 */
#include "core/node.h"
#include "flowtable.h"

#include <rte_cycles.h>

static uint64_t clocks_per_ms;
static uint64_t started_tsc;
static uint32_t advance_ms;

uint32_t flowtable_clock_ms(void)
{
	if (unlikely(clocks_per_ms == 0)) {
		clocks_per_ms = rte_get_tsc_hz() / 1000;
		started_tsc = rte_rdtsc();
	}
	return (uint32_t)((rte_rdtsc() - started_tsc) / clocks_per_ms) +
	       __atomic_load_n(&advance_ms, __ATOMIC_RELAXED);
}

void flowtable_clock_advance(uint32_t milliseconds)
{
	__atomic_fetch_add(&advance_ms, milliseconds, __ATOMIC_RELAXED);
}

static uint16_t flowtable_timer_process(__rte_unused struct rte_graph *graph, struct rte_node *node,
	__rte_unused void **objs, __rte_unused uint16_t count)
{
	return (uint16_t)flow_table_work(node_object(node), flowtable_clock_ms());
}

static int flowtable_timer_init(struct node_state *state, struct rte_node *node)
{
	node_context(node)->object = flowtable.tables[state->worker->forwarder_index];
	return 0;
}

static struct node_type flowtable_timer = {
	.name = "flowtable-timer",
	.process = flowtable_timer_process,
	.init = flowtable_timer_init,
	.nexts = {"drop"}, /* which it never takes: a graph has no node without */
	.source = true,
};
NODE_REGISTER(flowtable_timer)
