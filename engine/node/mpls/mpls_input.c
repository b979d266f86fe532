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
	return node_drop_as(node, reason);
}

static __rte_always_inline rte_edge_t classify_one(struct rte_node *node, struct rte_mbuf *mbuf)
{
	if (unlikely(!interfaces[mbuf->port].mpls || packet_l3_bytes(mbuf) < MPLS_LABEL_BYTES ||
		     packet_l3(mbuf)[3] == 0))
		return refuse(node, mbuf);
	return NEXT_LOOKUP;
}

VECTOR_EACH(mpls_input, classify_one, 0)
VECTOR_PROCESS(mpls_input)

static struct node_type mpls_input = {
	.name = "mpls-input",
	.process = mpls_input_process,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_LOOKUP] = "mpls-lookup"},
	.reasons = {[TRUNCATED] = "shorter than a label",
		[MPLS_DISABLED] = "mpls disabled on the interface",
		[TTL_ZERO] = "ttl is zero"},
};
NODE_REGISTER(mpls_input)
