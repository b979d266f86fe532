/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-frag: cuts a packet that is longer than the MTU of its way out into fragments that are
 * not (RFC 791 3.2, RFC 1812 5.2.6), each in a buffer of its own. The packet is consumed, each
 * fragment originated. Who sent it here has looked at the TTL and at don't fragment. Fragments
 * that are to get labels, for which they leave room, get them and their lower TTL after this.
 *
 * rte_ip_frag does the cutting: of the options, those with the copied flag are in every
 * fragment, the others in the first (RFC 791 3.1). All pieces are as large as the first.
 */
#include "core/frame.h"
#include "core/node.h"
#include "router/adjacency.h"
#include "router/interface.h"
#include "router/packet.h"

#include <rte_ip_frag.h>

enum next {
	NEXT_DROP,
	NEXT_OUTPUT,
	NEXT_IMPOSITION,
};

enum reason {
	FRAGMENTED,
	BEYOND_DATAGRAM,
	NO_BUFFERS,
};

/* Offsets count in these. */
#define UNIT_BYTES 8
#define DATAGRAM_BYTES_MAX 65535
/* A jumbo frame in pieces of UNIT_BYTES. */
#define FRAGMENTS_MAX (FRAME_BYTES_MAX / UNIT_BYTES)

/* Where in the whole datagram the packet ends. */
static uint32_t end_in_datagram(const struct rte_mbuf *mbuf)
{
	const struct rte_ipv4_hdr *ip = packet_ip4(mbuf);
	uint16_t offset = rte_be_to_cpu_16(ip->fragment_offset) & RTE_IPV4_HDR_OFFSET_MASK;

	return (uint32_t)offset * UNIT_BYTES + packet_l3_bytes(mbuf) - rte_ipv4_hdr_len(ip);
}

/* The library's fragments start with their IPv4 header, and have no checksum. */
static void finish(struct rte_mbuf *mbuf, uint32_t index, bool labels)
{
	const struct adjacency *adjacency = &adjacencies[index];
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod(mbuf, struct rte_ipv4_hdr *);

	ip->hdr_checksum = 0;
	ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, rte_ipv4_hdr_len(ip));
	(void)rte_pktmbuf_prepend(mbuf, RTE_ETHER_HDR_LEN);
	packet_set_adjacency(mbuf, index);
	if (labels)
		return;
	adjacency_rewrite(adjacency, rte_pktmbuf_mtod(mbuf, uint8_t *));
	mbuf->port = adjacency->interface;
}

static enum reason fragment(struct rte_graph *graph, struct rte_node *node, struct rte_mbuf *mbuf)
{
	const struct adjacency *adjacency = &adjacencies[packet_adjacency(mbuf)];
	bool labels = adjacency->resolved == ADJACENCY_MPLS_IMPOSITION;
	uint16_t mtu = adjacency->mtu;
	struct rte_mbuf *fragments[FRAGMENTS_MAX];
	int count;

	if (end_in_datagram(mbuf) > DATAGRAM_BYTES_MAX)
		return BEYOND_DATAGRAM;
	if (labels)
		mtu -= adjacency->nb_labels * MPLS_LABEL_BYTES;
	else
		packet_ip4(mbuf)->time_to_live--;
	(void)rte_pktmbuf_adj(mbuf, RTE_ETHER_HDR_LEN);
	count = rte_ipv4_fragment_copy_nonseg_packet(
		mbuf, fragments, FRAGMENTS_MAX, mtu, interfaces[adjacency->interface].port->pool);
	if (count < 0)
		return NO_BUFFERS;
	for (int i = 0; i < count; i++)
		finish(fragments[i], packet_adjacency(mbuf), labels);
	node_state(node)->originated += (uint64_t)count;
	rte_node_enqueue(graph, node, labels ? NEXT_IMPOSITION : NEXT_OUTPUT, (void **)fragments,
		(uint16_t)count);
	return FRAGMENTED;
}

static uint16_t ip4_frag_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++)
		node_drop(graph, node, objs[i], fragment(graph, node, objs[i]));
	return count;
}

static struct node_type ip4_frag = {
	.name = "ip4-frag",
	.process = ip4_frag_process,
	.nexts = {[NEXT_DROP] = "drop",
		[NEXT_OUTPUT] = "interface-output",
		[NEXT_IMPOSITION] = "ip4-mpls-label-imposition"},
	.reasons = {[FRAGMENTED] = "fragmented",
		[BEYOND_DATAGRAM] = "fragment beyond 65535 bytes",
		[NO_BUFFERS] = "no buffers for the fragments"},
	.consumed = 1u << FRAGMENTED,
};
NODE_REGISTER(ip4_frag)
