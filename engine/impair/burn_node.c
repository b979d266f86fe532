/* SPDX-License-Identifier: BSD-3-Clause */
/* burn: uses up cycles, then passes all packets on. One clone a port. */
#include "burn.h"

#include <errno.h>

static uint16_t burn_process(
	struct rte_graph *graph, struct rte_node *node, __rte_unused void **objs, uint16_t count)
{
	burn_call(node_object(node), node->id, count);
	rte_node_next_stream_move(graph, node, 0);
	return count;
}

static int burn_init(struct node_state *state, struct rte_node *node)
{
	struct burner *burner = burn_burner(state->worker);

	node_context(node)->object = burner;
	return burner == NULL ? -EAGAIN : 0;
}

static struct node_type burn = {
	.name = "burn",
	.process = burn_process,
	.init = burn_init,
	.nexts = {"drop"},
	.template = true,
};
NODE_REGISTER(burn)
