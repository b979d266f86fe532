/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk over a graph's source nodes and pending streams, one node a time: what
 * rte_graph_walk() does, for a loop that does more between two nodes. This is all that reads
 * the layout of struct rte_graph, which DPDK keeps for itself; meson.build checks that it is the
 * one known here, of DPDK 22.11 and later.
 */
#ifndef LINERATE_GRAPH_WALK_H
#define LINERATE_GRAPH_WALK_H

#include <rte_common.h>
#include <rte_graph_worker.h>
#include <rte_version.h>
#include <stdbool.h>
#include <stdint.h>

#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "DPDK 22.11 or newer is needed: earlier graphs have another layout"
#endif

struct graph_walk {
	struct rte_graph *graph;
	const rte_graph_off_t *cir_start;
	uint32_t mask;
	uint32_t head; /* negative at source nodes, which lie before cir_start */
};

static __rte_always_inline struct graph_walk graph_walk_begin(struct rte_graph *graph)
{
	return (struct graph_walk){graph, graph->cir_start, graph->cir_mask, graph->head};
}

static __rte_always_inline bool graph_walk_goes_on(const struct graph_walk *walk)
{
	return walk->head != walk->graph->tail;
}

/* The node whose turn it is. */
static __rte_always_inline struct rte_node *graph_walk_node(const struct graph_walk *walk)
{
	return (struct rte_node *)RTE_PTR_ADD(walk->graph, walk->cir_start[(int32_t)walk->head]);
}

/* To the next one, after it was processed. */
static __rte_always_inline void graph_walk_next(struct graph_walk *walk)
{
	walk->head++;
	if (likely((int32_t)walk->head > 0))
		walk->head &= walk->mask;
}

static __rte_always_inline void graph_walk_end(const struct graph_walk *walk)
{
	walk->graph->tail = 0;
}

#endif
