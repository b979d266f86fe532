/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tester-burn: injected cost of the tester, between generator and tester-tx. It reads its port's
 * clock all the time: a card's clock stands still when its worker does not read it, and time in
 * which the worker was descheduled does not count, as in the tester's other work.
 */
#include "core/worker.h"
#include "tester/tester.h"

#include <rte_pause.h>

static uint16_t tester_burn_process(
	struct rte_graph *graph, struct rte_node *node, __rte_unused void **objs, uint16_t count)
{
	struct worker *worker = node_state(node)->worker;
	const struct port *port = ((const struct tester_sender *)node_object(node))->port->port;
	uint64_t start = tester_clock(port), now = start;

	worker_wait_start(worker, node->id);
	while (now - start < count * tester.burn_clocks && !worker_stopping(worker)) {
		rte_pause();
		now = tester_clock(port);
	}
	worker_wait_end(worker, now - start);
	rte_node_next_stream_move(graph, node, 0);
	return count;
}

static struct node_type tester_burn = {
	.name = "tester-burn",
	.process = tester_burn_process,
	.nexts = {"tester-tx"},
	.template = true,
};
NODE_REGISTER(tester_burn)
