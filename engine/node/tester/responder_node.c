/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * responder: sends what a tester port answers to its neighbours and asks them, and what the control
 * side injects. It is walked before the port's generator, so that at full load, too, it finds what
 * room there is.
 */
#include "core/node.h"
#include "tester/inject.h"
#include "tester/responder.h"

static uint16_t responder_process(__rte_unused struct rte_graph *graph, struct rte_node *node,
	__rte_unused void **objs, __rte_unused uint16_t count)
{
	const struct port *port = node_object(node);
	struct injector *injector = __atomic_load_n(&injectors[port->index], __ATOMIC_ACQUIRE);
	uint16_t sent = responder_send(responders[port->index]);

	if (unlikely(injector != NULL))
		sent += inject_send(injector);
	return sent;
}

static struct node_type responder = {
	.name = "responder",
	.process = responder_process,
	.nexts = {"drop"}, /* a graph takes no node without an edge */
	.source = true,
	.template = true,
};
NODE_REGISTER(responder)
