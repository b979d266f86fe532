/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker-handoff: hands each packet to the worker that its hash names, sorted by worker, with
 * one enqueue a worker; what is this worker's own goes on here.
 */
#include "../forward/handoff.h"
#include "../waker.h"
#include "../worker.h"

#include <string.h>

enum reason {
	RING_FULL,
};

struct handoff_sender {
	unsigned self;
	unsigned nb_workers;
};

/* Packets sorted by worker, in the order in which they came; first[W] to first[W + 1] are W's. */
struct sorted {
	uint16_t first[PORT_QUEUES_MAX + 1];
	struct rte_mbuf *mbufs[NODE_VECTOR_MAX];
};

static void sort(struct sorted *sorted, struct rte_mbuf **mbufs, uint16_t count, unsigned workers)
{
	uint32_t hashes[NODE_VECTOR_MAX];
	uint8_t target[NODE_VECTOR_MAX];
	uint16_t counts[PORT_QUEUES_MAX] = {0}, next[PORT_QUEUES_MAX];

	handoff_hash(mbufs, hashes, count);
	for (uint16_t i = 0; i < count; i++) {
		/* The high bits: a card has chosen its queue by the low ones. */
		target[i] = (uint8_t)((uint64_t)hashes[i] * workers >> 32);
		counts[target[i]]++;
	}
	sorted->first[0] = 0;
	for (unsigned w = 0; w < workers; w++) {
		next[w] = sorted->first[w];
		sorted->first[w + 1] = sorted->first[w] + counts[w];
	}
	for (uint16_t i = 0; i < count; i++)
		sorted->mbufs[next[target[i]]++] = mbufs[i];
}

static void hand_over(struct rte_graph *graph, struct rte_node *node, struct handoff_ring *ring,
	struct rte_mbuf **mbufs, unsigned count)
{
	unsigned sent = rte_ring_sp_enqueue_burst(ring->ring, (void **)mbufs, count, NULL);

	ring->enqueued += sent;
	if (ring->waker != NULL)
		waker_signal(ring->waker);
	if (unlikely(sent < count)) {
		ring->dropped += count - sent;
		node_state(node)->drops[RING_FULL] += count - sent;
		rte_node_enqueue(graph, node, 0, (void **)&mbufs[sent], (uint16_t)(count - sent));
	}
}

static void handoff_vector(
	struct rte_graph *graph, struct rte_node *node, struct rte_mbuf **mbufs, uint16_t count)
{
	const struct handoff_sender *sender = node_private(node);
	struct sorted sorted;

	sort(&sorted, mbufs, count, sender->nb_workers);
	for (unsigned w = 0; w < sender->nb_workers; w++) {
		struct rte_mbuf **first = &sorted.mbufs[sorted.first[w]];
		uint16_t some = sorted.first[w + 1] - sorted.first[w];

		if (some == 0)
			continue;
		if (w == sender->self)
			handoff_enter(graph, node, first, some);
		else
			hand_over(graph, node, handoff_ring(sender->self, w), first, some);
	}
}

static uint16_t worker_handoff_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	for (uint16_t done = 0; done < count; done += NODE_VECTOR_MAX)
		handoff_vector(graph, node, (struct rte_mbuf **)objs + done,
			RTE_MIN((uint16_t)(count - done), (uint16_t)NODE_VECTOR_MAX));
	return count;
}

static int worker_handoff_init(struct node_state *state, struct rte_node *node)
{
	struct handoff_sender *sender = node_private(node);

	sender->self = state->worker->forwarder_index;
	sender->nb_workers = workers_forwarders();
	return 0;
}

/* The edges to where the ports' frames enter are added when they are known. */
static struct node_type worker_handoff = {
	.name = "worker-handoff",
	.process = worker_handoff_process,
	.init = worker_handoff_init,
	.nexts = {"drop"},
	.reasons = {[RING_FULL] = "handoff ring full"},
	.private_bytes = sizeof(struct handoff_sender),
};
NODE_REGISTER(worker_handoff)
