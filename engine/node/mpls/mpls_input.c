/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpls-input: is there a whole label, may the interface carry labels, and has the label's TTL not
 * run out already? A TTL of 1 passes: a label that is only popped leaves it to the IPv4 packet
 * beneath, whose sender can then get an ICMP error.
 */
#include "core/vector.h"
#include "router/interface.h"
#include "router/packet.h"

enum next {
	NEXT_DROP,
	NEXT_LOOKUP,
};

enum reason {
	TRUNCATED,
	MPLS_DISABLED,
	TTL_ZERO,
};

static __rte_noinline rte_edge_t refuse(struct rte_node *node, const struct rte_mbuf *mbuf)
{
	enum reason reason = TTL_ZERO;

	if (!interfaces[mbuf->port].mpls)
		reason = MPLS_DISABLED;
	else if (packet_l3_bytes(mbuf) < MPLS_LABEL_BYTES)
		reason = TRUNCATED;
	node_state(node)->drops[reason]++;
	return NEXT_DROP;
}

static bool mpls_input_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	rte_edge_t differ = 0;

	for (uint16_t i = 0; i < count; i++) {
		const struct rte_mbuf *mbuf = mbufs[i];

		nexts[i] = NEXT_LOOKUP;
		if (unlikely(!interfaces[mbuf->port].mpls ||
			     packet_l3_bytes(mbuf) < MPLS_LABEL_BYTES || packet_l3(mbuf)[3] == 0))
			nexts[i] = refuse(node, mbuf);
		differ |= nexts[i] ^ nexts[0];
	}
	return differ == 0;
}

static uint16_t mpls_input_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	return vector_walk(graph, node, objs, count, mpls_input_vector);
}

static struct node_type mpls_input = {
	.name = "mpls-input",
	.process = mpls_input_process,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_LOOKUP] = "mpls-lookup"},
	.reasons = {[TRUNCATED] = "shorter than a label",
		[MPLS_DISABLED] = "mpls disabled on the interface",
		[TTL_ZERO] = "ttl is zero"},
};
NODE_REGISTER(mpls_input)
