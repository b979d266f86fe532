/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers' side of captures: what matches is copied into the worker's own ring. */
#include "capture_tap.h"

#include "capture.h"
#include "core/node.h"

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>
#include <string.h>

/* Frames of one vector that were written into a ring and are not handed over yet. */
struct pending {
	struct rte_ring_zc_data space;
	uint16_t matched, written;
	uint16_t indices[NODE_VECTOR_MAX]; /* of those that matched */
};

static unsigned this_worker(void)
{
	unsigned lcore = rte_lcore_id();

	for (unsigned i = 0; i < workers_count(); i++)
		if (worker_at(i)->lcore == lcore)
			return i;
	return 0;
}

static bool is_done(const struct capture *capture)
{
	return capture->limit != 0 &&
	       __atomic_load_n(&capture->taken, __ATOMIC_RELAXED) >= capture->limit;
}

static void write_record(struct capture_record *record, const struct capture *capture,
	const struct rte_mbuf *mbuf, uint64_t tsc, bool sent)
{
	uint32_t captured = RTE_MIN(mbuf->pkt_len, (uint32_t)capture->snap);
	const void *bytes = rte_pktmbuf_read(mbuf, 0, captured, record->bytes);

	record->tsc = tsc;
	record->length = mbuf->pkt_len;
	record->captured = (uint16_t)captured;
	record->sent = sent;
	/* A frame of one segment is read where it is. */
	if (bytes != record->bytes)
		memcpy(record->bytes, bytes, captured);
}

static struct capture_record *record_at(
	const struct rte_ring_zc_data *space, const struct capture *capture, unsigned index)
{
	if (index < space->n1)
		return RTE_PTR_ADD(space->ptr1, (size_t)index * capture->record_bytes);
	return RTE_PTR_ADD(space->ptr2, (size_t)(index - space->n1) * capture->record_bytes);
}

/* Writes copies of what matches; capture_publish() follows. */
static void capture_write(struct capture *capture, struct capture_lane *lane,
	struct rte_mbuf *const *mbufs, uint16_t count, bool sent, struct pending *pending)
{
	uint64_t tsc = rte_rdtsc();
	unsigned room;

	pending->matched = pending->written = 0;
	for (uint16_t i = 0; i < count; i++)
		if (capture_filter_matches(&capture->filter, mbufs[i]))
			pending->indices[pending->matched++] = i;
	if (pending->matched == 0)
		return;
	room = rte_ring_enqueue_zc_burst_elem_start(
		lane->ring, capture->record_bytes, pending->matched, &pending->space, NULL);
	pending->written = (uint16_t)RTE_MIN(room, (unsigned)pending->matched);
	for (uint16_t i = 0; i < pending->written; i++)
		write_record(record_at(&pending->space, capture, i), capture,
			mbufs[pending->indices[i]], tsc, sent);
}

/* The number of frames, of `count`, up to the limit. */
static uint16_t within_limit(struct capture *capture, uint16_t count)
{
	uint64_t before;

	if (capture->limit == 0)
		return count;
	before = __atomic_fetch_add(&capture->taken, count, __ATOMIC_RELAXED);
	return before >= capture->limit
		       ? 0
		       : (uint16_t)RTE_MIN((uint64_t)count, capture->limit - before);
}

/* Hands over what was written of the vector's first `count` frames, which may be the port's by now:
 * only the copies are read. */
static void capture_publish(struct capture *capture, struct capture_lane *lane, uint16_t count,
	const struct pending *pending)
{
	uint16_t matched = 0, written, taken;

	while (matched < pending->matched && pending->indices[matched] < count)
		matched++;
	written = RTE_MIN(matched, pending->written);
	taken = within_limit(capture, written);
	for (uint16_t i = 0; i < taken; i++)
		lane->bytes += record_at(&pending->space, capture, i)->length;
	if (pending->written > 0)
		rte_ring_enqueue_zc_elem_finish(lane->ring, taken);
	lane->captured += taken;
	/* Those behind the last frame that was asked for are of no interest. */
	if (taken == written)
		lane->missed += (uint16_t)(matched - written);
	lane->matched = lane->captured + lane->missed;
}

void capture_received(
	const struct capture_taps *taps, struct rte_mbuf *const *mbufs, uint16_t count)
{
	unsigned worker = this_worker();
	struct pending pending;

	for (unsigned i = 0; i < taps->nb_rx; i++) {
		struct capture_lane *lane = &taps->rx[i]->lanes[worker];

		if (lane->ring == NULL || is_done(taps->rx[i]))
			continue;
		capture_write(taps->rx[i], lane, mbufs, count, false, &pending);
		if (pending.matched > 0)
			capture_publish(taps->rx[i], lane, count, &pending);
	}
}

/* Copied before the port has them, since they are its own then, and handed over as far as it took
 * them. */
static uint16_t send_vector(const struct capture_taps *taps, const struct port_queue *queue,
	struct rte_mbuf **mbufs, uint16_t count)
{
	unsigned worker = this_worker();
	struct pending pending[CAPTURES_MAX];
	uint16_t sent;

	for (unsigned i = 0; i < taps->nb_tx; i++) {
		struct capture_lane *lane = &taps->tx[i]->lanes[worker];

		pending[i].matched = pending[i].written = 0;
		if (lane->ring != NULL && !is_done(taps->tx[i]))
			capture_write(taps->tx[i], lane, mbufs, count, true, &pending[i]);
	}
	sent = queue->tx_burst(queue->tx, mbufs, count);
	for (unsigned i = 0; i < taps->nb_tx; i++)
		if (pending[i].matched > 0)
			capture_publish(
				taps->tx[i], &taps->tx[i]->lanes[worker], sent, &pending[i]);
	return sent;
}

uint16_t capture_sent(const struct capture_taps *taps, const struct port_queue *queue,
	struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t sent = 0;

	while (sent < count) {
		uint16_t some = RTE_MIN((uint16_t)(count - sent), (uint16_t)NODE_VECTOR_MAX);
		uint16_t taken = send_vector(taps, queue, mbufs + sent, some);

		sent += taken;
		if (taken < some)
			break;
	}
	return sent;
}
