/* SPDX-License-Identifier: BSD-3-Clause */
/* drop: frees what others dropped; they have counted it under their reason. */
#include "core/free.h"
#include "core/node.h"

static uint16_t drop_process(__rte_unused struct rte_graph *graph,
	__rte_unused struct rte_node *node, void **objs, uint16_t count)
{
	free_mbufs((struct rte_mbuf **)objs, count);
	return count;
}

static struct node_type drop = {
	.name = "drop",
	.process = drop_process,
};
NODE_REGISTER(drop)
