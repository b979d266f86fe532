/* SPDX-License-Identifier: BSD-3-Clause */
/* handoff-rx: takes what other workers have handed over, up to a vector a call: the workers in
 * turn, and of each the higher priority first. */
#include "core/worker.h"
#include "handoff.h"

struct handoff_receiver {
	unsigned nb_queues;
	unsigned turn;
	struct handoff_queue *queues[PORT_QUEUES_MAX];
};

static uint16_t handoff_rx_process(struct rte_graph *graph, struct rte_node *node,
	__rte_unused void **objs, __rte_unused uint16_t count)
{
	struct handoff_receiver *receiver = node_private(node);
	struct rte_mbuf *mbufs[NODE_VECTOR_MAX];
	unsigned got = 0;

	for (unsigned i = 0; i < receiver->nb_queues && got < NODE_VECTOR_MAX; i++) {
		receiver->turn = receiver->turn + 1 < receiver->nb_queues ? receiver->turn + 1 : 0;
		got += handoff_dequeue(
			receiver->queues[receiver->turn], &mbufs[got], NODE_VECTOR_MAX - got);
	}
	if (got != 0)
		handoff_enter(graph, node, mbufs, (uint16_t)got);
	return (uint16_t)got;
}

static int handoff_rx_init(struct node_state *state, struct rte_node *node)
{
	struct handoff_receiver *receiver = node_private(node);

	for (unsigned from = 0; from < workers_forwarders(); from++) {
		struct handoff_queue *queue = handoff_queue(from, state->worker->forwarder_index);

		if (queue != NULL)
			receiver->queues[receiver->nb_queues++] = queue;
	}
	return 0;
}

/* The edges are added as those of worker-handoff, and are the same. */
static struct node_type handoff_rx = {
	.name = "handoff-rx",
	.process = handoff_rx_process,
	.init = handoff_rx_init,
	.nexts = {"drop"},
	.private_bytes = sizeof(struct handoff_receiver),
	.source = true,
};
NODE_REGISTER(handoff_rx)
