/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A graph node: a `struct node_type`, registered in the file that implements it. A node names its
 * next nodes and its drop reasons; the engine turns it into an rte_graph node and gives each worker
 * its own state.
 */
#ifndef LINERATE_NODE_H
#define LINERATE_NODE_H

#include "registry.h"

#include <rte_graph.h>
#include <rte_graph_worker.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

struct worker;
struct node_state;

#define NODE_REASONS_MAX 24
#define NODE_PARENTS_MAX 4
#define NODE_FUSED_MAX 4
#define NODE_NEXTS_MAX 32
#define NODE_VECTOR_MAX RTE_GRAPH_BURST_SIZE

/*
 * The edges on which a node stands: packets that a parent sends to `next` come to this node first,
 * which has `next` among its own next nodes. The parents' code does not know of it, and while it is
 * off their edges lead straight to `next`, so that it costs nothing.
 *
 * Nodes on the same edge follow each other: those with fewer parents first, then by name. The
 * parents of each must be parents of those behind it, or be others altogether.
 */
struct node_attach {
	const char *next;                      /* NULL: the node stands on no edge */
	const char *parents[NODE_PARENTS_MAX]; /* NULL-terminated unless full; no templates */
	bool off;                              /* until node_attach_switch() turns it on */
};

/*
 * By convention the first next node of a node that has drop reasons is "drop":
 * node_drop() sends packets there.
 */
struct node_type {
	const char *name;
	rte_node_process_t process;
	/* Called once per worker that walks the node; may be NULL. Returns 0 or -errno. */
	int (*init)(struct node_state *state, struct rte_node *node);
	const char *nexts[NODE_NEXTS_MAX];     /* those left out before the last are "drop" */
	const char *reasons[NODE_REASONS_MAX]; /* NULL-terminated unless full */
	uint32_t consumed;    /* bit R: reason R is no loss, the packet was for us (ARP, echo) */
	size_t private_bytes; /* of node_private(), per worker, zeroed */
	struct node_attach attach;
	const char *fused[NODE_FUSED_MAX]; /* nodes whose work this one does on most packets */
	/* One line on a packet that the node is about to process, and what it will decide; may be
	 * NULL. For traced packets only. */
	void (*trace)(struct rte_node *node, const struct rte_mbuf *mbuf, char *text, size_t bytes);
	bool source;   /* called in every walk of the graph */
	bool template; /* only walked as clones: port-rx, port-tx … */

	struct node_type *link;
	rte_node_t id;
};

extern struct node_type *node_types;
#define NODE_REGISTER(type) REGISTER(node_types, type)

/* One worker's part of one node: the only writer is that worker. */
struct node_state {
	struct worker *worker;
	const struct node_type *type;
	void *object; /* what a clone was made for: its port queue */
	struct rte_node *node;
	char name[RTE_NODE_NAMESIZE];
	struct node_state *link;
	uint64_t originated; /* packets that the node made: ICMP errors, ARP requests */
	uint64_t held;       /* packets that it keeps at the moment */
	uint64_t drops[NODE_REASONS_MAX] __rte_cache_aligned;
	uint8_t private_data[] __rte_cache_aligned;
};

/* Contents of rte_node's context; one cache line with the rest of the node's hot part. */
struct node_context {
	struct node_state *state;
	void *object; /* a copy of state->object, or what init() puts here */
};
_Static_assert(sizeof(struct node_context) <= RTE_NODE_CTX_SZ, "node context too large");

static inline struct node_context *node_context(struct rte_node *node)
{
	return (struct node_context *)node->ctx;
}

static inline struct node_state *node_state(struct rte_node *node)
{
	return node_context(node)->state;
}

static inline void *node_private(struct rte_node *node)
{
	return node_state(node)->private_data;
}

static inline void *node_object(struct rte_node *node)
{
	return node_context(node)->object;
}

/* Counts a packet under `reason` of this node; returns the edge to "drop". */
static inline rte_edge_t node_drop_as(struct rte_node *node, unsigned reason)
{
	node_state(node)->drops[reason]++;
	return 0;
}

/* The same, and sends it there. */
static inline void node_drop(
	struct rte_graph *graph, struct rte_node *node, struct rte_mbuf *mbuf, unsigned reason)
{
	rte_node_enqueue_x1(graph, node, node_drop_as(node, reason), mbuf);
}

/* With graphs created: leads edges by way of the nodes that are attached to them. */
void nodes_connect(void);
/* Turns an attached node on or off, at any time, for all workers. */
void node_attach_switch(const char *name, bool on);

/* Registers every node_type with rte_graph. Returns 0 or -errno after saying why. */
int nodes_register(void);
struct node_type *node_type_find(const char *name);
/* Type of a node or clone; NULL for an unknown id. */
const struct node_type *node_type_of(rte_node_t id);
/*
 * Clones `template` as "template-suffix" for `object`. `nexts` (NULL-terminated)
 * replace the template's, unless NULL. Returns the rte_graph node id, or
 * RTE_NODE_ID_INVALID after saying why.
 */
rte_node_t node_clone(
	const char *template_name, const char *suffix, void *object, const char *const *nexts);
/* Clones the template for a port so that the clone sends to "drop" or `next`; writes its name.
 * Returns 0 or -EINVAL. */
int node_clone_to(const char *template_name, const char *port, void *object, const char *next,
	char name[RTE_NODE_NAMESIZE]);
/* All states of all workers, for those who read counters. */
struct node_state *node_states(void);
/* That of the worker's node; NULL when it walks none of that name. */
struct node_state *node_state_of(const struct worker *worker, const char *name);
/* Adds the node named `next` to the edges of `type`; returns its edge, or RTE_EDGE_ID_INVALID. */
rte_edge_t node_add_next(struct node_type *type, const char *next);

#endif
