/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * responder: sends what a tester port with addresses answers to its neighbours. It is walked before
 * the port's generator, so that at full load, too, it finds what room there is. Ports without
 * addresses have no such node.
 */
#include "core/node.h"
#include "tester/responder.h"

static uint16_t responder_process(__rte_unused struct rte_graph *graph, struct rte_node *node,
	__rte_unused void **objs, __rte_unused uint16_t count)
{
	return responder_send(node_object(node));
}

static struct node_type responder = {
	.name = "responder",
	.process = responder_process,
	.nexts = {"drop"}, /* a graph takes no node without an edge */
	.source = true,
	.template = true,
};
NODE_REGISTER(responder)
