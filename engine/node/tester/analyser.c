/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * analyser: takes back what the tester sent. A frame with a signature counts for its stream
 * and its place in the sequence, if that number was sent in this trial; one of ours that came
 * damaged as `corrupted`; any other frame as `other`, unless its port has addresses and answers it.
 * An ICMP error that quotes one of ours to its end has its signature, and is an `other` frame.
 *
 * A latency stream's frames carry the time when they were sent, and port-rx says when it fetched
 * them.
 *
 * Frames of one stream mostly come one after the other, as they were sent: such a run is
 * noted at once.
 */
#include "core/free.h"
#include "core/vector.h"
#include "tester/frame_check.h"
#include "tester/latency.h"
#include "tester/responder.h"
#include "tester/signature.h"
#include "tester/tester.h"

#include <rte_ether.h>

/* Frames of one port whose signatures follow each other. */
struct run {
	uint64_t next; /* signature that would continue it */
	uint64_t bytes;
	uint32_t longest; /* bytes of its longest frame */
	uint32_t count;
	uint16_t port;
};

/* Whether this trial sent such a frame. */
static bool is_sent(const struct signature *signature)
{
	const struct stream *stream;

	if (signature->stream >= tester.nb_streams)
		return false;
	stream = tester.streams[signature->stream];
	return signature->stamped == stream->stamped &&
	       signature->sequence - stream->sequence.first <
		       stream->next_sequence - stream->sequence.first;
}

static void note_foreign(const struct run *run)
{
	tester.other += run->count;
	tester.other_bytes += run->bytes;
}

/* Frames that are no test frames of ours: perhaps for the port itself. */
static void note_unknown(const struct run *run, struct rte_mbuf *const *mbufs)
{
	struct responder *responder = responders[run->port];

	for (uint32_t i = 0; i < run->count; i++)
		if (responder == NULL || !responder_take(responder, mbufs[i])) {
			tester.other++;
			tester.other_bytes += mbufs[i]->pkt_len + RTE_ETHER_CRC_LEN;
		}
}

/* Frames whose signature is none, or damaged. */
static void note_unsigned(const struct run *run, struct rte_mbuf *const *mbufs)
{
	struct signature signature;

	if (mbufs[0]->data_len >= SIGNATURE_BYTES &&
		signature_repair(run->next - SIGNATURE_FACTOR, is_sent, &signature))
		tester.streams[signature.stream]->corrupted++;
	else
		note_unknown(run, mbufs);
}

/* Frames of a stream whose checksums are to be looked at. */
static void note_checked(
	struct stream *stream, uint32_t number, struct rte_mbuf *const *mbufs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (frame_checksums_hold(
			    rte_pktmbuf_mtod(mbufs[i], const uint8_t *), mbufs[i]->data_len))
			sequence_note(&stream->sequence, number + i);
		else
			stream->corrupted++;
}

/* Frames of a stream that follow each other from `number` on. */
static void note_ours(struct stream *stream, uint32_t number, const struct run *run,
	struct rte_mbuf *const *mbufs)
{
	uint64_t before = stream->sequence.received;

	if (unlikely(stream->check_payload))
		note_checked(stream, number, mbufs, run->count);
	else
		sequence_note_run(&stream->sequence, number, run->count);
	tester.received += stream->sequence.received - before;
	stream->rx_bytes += run->bytes;
	if (unlikely(stream->latency != NULL))
		latency_note(stream->latency, mbufs, run->count, port_at(run->port)->received_tsc);
}

/* Whether some may be longer than they were sent, as a message is that quotes one. */
static bool may_quote(const struct stream *stream, const struct run *run)
{
	return run->longest > stream->frame_bytes || stream->mean_bytes < stream->frame_bytes;
}

/* The same, and between them ICMP errors on some that did not come through. */
static void note_ours_and_quotes(struct stream *stream, uint32_t number, const struct run *run,
	struct rte_mbuf *const *mbufs)
{
	for (uint32_t i = 0; i < run->count; i++) {
		struct run one = {.bytes = mbufs[i]->pkt_len + RTE_ETHER_CRC_LEN,
			.count = 1,
			.port = run->port};

		if (frame_is_icmp_error(
			    rte_pktmbuf_mtod(mbufs[i], const uint8_t *), mbufs[i]->data_len))
			note_unknown(&one, mbufs + i);
		else
			note_ours(stream, number + i, &one, mbufs + i);
	}
}

/* `mbufs` are the frames of the run. */
static void note(const struct run *run, struct rte_mbuf *const *mbufs)
{
	struct signature first;
	struct stream *stream;

	if (run->count == 0)
		return;
	if (unlikely(!signature_decode(run->next - run->count * SIGNATURE_FACTOR, &first))) {
		note_unsigned(run, mbufs);
		return;
	}
	if (unlikely(!is_sent(&first))) {
		note_foreign(run);
		return;
	}
	stream = tester.streams[first.stream];
	if (unlikely(stream->rx_port >= 0 && stream->rx_port != run->port)) {
		note_foreign(run);
		return;
	}
	if (unlikely(may_quote(stream, run)))
		note_ours_and_quotes(stream, first.sequence, run, mbufs);
	else
		note_ours(stream, first.sequence, run, mbufs);
}

static __rte_always_inline uint64_t read_signature(const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	unsigned length = mbuf->data_len;

	if (unlikely(length < SIGNATURE_BYTES))
		return 0;
	return signature_read(frame + signature_offset(length));
}

/* At the end of a frame that the wire padded, or else what stands at its very end. */
static uint64_t find_signature(const struct rte_mbuf *mbuf, uint64_t word)
{
	uint64_t found;

	if (signature_is(word))
		return word;
	found = signature_find(rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len);
	return found != 0 ? found : word;
}

static uint16_t analyser_process(__rte_unused struct rte_graph *graph,
	__rte_unused struct rte_node *node, void **objs, uint16_t count)
{
	struct rte_mbuf **mbufs = (struct rte_mbuf **)objs;
	struct run run = {0};

	for (uint16_t i = 0; i < count; i++) {
		uint32_t bytes = mbufs[i]->pkt_len + RTE_ETHER_CRC_LEN;
		uint64_t word;

		if (likely(i + 4 * VECTOR_AHEAD < count)) {
			rte_prefetch0(mbufs[i + 4 * VECTOR_AHEAD]);
			vector_prefetch_data(mbufs[i + 2 * VECTOR_AHEAD]);
		}
		word = read_signature(mbufs[i]);
		if (unlikely(word != run.next))
			word = find_signature(mbufs[i], word);
		if (likely(word == run.next && mbufs[i]->port == run.port)) {
			run.next += SIGNATURE_FACTOR;
			run.count++;
			run.bytes += bytes;
			run.longest = RTE_MAX(run.longest, bytes);
			continue;
		}
		note(&run, mbufs + i - run.count);
		run = (struct run){word + SIGNATURE_FACTOR, bytes, bytes, 1, mbufs[i]->port};
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
