/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hand-off between workers, where a port has fewer rx queues than there are workers, the mode
 * wants to choose who works on a packet, or "threading" says that some workers read and others
 * write. The worker that polls the queue hashes each packet's flow and hands it to the worker
 * that the hash names, over one queue for each pair of workers: what is of one flow and priority
 * takes one way, in order.
 *
 *   port-rx ─► worker-handoff ═ queue ═► handoff-rx ─► the mode's node ─► port-tx   (writer)
 *                     └───────────────────────────► the mode's node      (this worker)
 *
 * Readers only receive: the mode and the sending are the writer's. The lower branch is there
 * only without readers and writers.
 */
#ifndef LINERATE_HANDOFF_H
#define LINERATE_HANDOFF_H

#include "core/config.h"
#include "core/node.h"
#include "port/port.h"

#include "handoff_queue.h"

struct ledger;

/* Division of the work among workers. */
enum handoff_threading {
	THREADING_RUN_TO_COMPLETION,
	THREADING_LOCKED,    /* readers and writers, a mutex-protected queue between them */
	THREADING_LOCK_FREE, /* the same over rte_ring */
};

/* Writes what each packet's worker is chosen by: packets of a flow get the same. */
typedef void (*handoff_hash_t)(struct rte_mbuf **mbufs, uint32_t *hashes, uint16_t count);

/* Keys of the forwarder object that handoff_parse() reads. */
#define HANDOFF_KEYS \
	"handoff", "handoff_ring", "handoff_ring_high", "handoff_ring_control", "threading", \
		"readers", "queue_batch"
void handoff_parse(const struct config_node *forwarder, unsigned workers);
bool handoff_off(void);
enum handoff_threading handoff_threading(void);
/* Workers that poll rx queues: the first of them, all when run to completion. */
unsigned handoff_readers(void);
/* Buffers that may lie in the rings of `workers` workers, of which `senders` hand off. */
unsigned handoff_buffers(unsigned senders, unsigned workers);
/* Frames of the port enter the mode at the node `entry` on whichever worker. The port's port-rx
 * nodes go to "worker-handoff". Returns 0 or -errno. */
int handoff_add_port(const struct port *port, const char *entry);
/* Makes the queues and gives each worker its end. `hash` NULL: by flow. Bit W of `senders`: the
 * forwarder's worker W hands off. Returns 0 or -errno after saying why. */
int handoff_create(handoff_hash_t hash, uint64_t senders);
/* First worker that receives handed-off packets: the forwarder's workers from this on. */
unsigned handoff_first_target(void);
/* From one of the forwarder's workers to another, or NULL. */
struct handoff_queue *handoff_queue(unsigned from, unsigned to);
/* Adds what the queues hold. */
void handoff_ledger(struct ledger *ledger);

/* For the two nodes: their edge to the entry of each port's frames, the same in both. */
extern rte_edge_t handoff_edge[PORTS_MAX];
void handoff_hash(struct rte_mbuf **mbufs, uint32_t *hashes, uint16_t count);

/* Sends packets on to where their ports' frames enter. */
static __rte_always_inline void handoff_enter(
	struct rte_graph *graph, struct rte_node *node, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t start = 0;

	/* The ring wrote `count` of them. NOLINTBEGIN(clang-analyzer-core.*) */
	for (uint16_t i = 1; i < count; i++) {
		if (likely(mbufs[i]->port == mbufs[start]->port))
			continue;
		rte_node_enqueue(graph, node, handoff_edge[mbufs[start]->port],
			(void **)&mbufs[start], i - start);
		start = i;
	}
	rte_node_enqueue(graph, node, handoff_edge[mbufs[start]->port], (void **)&mbufs[start],
		count - start);
	/* NOLINTEND(clang-analyzer-core.*) */
}

#endif
