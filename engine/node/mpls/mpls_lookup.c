/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpls-lookup: finds the adjacency of the outermost label. A label whose next hop is "look
 * at the next one" is taken off here; in the uniform model its TTL goes on in the next.
 */
#include "core/vector.h"
#include "fib/mpls_table.h"
#include "node/fused.h"
#include "router/adjacency.h"
#include "router/adjacency_text.h"
#include "router/interface.h"
#include "router/mpls.h"
#include "mpls_swap.h"

#include <stdio.h>

enum reason {
	NO_LABEL,
	RESERVED_LABEL,
	STACK_TRUNCATED,
};

#define LABELS_RESERVED 16

static inline uint32_t find(uint32_t entry)
{
	return mpls_table_get(entry >> MPLS_LABEL_SHIFT, (entry & MPLS_BOTTOM) != 0);
}

static __rte_noinline rte_edge_t no_label(struct rte_node *node, uint32_t entry)
{
	return node_drop_as(
		node, entry >> MPLS_LABEL_SHIFT < LABELS_RESERVED ? RESERVED_LABEL : NO_LABEL);
}

/* Each turn takes a label off, so the frame's length bounds them. */
static __rte_noinline rte_edge_t look_beneath(struct rte_node *node, struct rte_mbuf *mbuf)
{
	uint32_t entry = mpls_read(packet_l3(mbuf)), found;

	do {
		uint32_t ttl = entry & MPLS_TTL_MASK, beneath;

		packet_pop(mbuf, MPLS_LABEL_BYTES);
		if (packet_l3_bytes(mbuf) < MPLS_LABEL_BYTES)
			return node_drop_as(node, STACK_TRUNCATED);
		beneath = mpls_read(packet_l3(mbuf));
		entry = (beneath & ~MPLS_TTL_MASK) | mpls_ttl_beneath(ttl, beneath & MPLS_TTL_MASK);
		mpls_write(packet_l3(mbuf), entry);
		found = find(entry);
		if (found == MPLS_TABLE_NONE)
			return no_label(node, entry);
	} while (adjacencies[found].kind == ADJACENCY_MPLS_AGAIN);
	packet_set_adjacency(mbuf, found);
	return adjacency_kind(&adjacencies[found]);
}

static __rte_always_inline rte_edge_t lookup_other(
	struct rte_node *node, struct rte_mbuf *mbuf, uint32_t entry, uint32_t found)
{
	rte_edge_t next;

	if (unlikely(found == MPLS_TABLE_NONE))
		return no_label(node, entry);
	packet_set_adjacency(mbuf, found);
	next = adjacency_kind(&adjacencies[found]);
	return unlikely(next == ADJACENCY_MPLS_AGAIN) ? look_beneath(node, mbuf) : next;
}

static bool mpls_lookup_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	rte_edge_t differ = 0;
	uint16_t others = 0;

	for (uint16_t i = 0; i < count; i++) {
		uint8_t *l3 = packet_l3(mbufs[i]);
		uint32_t entry = mpls_read(l3), found = find(entry);
		/* MPLS_TABLE_NONE is the index of an adjacency that no label has. */
		const struct adjacency *adjacency = &adjacencies[found];
		rte_edge_t edge = interface_edge[adjacency->interface];

		if (likely(swap_usual(mbufs[i], l3, entry, adjacency, edge))) {
			nexts[i] = ADJACENCY_TX_EDGE(edge);
		} else {
			nexts[i] = lookup_other(node, mbufs[i], entry, found);
			others++;
		}
		differ |= nexts[i] ^ nexts[0];
	}
	fused_count(node, (uint16_t)(count - others));
	return differ == 0;
}

VECTOR_PROCESS(mpls_lookup)

static void mpls_lookup_trace(
	__rte_unused struct rte_node *node, const struct rte_mbuf *mbuf, char *text, size_t bytes)
{
	uint32_t entry = mpls_read(packet_l3(mbuf)), found = find(entry);
	char label[32];

	snprintf(label, sizeof(label), "label %u", entry >> MPLS_LABEL_SHIFT);
	if (found == MPLS_TABLE_NONE)
		snprintf(text, bytes, "%s: not in the table", label);
	else
		adjacency_text(label, found, text, bytes);
}

static struct node_type mpls_lookup = {
	.name = "mpls-lookup",
	.process = mpls_lookup_process,
	.trace = mpls_lookup_trace,
	.init = fused_find,
	.fused = FUSED_NODES("mpls-output"),
	.private_bytes = sizeof(struct fused),
	.nexts = {[ADJACENCY_DROP] = "drop",
		[ADJACENCY_ARP] = "ip4-arp",
		[ADJACENCY_MPLS_OUTPUT] = "mpls-output",
		[ADJACENCY_MPLS_DISPOSITION] = "mpls-disposition",
		[ADJACENCY_MPLS_IP4] = "mpls-disposition",
		[ADJACENCY_LOAD_BALANCE] = "mpls-load-balance",
		[ADJACENCY_ND] = "ip6-nd",
		/* The ports' edges come after all kinds. */
		[ADJACENCY_KINDS - 1] = "drop"},
	.reasons = {[NO_LABEL] = "no such label",
		[RESERVED_LABEL] = "reserved label",
		[STACK_TRUNCATED] = "label stack has no bottom"},
};
NODE_REGISTER(mpls_lookup)
