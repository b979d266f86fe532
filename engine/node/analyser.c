/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * analyser: takes back what the tester sent. A frame with a signature counts for its stream
 * and its place in the sequence; any other frame counts as `other`.
 */
#include "../stream/signature.h"
#include "../stream/tester.h"

#include <rte_ether.h>

static bool is_ours(const struct rte_mbuf *mbuf, uint64_t word)
{
	uint16_t id = (uint16_t)(word >> 32);

	return signature_is(word) && id < tester.nb_streams &&
	       (tester.streams[id]->rx_port < 0 || tester.streams[id]->rx_port == mbuf->port);
}

static void analyse(const struct rte_mbuf *mbuf)
{
	uint64_t word = signature_find(rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len);
	uint32_t bytes = mbuf->pkt_len + RTE_ETHER_CRC_LEN;
	struct stream *stream;

	if (unlikely(!is_ours(mbuf, word))) {
		tester.other++;
		tester.other_bytes += bytes;
		return;
	}
	stream = tester.streams[(uint16_t)(word >> 32)];
	sequence_note(&stream->sequence, (uint32_t)word);
	stream->rx_bytes += bytes;
}

static uint16_t analyser_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	(void)graph;
	(void)node;
	for (uint16_t i = 0; i < count; i++)
		analyse(objs[i]);
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, count);
	return count;
}

static struct node_type analyser = {
	.name = "analyser",
	.process = analyser_process,
};
NODE_REGISTER(analyser)
