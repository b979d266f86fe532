/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `wire`: the tester's end of a virtual card's link. The card has no core of its
 * own: its work (pacing, RSS, copying, dropping) is done here, by the worker that polls
 * the wire, so that the DUT's workers spend only what a real card's driver would.
 */
#include "core/ledger.h"
#include "core/memory.h"
#include "port/fresh.h"
#include "port/port.h"
#include "cards.h"
#include "copy.h"
#include "deliver.h"

#include <errno.h>
#include <rte_cycles.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Preamble, start delimiter and gap: IEEE 802.3-2018, 4.4.2. */
#define L1_OVERHEAD_BYTES 20
#define FRAME_MIN_BYTES (RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN)

struct wire_end {
	struct card *card;
	struct card_port *port;
	struct rte_mempool *pool;
	uint64_t rearm;
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
};

static inline unsigned l1_bytes(unsigned length)
{
	return RTE_MAX(length, (unsigned)FRAME_MIN_BYTES) + RTE_ETHER_CRC_LEN + L1_OVERHEAD_BYTES;
}

/* Number of frames that the link has carried by `now`. */
static uint16_t link_admits(struct pacer *link, struct rte_mbuf **mbufs, uint16_t count, double now)
{
	uint16_t i;

	if (link->clocks_per_unit == 0)
		return count;
	for (i = 0; i < count && pacer_has_room(link, now); i++)
		pacer_take(link, l1_bytes(mbufs[i]->data_len));
	return i;
}

/* True when one of the card's own limits, not the DUT, drops the frame. */
static bool card_refuses(struct card_port *port, const struct rte_mbuf *mbuf, double now)
{
	struct card *card = port->card;
	struct pacer *up = &card->pcie.up;
	unsigned length = mbuf->data_len;

	if (!card_frame_fits(card, rte_pktmbuf_mtod(mbuf, const uint8_t *), length)) {
		port->rx_drops[CARD_RX_OVERSIZE]++;
		return true;
	}
	if (card->pps_in.clocks_per_unit != 0) {
		pacer_idle_until(&card->pps_in, now);
		if (!pacer_has_room(&card->pps_in, now)) {
			port->rx_drops[CARD_RX_PPS]++;
			return true;
		}
	}
	if (up->clocks_per_unit != 0) {
		pacer_idle_until(up, now);
		if (!pacer_has_room(up, now)) {
			port->rx_drops[CARD_RX_PCIE]++;
			return true;
		}
		pacer_take(up, card_pcie_up_bytes(&card->pcie, length));
	}
	pacer_take(&card->pps_in, 1);
	return false;
}

static bool card_has_limits(const struct card *card)
{
	return card->pps_in.clocks_per_unit != 0 || card->pcie.up.clocks_per_unit != 0;
}

/* Drops the admitted frames that the card refuses; returns the number of the others. */
static __rte_noinline uint16_t card_takes(struct card_port *port, struct rte_mbuf **mbufs,
	uint16_t count, struct rte_mbuf **taken, double now)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++) {
		taken[kept] = mbufs[i];
		kept += !card_refuses(port, mbufs[i], now);
	}
	return kept;
}

/* Frames from the tester into the card. */
static uint16_t wire_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct wire_end *end = queue;
	struct card_port *port = end->port;
	struct card *card = port->card;
	double now = (double)card_clock(card);
	struct rte_mbuf *taken[256], **kept = mbufs;
	uint16_t admitted, nb_kept;
	unsigned longest = 0;
	uint64_t bytes;

	count = RTE_MIN(count, (uint16_t)RTE_DIM(taken));
	pacer_idle_until(&port->link_in, now - card->tsc_hz / 1e6 * CARD_CREDIT_US);
	nb_kept = admitted = link_admits(&port->link_in, mbufs, count, now);
	if (admitted == 0)
		return 0;
	bytes = (uint64_t)admitted * RTE_ETHER_CRC_LEN;
	for (uint16_t i = 0; i < admitted; i++) {
		bytes += mbufs[i]->data_len;
		longest = RTE_MAX(longest, (unsigned)mbufs[i]->data_len);
	}
	port->rx_packets += admitted;
	port->rx_bytes += bytes;
	end->tx_packets += admitted;
	end->tx_bytes += bytes;
	if (unlikely(
		    card_has_limits(card) || longest + RTE_ETHER_CRC_LEN > card->max_frame_bytes)) {
		nb_kept = card_takes(port, mbufs, admitted, taken, now);
		kept = taken;
	}
	card_deliver(port, kept, nb_kept);
	/* Copied or dropped: in both cases the tester's buffers are free again. */
	rte_mempool_put_bulk(mbufs[0]->pool, (void **)mbufs, admitted);
	return admitted;
}

/* Number of queued frames that the card's links let out by `now`. */
static uint32_t tx_admits(
	struct card_port *port, const struct card_queue *queue, uint32_t count, double now)
{
	struct card *card = port->card;
	uint32_t i;

	if (port->link_out.clocks_per_unit == 0 && card->pps_out.clocks_per_unit == 0 &&
		card->pcie.down.clocks_per_unit == 0)
		return count;
	for (i = 0; i < count; i++) {
		uint64_t descriptor =
			queue->tx->to_card[(queue->tx_returned + i) & queue->tx->mask];
		unsigned length = CARD_TX_LENGTH(descriptor);

		if (!pacer_has_room(&port->link_out, now) || !pacer_has_room(&card->pps_out, now) ||
			!pacer_has_room(&card->pcie.down, now))
			break;
		pacer_take(&port->link_out, l1_bytes(length));
		pacer_take(&card->pps_out, 1);
		if (card->pcie.down.clocks_per_unit != 0)
			pacer_take(&card->pcie.down, card_pcie_down_bytes(&card->pcie, length));
	}
	return i;
}

/* Returns the frame's length on the wire. */
static __rte_always_inline uint16_t receive_one(
	uint64_t rearm, struct rte_mbuf *mbuf, const void *from, uint16_t length)
{
	uint8_t *to = fresh_data(mbuf);

	copy_frame(to, from, length);
	if (unlikely(length < FRAME_MIN_BYTES)) {
		/* Short frames are padded on the wire. */
		memset(to + length, 0, FRAME_MIN_BYTES - length);
		length = FRAME_MIN_BYTES;
	}
	fresh_mbuf(mbuf, rearm, 0, length, 0);
	return length;
}

/* Frames copied out of a tx ring. */
struct copied {
	uint32_t frames;   /* those that fit the wire, in the first of the mbufs */
	uint32_t oversize; /* the others */
	uint64_t bytes;
};

/* Copies the next `count` queued frames into as many mbufs. */
static __rte_always_inline struct copied copy_out(const struct wire_end *end,
	const struct card_queue *queue, struct rte_mbuf **mbufs, uint32_t count)
{
	const uint64_t *descriptors = queue->tx->to_card;
	uint32_t mask = queue->tx->mask, first = queue->tx_returned;
	unsigned max_bytes = end->card->max_frame_bytes - RTE_ETHER_CRC_LEN;
	struct copied copied = {0};
	uint64_t rearm = end->rearm;

	for (uint32_t i = 0; i < count; i++)
		rte_prefetch0(CARD_TX_ADDRESS(descriptors[(first + i) & mask]));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t descriptor = descriptors[(first + i) & mask];
		uint16_t length = CARD_TX_LENGTH(descriptor);

		if (unlikely(length > max_bytes &&
			     !card_frame_fits(end->card, CARD_TX_ADDRESS(descriptor), length))) {
			copied.oversize++;
			continue;
		}
		copied.bytes += receive_one(
			rearm, mbufs[copied.frames++], CARD_TX_ADDRESS(descriptor), length);
	}
	return copied;
}

typedef struct copied (*copy_out_t)(const struct wire_end *end, const struct card_queue *queue,
	struct rte_mbuf **mbufs, uint32_t count);

static struct copied copy_out_baseline(const struct wire_end *end, const struct card_queue *queue,
	struct rte_mbuf **mbufs, uint32_t count)
{
	return copy_out(end, queue, mbufs, count);
}

#ifdef COPY_AVX512
COPY_AVX512 static struct copied copy_out_avx512(const struct wire_end *end,
	const struct card_queue *queue, struct rte_mbuf **mbufs, uint32_t count)
{
	return copy_out(end, queue, mbufs, count);
}
#endif

static copy_out_t copy_out_chosen = copy_out_baseline;

/* Takes up to `count` frames out of one tx ring of the DUT. */
static uint16_t collect(struct wire_end *end, struct card_queue *queue, struct rte_mbuf **mbufs,
	uint16_t count, double now)
{
	struct card_port *port = end->port;
	struct card_ring *ring = queue->tx;
	uint32_t ready = queue->tx_given - queue->tx_returned, admitted;
	struct copied copied;

	if (ready < count) {
		queue->tx_given = __atomic_load_n(&ring->given, __ATOMIC_ACQUIRE);
		ready = queue->tx_given - queue->tx_returned;
	}
	if (ready == 0)
		return 0;
	admitted = tx_admits(port, queue, RTE_MIN(ready, (uint32_t)count), now);
	if (admitted == 0 || rte_mempool_get_bulk(end->pool, (void **)mbufs, admitted) != 0)
		return 0;
	copied = copy_out_chosen(end, queue, mbufs, admitted);
	if (unlikely(copied.oversize > 0)) {
		port->tx_oversize += copied.oversize;
		rte_mempool_put_bulk(end->pool, (void **)&mbufs[copied.frames], copied.oversize);
	}
	queue->tx_returned += admitted;
	__atomic_store_n(&ring->returned, queue->tx_returned, __ATOMIC_RELEASE);
	copied.bytes += (uint64_t)copied.frames * RTE_ETHER_CRC_LEN;
	port->tx_packets += copied.frames;
	port->tx_bytes += copied.bytes;
	end->rx_packets += copied.frames;
	end->rx_bytes += copied.bytes;
	return (uint16_t)copied.frames;
}

/* The card's links to the wire idle while nothing is queued; but what was queued since the
 * last poll may have left since then. */
static void links_catch_up(struct card_port *port, double now)
{
	struct card *card = port->card;
	double since = now - card->tsc_hz / 1e6 * CARD_CREDIT_US;

	if (!port->backlogged)
		since = RTE_MAX(since, port->last_poll);
	else if (port->link_out.clocks_per_unit != 0 && port->link_out.free_at < since)
		port->link_waits++;
	pacer_idle_until(&port->link_out, since);
	pacer_idle_until(&card->pps_out, since);
	pacer_idle_until(&card->pcie.down, since);
	port->last_poll = now;
}

/* Frames from the card to the tester. */
static uint16_t wire_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct wire_end *end = queue;
	struct card_port *port = end->port;
	struct card *card = port->card;
	double now = (double)card_clock(card);
	uint16_t received = 0;

	if (card->shunt)
		card_shunt_move(card);
	links_catch_up(port, now);
	for (unsigned q = 0; q < card->nb_tx_queues && received < count; q++) {
		unsigned turn = port->next_tx_queue++ % card->nb_tx_queues;

		received += collect(end, &port->queues[turn], mbufs + received,
			(uint16_t)(count - received), now);
	}
	port->backlogged = false;
	for (unsigned q = 0; q < card->nb_tx_queues; q++)
		port->backlogged |= port->queues[q].tx_given != port->queues[q].tx_returned;
	return received;
}

/* The card's links, its PCIe link and its rx rings are written by whoever sends to it. */
static void check_tx_queues(struct port *port, const struct config_node *node)
{
	struct config_node key = config_child(node, "tx_queues");

	port_parse_tx_queues(port, node);
	if (port->asked_tx_queues > 1)
		config_mistake(
			&key, "one worker sends to a virtual card: expected 1, or more cards");
}

static int wire_parse(struct port *port, const struct config_node *node)
{
	struct wire_end *end = calloc(1, sizeof(*end));
	struct card_port *card_port = card_parse_port(node);

	if (end == NULL || card_port == NULL) {
		free(end);
		return -1;
	}
	end->card = card_port->card;
	end->port = card_port;
	port->device = end;
	port->nb_rx_queues = 1;
	check_tx_queues(port, node);
	port->max_frame_bytes = end->card->max_frame_bytes;
	return 0;
}

static void choose_width(void)
{
#ifdef COPY_AVX512
	if (copy_avx512_runs())
		copy_out_chosen = copy_out_avx512;
#endif
	card_deliver_start();
}

static int wire_configure(struct port *port)
{
	struct wire_end *end = port->device;

	choose_width();
	end->rearm = fresh_rearm(port->pool, port->index);
	end->pool = port->pool;
	port->rx_queues[0] = end;
	port->tx_queues[0] = end;
	return 0;
}

static void wire_stats(const struct port *port, struct port_stats *stats)
{
	const struct wire_end *end = port->device;

	stats->rx_packets = end->rx_packets;
	stats->rx_bytes = end->rx_bytes;
	stats->tx_packets = end->tx_packets;
	stats->tx_bytes = end->tx_bytes;
	stats->more[0] = (struct port_counter){"link_waits", end->port->link_waits};
	stats->nb_more = 1;
}

static uint64_t wire_link_bps(const struct port *port)
{
	return ((const struct wire_end *)port->device)->card->link_bps;
}

static uint64_t wire_clock(const struct port *port)
{
	return card_clock(((const struct wire_end *)port->device)->card);
}

static const char *const keys[] = {"card", "index", "tx_queues", NULL};

/* Both of a card's links end on its PCIe link. */
static const void *wire_shared(const struct port *port)
{
	const struct wire_end *end = port->device;

	return end->card;
}

static struct port_driver wire_driver = {
	.name = "wire",
	.keys = keys,
	.wire_end = true,
	.parse = wire_parse,
	.configure = wire_configure,
	.rx_burst = wire_rx_burst,
	.tx_burst = wire_tx_burst,
	.stats = wire_stats,
	.link_bps = wire_link_bps,
	.clock = wire_clock,
	.shared = wire_shared,
};
PORT_DRIVER_REGISTER(wire_driver)
