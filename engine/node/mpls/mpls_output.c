/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpls-output: puts the adjacency's labels in place of the outermost one (one: swap; more:
 * swap and push; none: pop to the label beneath), TTL down by one, and writes the
 * neighbour's Ethernet header. The label in place of the old one has its class and TTL; those
 * pushed before it, and one that is uncovered, as router/mpls.h says.
 *
 * When the TTL expires, or the packet is too long and must not be cut, and there is an IPv4 packet
 * beneath the labels, its sender gets an ICMP error (RFC 3032 2.3.2, 3.4).
 */
#include "core/vector.h"
#include "router/adjacency.h"
#include "router/mpls.h"

#include <netinet/ip_icmp.h>

enum next {
	NEXT_DROP,
	NEXT_OUTPUT,
	NEXT_ERROR,
};

enum reason {
	TTL_EXPIRED,
	MTU_EXCEEDED,
	STACK_TRUNCATED,
	NO_HEADROOM,
};

static __rte_noinline rte_edge_t expired(struct rte_node *node, struct rte_mbuf *mbuf)
{
	node_state(node)->drops[TTL_EXPIRED]++;
	if (!mpls_uncover_ip4(mbuf))
		return NEXT_DROP;
	packet_set_error(mbuf, ICMP_TIMXCEED, ICMP_TIMXCEED_INTRANS, 0);
	return NEXT_ERROR;
}

static rte_edge_t too_long(
	struct rte_node *node, struct rte_mbuf *mbuf, const struct adjacency *adjacency)
{
	uint16_t labelled = packet_l3_bytes(mbuf), stack;

	node_state(node)->drops[MTU_EXCEEDED]++;
	if (!mpls_uncover_ip4(mbuf) ||
		!(packet_ip4(mbuf)->fragment_offset & RTE_BE16(RTE_IPV4_HDR_DF_FLAG)))
		return NEXT_DROP;
	stack = (uint16_t)(labelled - packet_l3_bytes(mbuf) +
			   (adjacency->nb_labels - 1) * MPLS_LABEL_BYTES);
	packet_set_error(mbuf, ICMP_UNREACH, ICMP_UNREACH_NEEDFRAG, adjacency->mtu - stack);
	return NEXT_ERROR;
}

/* The label beneath keeps its own traffic class. */
static rte_edge_t pop(struct rte_node *node, struct rte_mbuf *mbuf, uint32_t ttl)
{
	uint8_t *beneath;
	uint32_t entry;

	if (packet_l3_bytes(mbuf) < 2 * MPLS_LABEL_BYTES)
		return node_drop_as(node, STACK_TRUNCATED);
	rte_pktmbuf_adj(mbuf, MPLS_LABEL_BYTES);
	beneath = packet_l3(mbuf);
	entry = mpls_read(beneath);
	mpls_write(
		beneath, (entry & ~MPLS_TTL_MASK) | mpls_ttl_beneath(ttl, entry & MPLS_TTL_MASK));
	return NEXT_OUTPUT;
}

static rte_edge_t push(struct rte_node *node, struct rte_mbuf *mbuf,
	const struct adjacency *adjacency, uint32_t class_and_ttl)
{
	size_t last = adjacency->nb_labels - 1;
	uint32_t pushed = mpls_imposed(
		(class_and_ttl & MPLS_TC_MASK) >> MPLS_TC_SHIFT, class_and_ttl & MPLS_TTL_MASK);

	if (last > 0 && rte_pktmbuf_prepend(mbuf, (uint16_t)(last * MPLS_LABEL_BYTES)) == NULL)
		return node_drop_as(node, NO_HEADROOM);
	for (size_t i = 0; i < last; i++)
		mpls_write(packet_l3(mbuf) + i * MPLS_LABEL_BYTES, adjacency->labels[i] | pushed);
	mpls_write(
		packet_l3(mbuf) + last * MPLS_LABEL_BYTES, adjacency->labels[last] | class_and_ttl);
	return NEXT_OUTPUT;
}

static __rte_noinline rte_edge_t labels_other(struct rte_node *node, struct rte_mbuf *mbuf,
	const struct adjacency *adjacency, uint32_t class_and_ttl)
{
	if (adjacency->nb_labels == 0)
		return pop(node, mbuf, class_and_ttl & MPLS_TTL_MASK);
	if (packet_l3_bytes(mbuf) + (adjacency->nb_labels - 1) * MPLS_LABEL_BYTES > adjacency->mtu)
		return too_long(node, mbuf, adjacency);
	return push(node, mbuf, adjacency, class_and_ttl);
}

static __rte_always_inline rte_edge_t output_one(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct adjacency *adjacency = &adjacencies[packet_adjacency(mbuf)];
	uint8_t *l3 = packet_l3(mbuf);
	uint32_t entry = mpls_read(l3);
	uint32_t class_and_ttl = (entry & (MPLS_TC_MASK | MPLS_TTL_MASK)) - 1;
	rte_edge_t next = NEXT_OUTPUT;

	if (unlikely((entry & MPLS_TTL_MASK) <= 1))
		return expired(node, mbuf);
	if (likely(adjacency->nb_labels == 1 && packet_l3_bytes(mbuf) <= adjacency->mtu))
		mpls_write(l3, adjacency->labels[0] | class_and_ttl);
	else
		next = labels_other(node, mbuf, adjacency, class_and_ttl);
	if (unlikely(next != NEXT_OUTPUT))
		return next;
	adjacency_rewrite(adjacency, rte_pktmbuf_mtod(mbuf, uint8_t *));
	mbuf->port = adjacency->interface;
	return NEXT_OUTPUT;
}

VECTOR_EACH(mpls_output, output_one, VECTOR_AHEAD)
VECTOR_PROCESS(mpls_output)

static struct node_type mpls_output = {
	.name = "mpls-output",
	.process = mpls_output_process,
	.nexts = {[NEXT_DROP] = "drop",
		[NEXT_OUTPUT] = "interface-output",
		[NEXT_ERROR] = "icmp4-error"},
	.reasons = {[TTL_EXPIRED] = "ttl expired",
		[MTU_EXCEEDED] = "mtu exceeded",
		[STACK_TRUNCATED] = "label stack has no bottom",
		[NO_HEADROOM] = "no headroom in the buffer"},
};
NODE_REGISTER(mpls_output)
