/* SPDX-License-Identifier: BSD-3-Clause */
/* rxonly: takes frames and frees them; testpmd's word and meaning. */
#include "core/node.h"
#include "forwarder.h"

#include <stdio.h>

enum reason {
	RECEIVED,
};

static uint16_t rxonly_process(
	struct rte_graph *graph, struct rte_node *node, __rte_unused void **objs, uint16_t count)
{
	node_state(node)->drops[RECEIVED] += count;
	rte_node_next_stream_move(graph, node, 0);
	return count;
}

static struct node_type rxonly = {
	.name = "rxonly",
	.process = rxonly_process,
	.nexts = {"drop"},
	.reasons = {[RECEIVED] = "received"},
	.consumed = 1u << RECEIVED,
};
NODE_REGISTER(rxonly)

static int rxonly_entry(__rte_unused struct port *port, __rte_unused struct port *peer,
	char name[RTE_NODE_NAMESIZE])
{
	snprintf(name, RTE_NODE_NAMESIZE, "rxonly");
	return 0;
}

static struct forwarding_mode rxonly_mode = {
	.name = "rxonly",
	.entry = rxonly_entry,
};
FORWARDING_MODE_REGISTER(rxonly_mode)
