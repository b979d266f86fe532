/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpls-load-balance: one of the label's paths for each packet, the same for all of a flow. The
 * flow is the entropy label's (RFC 6790) if there is one, else that of the IP packet beneath
 * the labels, else the labels without the special-purpose ones (RFC 6790 4.3): what begins
 * like neither IPv4 nor IPv6 is something else, in which nothing is read (RFC 4928).
 */
#include "core/path_hash.h"
#include "core/vector.h"
#include "node/fused.h"
#include "router/load_balance.h"
#include "mpls_swap.h"

#define LABEL_ENTROPY_INDICATOR 7
#define LABELS_SPECIAL 16

/* Hash of the packet beneath the labels; `labels` is the labels' hash. */
static __rte_always_inline uint32_t hash_beneath(
	const uint8_t *payload, uint32_t bytes, uint32_t labels)
{
	if (likely(bytes >= IP4_HEADER_BYTES && payload[0] >> 4 == 4))
		return flow_hash_ip4(payload, bytes);
	if (bytes >= FLOW_HASH_IP6_BYTES && payload[0] >> 4 == 6)
		return flow_hash_ip6(payload, bytes);
	return flow_hash_finish(labels);
}

/* `bytes` of labels and what is beneath them, one label at least. */
static __rte_always_inline uint32_t flow_hash_mpls(const uint8_t *l3, uint32_t bytes)
{
	uint32_t hash = FLOW_HASH_SEED, entry, label;
	bool entropy = false;

	do {
		if (unlikely(bytes < MPLS_LABEL_BYTES))
			return flow_hash_finish(hash);
		entry = mpls_read(l3);
		label = entry >> MPLS_LABEL_SHIFT;
		if (unlikely(entropy))
			return flow_hash_finish(flow_hash_word(FLOW_HASH_SEED, label));
		entropy = label == LABEL_ENTROPY_INDICATOR;
		if (likely(label >= LABELS_SPECIAL))
			hash = flow_hash_word(hash, label);
		l3 += MPLS_LABEL_BYTES;
		bytes -= MPLS_LABEL_BYTES;
	} while (!(entry & MPLS_BOTTOM));
	return hash_beneath(l3, bytes, hash);
}

/* Returns how many got the usual swap. */
static uint16_t balance(
	struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count, rte_edge_t *differ)
{
	uint16_t usual = 0;

	for (uint16_t i = 0; i < count; i++) {
		uint8_t *l3 = packet_l3(mbufs[i]);
		uint32_t found = load_balance_choose(&adjacencies[packet_adjacency(mbufs[i])],
			flow_hash_mpls(l3, packet_l3_bytes(mbufs[i])));
		const struct adjacency *adjacency = &adjacencies[found];
		rte_edge_t edge = interface_edge[adjacency->interface];

		if (likely(swap_usual(mbufs[i], l3, mpls_read(l3), adjacency, edge))) {
			nexts[i] = ADJACENCY_TX_EDGE(edge);
			usual++;
		} else {
			packet_set_adjacency(mbufs[i], found);
			nexts[i] = adjacency_kind(adjacency);
		}
		*differ |= nexts[i] ^ nexts[0];
	}
	return usual;
}

static bool mpls_load_balance_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	rte_edge_t differ = 0;

	fused_count(node, balance(mbufs, nexts, count, &differ));
	return differ == 0;
}

VECTOR_PROCESS_PARTED(mpls_load_balance)

static struct node_type mpls_load_balance = {
	.name = "mpls-load-balance",
	.process = mpls_load_balance_process,
	.init = fused_find,
	.fused = FUSED_NODES("mpls-output"),
	.private_bytes = sizeof(struct fused),
	/* A path is to a neighbour: it is none of the kinds that go to "drop" here. */
	.nexts = {[ADJACENCY_DROP] = "drop",
		[ADJACENCY_ARP] = "ip4-arp",
		[ADJACENCY_MPLS_OUTPUT] = "mpls-output",
		[ADJACENCY_MPLS_DISPOSITION] = "mpls-disposition",
		[ADJACENCY_ND] = "ip6-nd",
		/* The ports' edges come after all kinds. */
		[ADJACENCY_KINDS - 1] = "drop"},
};
NODE_REGISTER(mpls_load_balance)
