/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk that most nodes share: look at a vector, note where each packet goes and whether
 * all agree, send. A node that several others feed may be called with more than a vector.
 */
#ifndef LINERATE_VECTOR_H
#define LINERATE_VECTOR_H

#include "node.h"

#include <rte_prefetch.h>

/* Distance in packets at which headers are fetched. */
#define VECTOR_AHEAD 4

/* Writes nexts[i] for each packet and returns false, or finds that they are all the same,
 * returns true, and need write nexts[0] only. */
typedef bool (*vector_classify_t)(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count);

static inline void vector_send(struct rte_graph *graph, struct rte_node *node, void **objs,
	const rte_edge_t *nexts, uint16_t count, bool agree)
{
	uint16_t start = 0;

	if (likely(agree)) {
		/* The stream itself can only move as a whole. */
		if (likely(count == node->idx))
			rte_node_next_stream_move(graph, node, nexts[0]);
		else
			rte_node_enqueue(graph, node, nexts[0], objs, count);
		return;
	}
	for (uint16_t i = 1; i < count; i++) {
		if (likely(nexts[i] == nexts[start]))
			continue;
		rte_node_enqueue(graph, node, nexts[start], objs + start, i - start);
		start = i;
	}
	rte_node_enqueue(graph, node, nexts[start], objs + start, count - start);
}

/* Passes by which vector_part() takes out an edge's packets; the rest goes run by run. */
#define VECTOR_PARTS_MAX 8

/* Sends a vector whose packets change edges all the time: an edge's packets at once, in their
 * order. Takes the two arrays as its own. */
static inline void vector_part(struct rte_graph *graph, struct rte_node *node, void **objs,
	rte_edge_t *nexts, uint16_t count)
{
	void *part[NODE_VECTOR_MAX];

	for (unsigned round = 0; round < VECTOR_PARTS_MAX && count > 0; round++) {
		rte_edge_t edge = nexts[0];
		uint16_t taken = 0, left = 0;

		for (uint16_t i = 0; i < count; i++) {
			void *obj = objs[i];
			rte_edge_t next = nexts[i];

			part[taken] = objs[left] = obj;
			nexts[left] = next;
			taken += next == edge;
			left += next != edge;
		}
		rte_node_enqueue(graph, node, edge, part, taken);
		count = left;
	}
	if (count > 0)
		vector_send(graph, node, objs, nexts, count, false);
}

static __rte_always_inline uint16_t vector_walk(struct rte_graph *graph, struct rte_node *node,
	void **objs, uint16_t count, vector_classify_t classify)
{
	rte_edge_t nexts[NODE_VECTOR_MAX];

	for (uint16_t done = 0; done < count; done += NODE_VECTOR_MAX) {
		uint16_t some = RTE_MIN((uint16_t)(count - done), (uint16_t)NODE_VECTOR_MAX);
		bool agree = classify(node, (struct rte_mbuf **)objs + done, nexts, some);

		vector_send(graph, node, objs + done, nexts, some, agree);
	}
	return count;
}

/* The same for nodes that spread packets over edges: each edge gets its packets at once. */
static __rte_always_inline uint16_t vector_walk_parted(struct rte_graph *graph,
	struct rte_node *node, void **objs, uint16_t count, vector_classify_t classify)
{
	rte_edge_t nexts[NODE_VECTOR_MAX];

	for (uint16_t done = 0; done < count; done += NODE_VECTOR_MAX) {
		uint16_t some = RTE_MIN((uint16_t)(count - done), (uint16_t)NODE_VECTOR_MAX);

		if (classify(node, (struct rte_mbuf **)objs + done, nexts, some))
			vector_send(graph, node, objs + done, nexts, some, true);
		else
			vector_part(graph, node, objs + done, nexts, some);
	}
	return count;
}

/* Fetches the packet's headers; its mbuf must be in the cache already. */
static __rte_always_inline void vector_prefetch_data(const struct rte_mbuf *mbuf)
{
	rte_prefetch0(rte_pktmbuf_mtod(mbuf, const void *));
}

/* Returns the edge of one packet. */
typedef rte_edge_t (*vector_one_t)(struct rte_node *node, struct rte_mbuf *mbuf);

/* Classifies each packet by itself, and fetches headers `ahead` packets before they are read, or
 * not at all (0). */
static __rte_always_inline bool vector_each(struct rte_node *node, struct rte_mbuf **mbufs,
	rte_edge_t *nexts, uint16_t count, vector_one_t one, unsigned ahead)
{
	rte_edge_t differ = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (ahead != 0 && likely(i + ahead < count))
			vector_prefetch_data(mbufs[i + ahead]);
		nexts[i] = one(node, mbufs[i]);
		differ |= nexts[i] ^ nexts[0];
	}
	return differ == 0;
}

/* Defines NAME_vector(), which classifies each packet by itself. */
#define VECTOR_EACH(name, one, ahead) \
	static bool name##_vector( \
		struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count) \
	{ \
		return vector_each(node, mbufs, nexts, count, one, ahead); \
	}

/* Defines NAME_process() of the node whose NAME_vector() classifies packets. */
#define VECTOR_PROCESS(name) VECTOR_PROCESS_BY(name, vector_walk)
#define VECTOR_PROCESS_PARTED(name) VECTOR_PROCESS_BY(name, vector_walk_parted)
#define VECTOR_PROCESS_BY(name, walk) \
	static uint16_t name##_process( \
		struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count) \
	{ \
		return walk(graph, node, objs, count, name##_vector); \
	}

#endif
