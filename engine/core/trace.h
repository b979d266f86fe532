/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet trace: the way of single packets through the nodes, with what each node decided, as VPP's
 * and grout's. While a trace is armed the workers concerned take a variant of their walk in which
 * a packet that is traced passes each node alone, so that what the node counts for it is known. The
 * usual walk has no code for it: a worker is asked to trace as it is asked to stop.
 */
#ifndef LINERATE_TRACE_H
#define LINERATE_TRACE_H

#include "node.h"
#include "worker.h"

#define TRACE_PACKETS_MAX 100
#define TRACE_HOPS_MAX 32
#define TRACE_FRAME_BYTES 120
#define TRACE_TEXT_BYTES 120

enum trace_outcome {
	TRACE_SENT_ON, /* to `next` */
	TRACE_HELD,
	TRACE_LEFT, /* sent, freed, handed to another worker */
};

/* One node on a packet's way. */
struct trace_hop {
	rte_node_t node, next;
	enum trace_outcome outcome;
	const char *reason; /* under which the node counted the packet; NULL: it did not */
	const char *fused[NODE_FUSED_MAX]; /* nodes whose work was done here; NULL-terminated */
	char text[TRACE_TEXT_BYTES];       /* what the node decided; "" when it does not say */
};

struct trace_packet {
	const struct worker *worker;
	const struct rte_mbuf *mbuf; /* while it is under way */
	uint16_t port;
	uint32_t length;
	uint8_t frame[TRACE_FRAME_BYTES]; /* its start, as it came to the first hop */
	unsigned nb_hops;
	bool ended;
	bool cut; /* there were more hops */
	struct trace_hop hops[TRACE_HOPS_MAX];
};

/* Arms a trace of `count` packets from the node on, on all workers that have it. The one before is
 * forgotten. Returns NULL, or what is wrong. */
const char *trace_start(const char *node, unsigned count);
/* Disarms. What was traced can still be read. */
void trace_stop(void);
/* Name of the node where the trace starts; NULL before the first one. */
const char *trace_node(void);
unsigned trace_count(void);
/* Packets whose way is complete. */
unsigned trace_ended(void);
/* NULL when that packet's way is not complete. */
const struct trace_packet *trace_packet(unsigned index);

/* For the worker's traced walk: processes what the node has, as node->process() would. */
uint16_t trace_process(struct worker *worker, struct rte_node *node);
void trace_walk_end(struct worker *worker);
/* All packets that were asked for have begun, or the trace was stopped. */
bool trace_is_over(void);

#endif
