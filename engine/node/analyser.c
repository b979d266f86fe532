/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * analyser: takes back what the tester sent. A frame with a signature counts for its stream
 * and its place in the sequence; any other frame counts as `other`.
 *
 * A latency stream's frames carry the time when they were sent, and port-rx says when it fetched
 * them.
 *
 * Frames of one stream mostly come one after the other, as they were sent: such a run is
 * noted at once.
 */
#include "../stream/latency.h"
#include "../stream/signature.h"
#include "../stream/tester.h"
#include "free.h"
#include "vector.h"

#include <rte_ether.h>

/* Frames of one port whose signatures follow each other. */
struct run {
	uint64_t word; /* the first one's signature */
	uint64_t bytes;
	uint32_t count;
	uint16_t port;
};

static bool is_ours(const struct run *run)
{
	uint16_t id = (uint16_t)(run->word >> 32);

	return signature_is(run->word) && id < tester.nb_streams &&
	       signature_is_stamped(run->word) == (tester.streams[id]->latency != NULL) &&
	       (tester.streams[id]->rx_port < 0 || tester.streams[id]->rx_port == run->port);
}

/* `mbufs` are the frames of the run. */
static void note(const struct run *run, struct rte_mbuf *const *mbufs)
{
	struct stream *stream;

	if (run->count == 0)
		return;
	if (unlikely(!is_ours(run))) {
		tester.other += run->count;
		tester.other_bytes += run->bytes;
		return;
	}
	stream = tester.streams[(uint16_t)(run->word >> 32)];
	sequence_note_run(&stream->sequence, (uint32_t)run->word, run->count);
	stream->rx_bytes += run->bytes;
	if (unlikely(stream->latency != NULL))
		latency_note(stream->latency, mbufs, run->count, port_at(run->port)->received_tsc);
}

static __rte_always_inline uint64_t read_signature(const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	unsigned length = mbuf->data_len;
	uint64_t word;

	if (unlikely(length < SIGNATURE_BYTES))
		return 0;
	word = signature_read(frame + signature_offset(length));
	return likely(signature_is(word)) ? word : signature_find(frame, length);
}

static uint16_t analyser_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	struct rte_mbuf **mbufs = (struct rte_mbuf **)objs;
	struct run run = {0};

	(void)graph;
	(void)node;
	for (uint16_t i = 0; i < count; i++) {
		uint32_t bytes = mbufs[i]->pkt_len + RTE_ETHER_CRC_LEN;
		uint64_t word;

		if (likely(i + 4 * VECTOR_AHEAD < count)) {
			rte_prefetch0(mbufs[i + 4 * VECTOR_AHEAD]);
			vector_prefetch_data(mbufs[i + 2 * VECTOR_AHEAD]);
		}
		word = read_signature(mbufs[i]);

		/* A sequence number that begins anew begins a run too: it would carry over
		 * into the stream's. */
		if (likely(word == run.word + run.count && mbufs[i]->port == run.port &&
			    (uint32_t)word != 0)) {
			run.count++;
			run.bytes += bytes;
			continue;
		}
		note(&run, mbufs + i - run.count);
		run = (struct run){word, bytes, 1, mbufs[i]->port};
	}
	note(&run, mbufs + count - run.count);
	free_mbufs(mbufs, count);
	return count;
}

static struct node_type analyser = {
	.name = "analyser",
	.process = analyser_process,
};
NODE_REGISTER(analyser)
