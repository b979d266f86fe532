/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * analyser: takes back what the tester sent. A frame with a signature counts for its stream
 * and its place in the sequence, if that number was sent in this trial; one of ours that came
 * damaged as `corrupted`; any other frame as `other`, unless its port has addresses and answers it.
 * An ICMP error that quotes one of ours to its end has its signature, and is an `other` frame.
 * A frame without a signature may be of a stream that is counted by its IP header (ip_id.h).
 *
 * A latency stream's frames carry the time when they were sent, and port-rx says when it fetched
 * them.
 *
 * Frames of one stream mostly come one after the other, as they were sent: such a run is
 * noted at once.
 */
#include "core/free.h"
#include "core/vector.h"
#include "core/worker.h"
#include "tester/frame_check.h"
#include "tester/responder.h"
#include "core/signature.h"
#include "tester/stream_rx.h"
#include "tester/tester.h"

#include <rte_ether.h>

/* Numbers so far ahead of the expected one are taken to have been sent. */
#define NUMBERS_NEAR 256

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
	uint32_t number, end;

	if (signature->stream >= tester.nb_streams)
		return false;
	stream = tester.streams[signature->stream];
	end = __atomic_load_n(&stream->next_sequence, __ATOMIC_RELAXED);
	number = signature_number(signature->sequence, end);
	return number - stream->first_sequence < end - stream->first_sequence;
}

/* Whether it is of a stream whose frames have no signature, and counted. */
static inline bool note_ip_id(struct tester_worker *worker, const struct rte_mbuf *mbuf)
{
	return unlikely(worker->counts_ip_ids) &&
	       stream_rx_note_ip_id(
		       worker, rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len, mbuf->port);
}

/* Frames with signatures that this trial did not send, or with what looks like one. */
static void note_foreign(
	struct tester_worker *worker, const struct run *run, struct rte_mbuf *const *mbufs)
{
	for (uint32_t i = 0; i < run->count; i++)
		if (!note_ip_id(worker, mbufs[i])) {
			worker->other++;
			worker->other_bytes += mbufs[i]->pkt_len + RTE_ETHER_CRC_LEN;
		}
}

/* Frames that are no test frames of ours: perhaps for the port itself. */
static void note_unknown(
	struct tester_worker *worker, const struct run *run, struct rte_mbuf *const *mbufs)
{
	struct responder *responder = responders[run->port];

	for (uint32_t i = 0; i < run->count; i++)
		if (responder == NULL || !responder_take(responder, mbufs[i])) {
			worker->other++;
			worker->other_bytes += mbufs[i]->pkt_len + RTE_ETHER_CRC_LEN;
		}
}

/* Frames whose signature is none, or damaged. */
static void note_unsigned(
	struct tester_worker *worker, const struct run *run, struct rte_mbuf *const *mbufs)
{
	struct signature signature;

	/* A frame without one begins no run: it is alone. */
	if (note_ip_id(worker, mbufs[0]))
		return;
	if (mbufs[0]->data_len >= SIGNATURE_BYTES &&
		signature_repair(run->next - SIGNATURE_FACTOR, is_sent, &signature) &&
		worker->streams[signature.stream].stream != NULL)
		worker->streams[signature.stream].corrupted++;
	else
		note_unknown(worker, run, mbufs);
}

/* Takes note of `count` numbers; returns how many had not come before. */
static __rte_always_inline uint64_t note_numbers(
	struct tester_worker *worker, struct stream_rx *rx, uint32_t number, uint32_t count)
{
	uint64_t received = rx->sequence.received, older;

	if (likely(!rx->is_spread))
		sequence_note_run(&rx->sequence, number, count);
	else {
		older = rx->sequence.older;
		sequence_spread_note_run(&rx->sequence, number, count);
		worker->older += rx->sequence.older - older;
	}
	return rx->sequence.received - received;
}

/* Frames of a stream whose checksums are to be looked at. */
static uint64_t note_checked(struct tester_worker *worker, struct stream_rx *rx, uint32_t number,
	struct rte_mbuf *const *mbufs, uint32_t count)
{
	uint64_t received = 0;

	for (uint32_t i = 0; i < count; i++)
		if (frame_checksums_hold(
			    rte_pktmbuf_mtod(mbufs[i], const uint8_t *), mbufs[i]->data_len))
			received += note_numbers(worker, rx, number + i, 1);
		else
			rx->corrupted++;
	return received;
}

/* Frames of a stream that follow each other from `number` on. */
static void note_ours(struct tester_worker *worker, struct stream_rx *rx, uint32_t number,
	const struct run *run, struct rte_mbuf *const *mbufs)
{
	uint64_t received;

	if (unlikely(rx->checks_payload))
		received = note_checked(worker, rx, number, mbufs, run->count);
	else
		received = note_numbers(worker, rx, number, run->count);
	worker->received += received;
	rx->rx_bytes += run->bytes;
	if (unlikely(rx->port != run->port))
		stream_rx_note_elsewhere(rx, run->port, received, run->bytes);
	if (unlikely(rx->latency != NULL))
		latency_note(rx->latency, mbufs, run->count, worker->received_tsc[run->port]);
}

/* The same, and between them ICMP errors on some that did not come through. */
static void note_ours_and_quotes(struct tester_worker *worker, struct stream_rx *rx,
	uint32_t number, const struct run *run, struct rte_mbuf *const *mbufs)
{
	for (uint32_t i = 0; i < run->count; i++) {
		struct run one = {.bytes = mbufs[i]->pkt_len + RTE_ETHER_CRC_LEN,
			.count = 1,
			.port = run->port};

		if (frame_is_icmp_error(
			    rte_pktmbuf_mtod(mbufs[i], const uint8_t *), mbufs[i]->data_len))
			note_unknown(worker, &one, mbufs + i);
		else
			note_ours(worker, rx, number + i, &one, mbufs + i);
	}
}

/* Whether the frame is one of the stream's, and of this trial; *number is its. */
static __rte_always_inline bool is_expected(
	struct stream_rx *rx, uint32_t sequence, uint16_t port, uint32_t *number)
{
	uint32_t trial, ahead;

	if (unlikely(rx->stream == NULL ||
		     (rx->rx_port != STREAM_RX_NO_PORT && rx->rx_port != port)))
		return false;
	trial = __atomic_load_n(&tester.order.start, __ATOMIC_ACQUIRE);
	if (unlikely(rx->trial != trial))
		stream_rx_restart(rx, trial);
	/* To ask its sender whether it was sent costs a line of another worker's. */
	ahead = (sequence - rx->sequence.next) % SIGNATURE_NUMBERS;
	*number = rx->sequence.next + ahead;
	return likely(ahead < NUMBERS_NEAR) || stream_rx_find_number(rx, sequence, number);
}

/* `mbufs` are the frames of the run. */
static void note(struct tester_worker *worker, const struct run *run, struct rte_mbuf *const *mbufs)
{
	struct signature first;
	struct stream_rx *rx;
	uint32_t number;

	if (unlikely(!signature_decode(run->next - run->count * SIGNATURE_FACTOR, &first))) {
		note_unsigned(worker, run, mbufs);
		return;
	}
	rx = &worker->streams[first.stream];
	if (unlikely(!is_expected(rx, first.sequence, run->port, &number)))
		note_foreign(worker, run, mbufs);
	else if (unlikely(run->longest > rx->longest))
		note_ours_and_quotes(worker, rx, number, run, mbufs);
	else
		note_ours(worker, rx, number, run, mbufs);
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

static __rte_always_inline uint64_t any_signature(const struct rte_mbuf *mbuf)
{
	return find_signature(mbuf, read_signature(mbuf));
}

static int analyser_init(struct node_state *state, struct rte_node *node)
{
	node_context(node)->object = tester.workers[state->worker->tester_index];
	return 0;
}

static __rte_always_inline void fetch_ahead(
	struct rte_mbuf *const *mbufs, uint16_t i, uint16_t count, unsigned at)
{
	if (likely(i + 4 * VECTOR_AHEAD < count)) {
		rte_prefetch0(mbufs[i + 4 * VECTOR_AHEAD]);
		rte_prefetch0(RTE_PTR_ADD(mbufs[i + 2 * VECTOR_AHEAD]->buf_addr, at));
	}
}

static __rte_always_inline uint64_t lengths_of(const struct rte_mbuf *mbuf)
{
	return (uint64_t)mbuf->pkt_len << 16 | mbuf->data_len;
}

/*
 * How many of `count` frames, of which the first one begins the run, are as that one is (where
 * they stand, of what length, of which port) and continue it: nearly all of them in most trials,
 * so a frame costs here what its bytes cost, and no more. Others may continue it as well.
 */
static __rte_always_inline uint16_t count_alike(
	struct rte_mbuf *const *mbufs, uint16_t count, uint64_t next)
{
	uint64_t rearm = free_rearm(mbufs[0]), lengths = lengths_of(mbufs[0]);
	unsigned at = mbufs[0]->data_off + signature_offset(mbufs[0]->data_len);
	uint16_t i = 1;

	for (; i < count; i++, next += SIGNATURE_FACTOR) {
		fetch_ahead(mbufs, i, count, at);
		if (unlikely(((free_rearm(mbufs[i]) ^ rearm) | (lengths_of(mbufs[i]) ^ lengths)) !=
			     0))
			break;
		if (unlikely(signature_read(RTE_PTR_ADD(mbufs[i]->buf_addr, at)) != next))
			break;
	}
	return i;
}

/* Adds to the run the frames that continue it; returns the signature of the one that does not. */
static __rte_always_inline uint64_t extend_run(
	struct run *run, struct rte_mbuf *const *mbufs, uint16_t count)
{
	for (; run->count < count; run->count++) {
		const struct rte_mbuf *mbuf = mbufs[run->count];
		uint32_t bytes = mbuf->pkt_len + RTE_ETHER_CRC_LEN;
		uint64_t word = read_signature(mbuf);

		if (unlikely(word != run->next))
			word = find_signature(mbuf, word);
		if (word != run->next || mbuf->port != run->port)
			return word;
		fetch_ahead(mbufs, (uint16_t)run->count, count, mbuf->data_off);
		run->next += SIGNATURE_FACTOR;
		run->bytes += bytes;
		run->longest = RTE_MAX(run->longest, bytes);
	}
	return 0;
}

/* The run that a frame with the signature *word begins; then that of the frame behind the run. */
static __rte_always_inline struct run take_run(
	struct rte_mbuf *const *mbufs, uint16_t count, uint64_t *word)
{
	uint32_t bytes = mbufs[0]->pkt_len + RTE_ETHER_CRC_LEN;
	uint64_t first = *word;
	struct run run = {first + SIGNATURE_FACTOR, bytes, bytes, 1, mbufs[0]->port};

	fetch_ahead(mbufs, 0, count, mbufs[0]->data_off + signature_offset(mbufs[0]->data_len));
	*word = count > 1 ? any_signature(mbufs[1]) : 0;
	/* Where streams take turns a run is one frame; and what has no signature begins none. */
	if (count == 1 || *word != run.next || mbufs[1]->port != run.port || !signature_is(first))
		return run;
	run.count = count_alike(mbufs, count, run.next);
	run.bytes = (uint64_t)run.count * bytes;
	run.next = first + run.count * SIGNATURE_FACTOR;
	*word = extend_run(&run, mbufs, count);
	return run;
}

static uint16_t analyser_process(
	__rte_unused struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	struct tester_worker *worker = node_object(node);
	struct rte_mbuf **mbufs = (struct rte_mbuf **)objs;
	uint64_t word = count > 0 ? any_signature(mbufs[0]) : 0;

	for (uint16_t i = 0; i < count;) {
		struct run run = take_run(mbufs + i, count - i, &word);

		note(worker, &run, mbufs + i);
		i += (uint16_t)run.count;
	}
	free_mbufs(mbufs, count);
	return count;
}

static struct node_type analyser = {
	.name = "analyser",
	.process = analyser_process,
	.init = analyser_init,
};
NODE_REGISTER(analyser)
