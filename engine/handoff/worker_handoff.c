/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker-handoff: hands each packet to the worker that its hash names, sorted by worker and
 * priority, with one enqueue for each; what is this worker's own goes on here.
 */
#include "core/waker.h"
#include "core/worker.h"
#include "handoff.h"

#include <string.h>

#define KEYS_MAX (PORT_QUEUES_MAX * PRIORITIES)

enum reason {
	RING_FULL,
};

struct handoff_sender {
	unsigned self;
	unsigned first; /* the worker that hash 0 names */
	unsigned nb_targets;
};

/* Packets sorted by worker and priority, in the order in which they came; first[K] to first[K + 1]
 * are those of worker and priority K. */
struct sorted {
	uint16_t first[KEYS_MAX + 1];
	struct rte_mbuf *mbufs[NODE_VECTOR_MAX];
};

static void sort(struct sorted *sorted, struct rte_mbuf **mbufs, uint16_t count, unsigned targets)
{
	uint32_t hashes[NODE_VECTOR_MAX];
	uint8_t keys[NODE_VECTOR_MAX];
	uint16_t counts[KEYS_MAX] = {0}, next[KEYS_MAX];

	handoff_hash(mbufs, hashes, count);
	for (uint16_t i = 0; i < count; i++) {
		/* The high bits: a card has chosen its queue by the low ones. */
		unsigned target = (unsigned)((uint64_t)hashes[i] * targets >> 32);

		keys[i] = (uint8_t)(target * PRIORITIES +
				    priority_of(rte_pktmbuf_mtod(mbufs[i], const uint8_t *),
					    mbufs[i]->data_len));
		counts[keys[i]]++;
	}
	sorted->first[0] = 0;
	for (unsigned k = 0; k < targets * PRIORITIES; k++) {
		next[k] = sorted->first[k];
		sorted->first[k + 1] = sorted->first[k] + counts[k];
	}
	for (uint16_t i = 0; i < count; i++)
		sorted->mbufs[next[keys[i]]++] = mbufs[i];
}

static void hand_over(struct rte_graph *graph, struct rte_node *node, struct handoff_queue *queue,
	struct sorted *sorted, unsigned key)
{
	for (unsigned p = PRIORITIES; p-- > 0;) {
		struct rte_mbuf **first = &sorted->mbufs[sorted->first[key + p]];
		/* sort() wrote them all. NOLINTNEXTLINE(clang-analyzer-core.*) */
		uint16_t count = sorted->first[key + p + 1] - sorted->first[key + p];
		unsigned sent;

		if (count == 0)
			continue;
		sent = handoff_enqueue(queue, (enum priority)p, first, count);
		if (unlikely(sent < count)) {
			node_state(node)->drops[RING_FULL] += count - sent;
			rte_node_enqueue(
				graph, node, 0, (void **)(first + sent), (uint16_t)(count - sent));
		}
	}
	if (queue->waker != NULL)
		waker_signal(queue->waker);
}

static void handoff_vector(
	struct rte_graph *graph, struct rte_node *node, struct rte_mbuf **mbufs, uint16_t count)
{
	const struct handoff_sender *sender = node_private(node);
	struct sorted sorted;

	sort(&sorted, mbufs, count, sender->nb_targets);
	for (unsigned t = 0; t < sender->nb_targets; t++) {
		unsigned key = t * PRIORITIES, worker = sender->first + t;
		/* sort() wrote them all. NOLINTNEXTLINE(clang-analyzer-core.*) */
		uint16_t some = sorted.first[key + PRIORITIES] - sorted.first[key];

		if (some == 0)
			continue;
		if (worker == sender->self)
			handoff_enter(graph, node, &sorted.mbufs[sorted.first[key]], some);
		else
			hand_over(graph, node, handoff_queue(sender->self, worker), &sorted, key);
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
	sender->first = handoff_first_target();
	sender->nb_targets = workers_forwarders() - sender->first;
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
