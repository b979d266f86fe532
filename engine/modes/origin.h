/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common part of the modes that originate frames: a source node a port, walked by every worker,
 * which sends on the worker's tx queue as fast as the port takes them. Frames come from a pool
 * without other users, with the template in each buffer already, so that only the changed fields
 * are written. Frames that the port does not take are kept and sent first.
 */
#ifndef LINERATE_ORIGIN_H
#define LINERATE_ORIGIN_H

#include "capture/capture_tap.h"
#include "core/config.h"
#include "core/node.h"
#include "port/fresh.h"
#include "port/port.h"

#define ORIGIN_BURST 64
#define ORIGIN_HEADER_BYTES 42 /* Ethernet, IPv4, UDP */

/* Object of a clone: one port's frames. */
struct origin {
	struct port *port;
	struct rte_mempool *pool;
	uint64_t rearm;
	uint16_t length; /* without FCS */
	uint8_t header[ORIGIN_HEADER_BYTES];
};

/* Start of a node's private data: one worker's part. */
struct origin_queue {
	const struct port_queue *queue;
	unsigned first, count; /* of those that are to be sent */
	unsigned next;         /* for the node: of its flows */
	struct rte_mbuf *mbufs[ORIGIN_BURST];
};

/* Addresses and ports of the template, in host order. */
struct origin_flow {
	uint32_t src, dst;
	uint16_t sport, dport;
};

/* Reads "frame_bytes" and "peers". */
void origin_parse(const struct config_node *node);
/* Makes the clones "template-PORT" for all ports. Returns 0 or -errno after saying why. */
int origin_create(const char *template_name, const struct origin_flow *flow);
int origin_init(struct node_state *state, struct rte_node *node);

/* The checksums of the flow's packet, once the configuration is read. */
void origin_checksums(const struct origin_flow *flow, uint16_t *ip_checksum, uint16_t *udp);

/* Makes the mbuf a frame again; its data is as the last use left it. */
static __rte_always_inline void origin_fresh(const struct origin *origin, struct rte_mbuf *mbuf)
{
	fresh_mbuf(mbuf, origin->rearm, 0, origin->length, 0);
}

typedef void (*origin_build_t)(
	const struct origin *origin, struct origin_queue *queue, struct rte_mbuf **mbufs);

/* Builds ORIGIN_BURST frames unless some are left, and sends. */
static __rte_always_inline uint16_t origin_process(struct rte_node *node, origin_build_t build)
{
	struct origin_queue *queue = node_private(node);
	const struct origin *origin = node_object(node);
	struct node_state *state = node_state(node);
	uint16_t sent;

	if (queue->count == 0) {
		if (unlikely(rte_mempool_get_bulk(
				     origin->pool, (void **)queue->mbufs, ORIGIN_BURST) != 0))
			return 0;
		build(origin, queue, queue->mbufs);
		queue->first = 0;
		queue->count = ORIGIN_BURST;
		state->originated += ORIGIN_BURST;
	}
	sent = capture_tx_burst(queue->queue, queue->mbufs + queue->first, (uint16_t)queue->count);
	queue->first += sent;
	queue->count -= sent;
	state->held = queue->count;
	return sent;
}

#endif
