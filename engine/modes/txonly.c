/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * txonly: sends the same UDP frame on each port as fast as the port takes it, and receives
 * nothing; testpmd's word, meaning and addresses.
 */
#include "core/vector.h"
#include "forwarder.h"
#include "origin.h"

#include <rte_ip.h>

static __rte_always_inline void txonly_build(const struct origin *origin,
	__rte_unused struct origin_queue *queue, struct rte_mbuf **mbufs)
{
	for (unsigned i = 0; i < ORIGIN_BURST; i++) {
		if (likely(i + VECTOR_AHEAD < ORIGIN_BURST))
			rte_prefetch0_write(mbufs[i + VECTOR_AHEAD]);
		origin_fresh(origin, mbufs[i]);
	}
}

static uint16_t txonly_process(__rte_unused struct rte_graph *graph, struct rte_node *node,
	__rte_unused void **objs, __rte_unused uint16_t count)
{
	return origin_process(node, txonly_build);
}

static struct node_type txonly = {
	.name = "txonly",
	.process = txonly_process,
	.init = origin_init,
	.nexts = {"drop"},
	.private_bytes = sizeof(struct origin_queue),
	.source = true,
	.template = true,
};
NODE_REGISTER(txonly)

static void txonly_parse(const struct config_node *node)
{
	if (node->json != NULL && json_is_object(node->json))
		config_known(node, "frame_bytes", "peers");
	origin_parse(node);
}

static int txonly_create(void)
{
	/* RFC 2544 C.2.2: addresses for tests, and the port "discard". */
	static const struct origin_flow flow = {
		.src = RTE_IPV4(198, 18, 0, 1),
		.dst = RTE_IPV4(198, 18, 0, 2),
		.sport = 9,
		.dport = 9,
	};

	return origin_create("txonly", &flow);
}

static struct forwarding_mode txonly_mode = {
	.name = "txonly",
	.key = "txonly",
	.sends = true,
	.parse = txonly_parse,
	.create = txonly_create,
};
FORWARDING_MODE_REGISTER(txonly_mode)
