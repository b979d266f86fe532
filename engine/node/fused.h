/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared part of the nodes that do the work of the last two nodes for most packets: the rewrite of
 * a kind, and interface-output. Those count such packets as fused. It is all of such a node's
 * private data.
 */
#ifndef LINERATE_FUSED_H
#define LINERATE_FUSED_H

#include "core/node.h"
#include "core/worker.h"

#include <errno.h>

struct fused {
	struct node_stats *rewrite, *output;
};

/* For init() of a node whose `fused` are FUSED_NODES(). Returns 0 or -ENOENT. */
#define FUSED_NODES(rewrite) \
	{ \
		rewrite, "interface-output" \
	}
static inline int fused_find(struct node_state *state, struct rte_node *node)
{
	struct fused *fused = node_private(node);

	fused->rewrite = worker_node_stats(state->worker, state->type->fused[0]);
	fused->output = worker_node_stats(state->worker, state->type->fused[1]);
	return fused->rewrite == NULL || fused->output == NULL ? -ENOENT : 0;
}

static __rte_always_inline void fused_count(struct rte_node *node, uint16_t packets)
{
	const struct fused *fused = node_private(node);

	fused->rewrite->fused_calls++;
	fused->rewrite->fused_vectors += packets;
	fused->output->fused_calls++;
	fused->output->fused_vectors += packets;
}

#endif
