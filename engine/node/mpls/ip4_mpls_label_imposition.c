/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-mpls-label-imposition: TTL down by one, the adjacency's labels before the IPv4 packet,
 * and the neighbour's Ethernet header; class and TTL of the labels as router/mpls.h says. Most
 * packets go straight to their port. The MTU is of labels and packet together (RFC 3032 3.2): what
 * is longer comes back in pieces from ip4-frag.
 */
#include "core/vector.h"
#include "core/worker.h"
#include "node/ip4/ip4_rewrite.h"
#include "router/mpls.h"

#include <errno.h>
#include <netinet/ip_icmp.h>

enum next {
	NEXT_DROP,
	NEXT_OUTPUT,
	NEXT_ERROR,
	NEXT_FRAGMENT,
	NEXT_LAST = ADJACENCY_KINDS - 1, /* the ports' edges come after that in all such nodes */
};

enum reason {
	TTL_EXPIRED,
	MTU_DONT_FRAGMENT,
	NO_HEADROOM,
};

struct ip4_mpls_label_imposition {
	struct node_stats *output; /* its packets that were done here */
};

static __rte_noinline rte_edge_t not_forwarded(
	struct rte_node *node, struct rte_mbuf *mbuf, const struct adjacency *adjacency)
{
	const struct rte_ipv4_hdr *ip = packet_ip4(mbuf);
	uint16_t mtu = (uint16_t)(adjacency->mtu - adjacency->nb_labels * MPLS_LABEL_BYTES);
	uint64_t *drops = node_state(node)->drops;

	if (ip->time_to_live <= 1) {
		drops[TTL_EXPIRED]++;
		packet_set_error(mbuf, ICMP_TIMXCEED, ICMP_TIMXCEED_INTRANS, 0);
		return NEXT_ERROR;
	}
	if (packet_l3_bytes(mbuf) <= mtu) {
		drops[NO_HEADROOM]++;
		return NEXT_DROP;
	}
	if (ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_DF_FLAG)) {
		drops[MTU_DONT_FRAGMENT]++;
		packet_set_error(mbuf, ICMP_UNREACH, ICMP_UNREACH_NEEDFRAG, mtu);
		return NEXT_ERROR;
	}
	return NEXT_FRAGMENT;
}

static __rte_always_inline rte_edge_t impose(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct adjacency *adjacency = &adjacencies[packet_adjacency(mbuf)];
	uint8_t *ip = packet_l3(mbuf);
	uint16_t bytes = (uint16_t)(adjacency->nb_labels * MPLS_LABEL_BYTES);
	rte_edge_t edge = interface_edge[adjacency->interface];
	uint32_t word, class_and_ttl;

	if (unlikely((ip[offsetof(struct rte_ipv4_hdr, time_to_live)] <= 1) |
		     (mbuf->data_len + bytes > adjacency->mtu + RTE_ETHER_HDR_LEN) |
		     (mbuf->data_off < bytes + 2)))
		return not_forwarded(node, mbuf, adjacency);
	memcpy(&word, ip + offsetof(struct rte_ipv4_hdr, time_to_live), sizeof(word));
	word = ttl_word_decremented(word);
	memcpy(ip + offsetof(struct rte_ipv4_hdr, time_to_live), &word, sizeof(word));
	class_and_ttl = mpls_imposed(ip[offsetof(struct rte_ipv4_hdr, type_of_service)] >> 5,
		ip[offsetof(struct rte_ipv4_hdr, time_to_live)]);
	for (unsigned i = 0; i < adjacency->nb_labels; i++)
		mpls_write(ip - bytes + (size_t)i * MPLS_LABEL_BYTES,
			adjacency->labels[i] | class_and_ttl);
	adjacency_rewrite(adjacency, ip - bytes - RTE_ETHER_HDR_LEN);
	mbuf->data_off -= bytes;
	mbuf->data_len += bytes;
	mbuf->pkt_len += bytes;
	if (likely(edge != INTERFACE_EDGE_DOWN))
		return ADJACENCY_TX_EDGE(edge);
	mbuf->port = adjacency->interface;
	return NEXT_OUTPUT;
}

static bool ip4_mpls_label_imposition_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	const struct ip4_mpls_label_imposition *own = node_private(node);
	rte_edge_t differ = 0;
	uint16_t usual = 0;

	for (uint16_t i = 0; i < count; i++) {
		nexts[i] = impose(node, mbufs[i]);
		differ |= nexts[i] ^ nexts[0];
		usual += nexts[i] > NEXT_LAST;
	}
	own->output->fused_calls++;
	own->output->fused_vectors += usual;
	return differ == 0;
}

VECTOR_PROCESS(ip4_mpls_label_imposition)

static int ip4_mpls_label_imposition_init(struct node_state *state, struct rte_node *node)
{
	struct ip4_mpls_label_imposition *own = node_private(node);

	own->output = worker_node_stats(state->worker, "interface-output");
	return own->output == NULL ? -ENOENT : 0;
}

static struct node_type ip4_mpls_label_imposition = {
	.name = "ip4-mpls-label-imposition",
	.process = ip4_mpls_label_imposition_process,
	.init = ip4_mpls_label_imposition_init,
	.private_bytes = sizeof(struct ip4_mpls_label_imposition),
	.nexts = {[NEXT_DROP] = "drop",
		[NEXT_OUTPUT] = "interface-output",
		[NEXT_ERROR] = "icmp4-error",
		[NEXT_FRAGMENT... NEXT_LAST] = "ip4-frag"},
	.reasons = {[TTL_EXPIRED] = "ttl expired",
		[MTU_DONT_FRAGMENT] = "mtu exceeded, don't fragment set",
		[NO_HEADROOM] = "no headroom in the buffer"},
};
NODE_REGISTER(ip4_mpls_label_imposition)
