/* SPDX-License-Identifier: BSD-3-Clause */
#include "node.h"

#include "ledger.h"
#include "worker.h"

#include <errno.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE_IDS_MAX 1024

struct node_type *node_types;
static struct node_state *states;

/* By rte_graph node id, clones included. */
static struct {
	const struct node_type *type;
	void *object;
} by_id[NODE_IDS_MAX];

struct node_state *node_states(void)
{
	return states;
}

struct node_type *node_type_find(const char *name)
{
	struct node_type *type;

	for (type = node_types; type != NULL; type = type->link)
		if (strcmp(type->name, name) == 0)
			return type;
	return NULL;
}

const struct node_type *node_type_of(rte_node_t id)
{
	return id < NODE_IDS_MAX ? by_id[id].type : NULL;
}

static bool attaches_to(const struct node_type *type, const char *next)
{
	return type->attach.next != NULL && strcmp(type->attach.next, next) == 0;
}

static bool is_parent(const struct node_type *type, const char *name)
{
	for (unsigned i = 0; i < NODE_PARENTS_MAX && type->attach.parents[i] != NULL; i++)
		if (strcmp(type->attach.parents[i], name) == 0)
			return true;
	return false;
}

static unsigned parents_count(const struct node_type *type)
{
	unsigned count = 0;

	while (count < NODE_PARENTS_MAX && type->attach.parents[count] != NULL)
		count++;
	return count;
}

/* Number of parents of `type` that are parents of `other` too. */
static unsigned parents_shared(const struct node_type *type, const struct node_type *other)
{
	unsigned shared = 0;

	for (unsigned i = 0; i < parents_count(type); i++)
		shared += is_parent(other, type->attach.parents[i]);
	return shared;
}

static bool stands_before(const struct node_type *type, const struct node_type *other)
{
	unsigned own = parents_count(type), others = parents_count(other);

	return own != others ? own < others : strcmp(type->name, other->name) < 0;
}

/* Whether packets that `type` sends to `next` come to `other` on their way there. */
static bool is_on_way(const struct node_type *other, const struct node_type *type, const char *next)
{
	if (!attaches_to(other, next))
		return false;
	if (!attaches_to(type, next))
		return is_parent(other, type->name);
	return stands_before(type, other) && parents_shared(type, other) > 0;
}

/* The node that comes first on the way from `type` to `next`: `next` itself when none is attached
 * there. Those that are off count if `all`. */
static const char *next_of(const struct node_type *type, const char *next, bool all)
{
	const struct node_type *first = NULL;

	for (const struct node_type *other = node_types; other != NULL; other = other->link)
		if ((all || !other->attach.off) && is_on_way(other, type, next) &&
			(first == NULL || stands_before(other, first)))
			first = other;
	return first == NULL ? next : first->name;
}

static bool has_next(const struct node_type *type, const char *next)
{
	for (unsigned i = 0; i < NODE_NEXTS_MAX; i++)
		if (type->nexts[i] != NULL && strcmp(type->nexts[i], next) == 0)
			return true;
	return false;
}

static int attach_check_parents(const struct node_type *type)
{
	const char *next = type->attach.next;

	for (unsigned i = 0; i < parents_count(type); i++) {
		const char *name = type->attach.parents[i];
		const struct node_type *parent = node_type_find(name);

		if (parent == NULL || parent->template) {
			fprintf(stderr, "node %s: cannot be attached: %s '%s'\n", type->name,
				parent == NULL ? "there is no node" : "only clones walk", name);
			return -EINVAL;
		}
		if (!has_next(parent, next)) {
			fprintf(stderr, "node %s: cannot be attached: %s has no edge to %s\n",
				type->name, name, next);
			return -EINVAL;
		}
	}
	return 0;
}

static int attach_check(const struct node_type *type)
{
	const char *next = type->attach.next;

	if (next == NULL)
		return 0;
	if (!has_next(type, next)) {
		fprintf(stderr, "node %s: cannot be attached: it has no edge to %s itself\n",
			type->name, next);
		return -EINVAL;
	}
	for (const struct node_type *other = node_types; other != NULL; other = other->link) {
		unsigned shared = parents_shared(type, other);

		if (other == type || !attaches_to(other, next) || shared == 0 ||
			shared == RTE_MIN(parents_count(type), parents_count(other)))
			continue;
		fprintf(stderr, "node %s: cannot be attached: its parents cross those of %s\n",
			type->name, other->name);
		return -EINVAL;
	}
	return attach_check_parents(type);
}

struct node_state *node_state_of(const struct worker *worker, const char *name)
{
	struct node_state *state = states;

	while (state != NULL && (state->worker != worker || strcmp(state->name, name) != 0))
		state = state->link;
	return state;
}

/* An edge is one pointer, which the worker reads anew for each enqueue: it may be walking. */
static void connect_node(const struct node_state *state)
{
	const struct node_type *type = state->type;

	for (unsigned i = 0; i < NODE_NEXTS_MAX && !type->template; i++) {
		const char *next = type->nexts[i];
		const struct node_state *to;

		if (next == NULL || next_of(type, next, true) == next)
			continue;
		to = node_state_of(state->worker, next_of(type, next, false));
		__atomic_store_n(&state->node->nodes[i], to->node, __ATOMIC_RELEASE);
	}
}

void nodes_connect(void)
{
	for (const struct node_state *state = states; state != NULL; state = state->link)
		connect_node(state);
}

void node_attach_switch(const char *name, bool on)
{
	struct node_type *type = node_type_find(name);

	if (type == NULL || type->attach.off == !on)
		return;
	type->attach.off = !on;
	nodes_connect();
}

static int node_init(__rte_unused const struct rte_graph *graph, struct rte_node *node)
{
	const struct node_type *type = by_id[node->id].type;
	struct node_state *state;

	state = rte_zmalloc_socket("node", sizeof(*state) + type->private_bytes,
		RTE_CACHE_LINE_SIZE, worker_creating()->socket);
	if (state == NULL)
		return -ENOMEM;
	state->worker = worker_creating();
	state->type = type;
	state->object = by_id[node->id].object;
	state->node = node;
	snprintf(state->name, sizeof(state->name), "%s", node->name);
	state->link = states;
	states = state;
	node_context(node)->state = state;
	node_context(node)->object = state->object;
	return type->init == NULL ? 0 : type->init(state, node);
}

static int node_register(struct node_type *type)
{
	struct rte_node_register *registration;
	unsigned nexts = 0;

	for (unsigned i = 0; i < NODE_NEXTS_MAX; i++)
		if (type->nexts[i] != NULL)
			nexts = i + 1;
	registration = calloc(1, sizeof(*registration) + nexts * sizeof(char *));
	if (registration == NULL)
		return -ENOMEM;
	snprintf(registration->name, sizeof(registration->name), "%s", type->name);
	registration->flags = type->source ? RTE_NODE_SOURCE_F : 0;
	registration->process = type->process;
	registration->init = node_init;
	registration->parent_id = RTE_NODE_ID_INVALID;
	registration->nb_edges = (rte_edge_t)nexts;
	for (unsigned i = 0; i < nexts; i++)
		registration->next_nodes[i] =
			type->nexts[i] == NULL ? "drop" : next_of(type, type->nexts[i], true);
	type->id = __rte_node_register(registration);
	free(registration);
	if (type->id == RTE_NODE_ID_INVALID || type->id >= NODE_IDS_MAX) {
		fprintf(stderr, "node %s: cannot be registered\n", type->name);
		return -EINVAL;
	}
	by_id[type->id].type = type;
	return 0;
}

int nodes_register(void)
{
	int rc = 0;

	for (struct node_type *type = node_types; type != NULL && rc == 0; type = type->link)
		rc = attach_check(type);
	for (struct node_type *type = node_types; type != NULL && rc == 0; type = type->link)
		rc = node_register(type);
	return rc;
}

rte_node_t node_clone(
	const char *template_name, const char *suffix, void *object, const char *const *nexts)
{
	struct node_type *type = node_type_find(template_name);
	const char *edges[NODE_NEXTS_MAX];
	rte_edge_t count = 0;
	rte_node_t id;

	if (type == NULL)
		return RTE_NODE_ID_INVALID;
	id = rte_node_clone(type->id, suffix);
	if (id == RTE_NODE_ID_INVALID || id >= NODE_IDS_MAX) {
		fprintf(stderr, "node %s-%s: cannot be made\n", template_name, suffix);
		return RTE_NODE_ID_INVALID;
	}
	by_id[id].type = type;
	by_id[id].object = object;
	if (nexts == NULL)
		return id;
	while (nexts[count] != NULL && count < NODE_NEXTS_MAX) {
		edges[count] = nexts[count];
		count++;
	}
	rte_node_edge_update(id, 0, edges, count);
	rte_node_edge_shrink(id, count);
	return id;
}

rte_edge_t node_add_next(struct node_type *type, const char *next)
{
	rte_edge_t edge = rte_node_edge_count(type->id);

	if (rte_node_edge_update(type->id, RTE_EDGE_ID_INVALID, &next, 1) != 1)
		return RTE_EDGE_ID_INVALID;
	return edge;
}

static void read_drops(struct ledger *ledger, const struct node_state *state)
{
	for (unsigned r = 0; r < NODE_REASONS_MAX && state->type->reasons[r] != NULL; r++) {
		bool consumed = (state->type->consumed & (1u << r)) != 0;

		if (state->drops[r] != 0 || ledger->watches)
			ledger_add_counter(ledger, consumed ? LEDGER_CONSUMED : LEDGER_LOSS,
				&state->drops[r], "%s: %s", state->name, state->type->reasons[r]);
	}
}

static void read_nodes(struct ledger *ledger)
{
	for (struct node_state *state = node_states(); state != NULL; state = state->link) {
		if (state->originated != 0)
			ledger_add(ledger, LEDGER_ORIGINATED, state->originated, "%s", state->name);
		if (state->held != 0)
			ledger_add(ledger, LEDGER_HELD, state->held, "%s", state->name);
		read_drops(ledger, state);
	}
}
LEDGER_SOURCE_REGISTER(LEDGER_STAGE_NODES, read_nodes)

int node_clone_to(const char *template_name, const char *port, void *object, const char *next,
	char name[RTE_NODE_NAMESIZE])
{
	const char *const nexts[] = {"drop", next, NULL};

	if (node_clone(template_name, port, object, nexts) == RTE_NODE_ID_INVALID)
		return -EINVAL;
	snprintf(name, RTE_NODE_NAMESIZE, "%s-%s", template_name, port);
	return 0;
}
