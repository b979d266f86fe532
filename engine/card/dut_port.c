/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `card`: the DUT's side of a virtual card's port. What is written here is what a
 * poll mode driver of a real card does: post buffers, take filled ones, queue frames,
 * free what was sent.
 */
#include "core/ledger.h"
#include "core/memory.h"
#include "core/worker.h"
#include "port/fresh.h"
#include "port/port.h"
#include "cards.h"
#include "card_flow_rules.h"

#include <errno.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sent buffers are freed in batches of this size, and sooner on a short ring. */
#define TX_FREE_THRESHOLD 64u

struct rx_queue {
	struct card_ring *ring;
	struct rte_mempool *pool;
	struct rte_mbuf **mbufs; /* of the posted buffers, by slot */
	uint32_t posted;         /* = ring->given */
	uint32_t read;
	uint64_t rearm; /* data_off, refcnt, nb_segs, port of a fresh mbuf */
	uint64_t packets, bytes, no_mbuf;
};

struct tx_queue {
	struct card_ring *ring;
	struct rte_mbuf **mbufs; /* of the queued frames, by slot */
	uint32_t queued;         /* = ring->given */
	uint32_t freed;
	uint32_t free_threshold;
	uint64_t packets, bytes;
};

struct card_end {
	struct card *card;
	struct card_port *port;
	struct rx_queue rx[CARD_QUEUES_MAX];
	struct tx_queue tx[CARD_QUEUES_MAX];
};

static int card_end_parse(struct port *port, const struct config_node *node)
{
	struct card_end *end = calloc(1, sizeof(*end));
	struct card_port *card_port = card_parse_port(node);

	if (end == NULL || card_port == NULL) {
		free(end);
		return -1;
	}
	end->card = card_port->card;
	end->port = card_port;
	port->device = end;
	port->nb_rx_queues = end->card->nb_queues;
	port->max_frame_bytes = end->card->max_frame_bytes;
	port->rx_ring = end->card->rx_ring;
	port->tx_ring = end->card->tx_ring;
	return 0;
}

/* Posts buffers for all free slots of the ring, as far as the pool has them. */
static inline void rx_post(struct rx_queue *rx)
{
	struct card_ring *ring = rx->ring;
	uint32_t want = rx->read + ring->size - rx->posted;

	while (want > 0) {
		uint32_t slot = rx->posted & ring->mask;
		uint32_t count = RTE_MIN(want, ring->size - slot);

		/* More at once than the pool's cache holds would go around the cache. */
		count = RTE_MIN(count, 256u);
		if (unlikely(rte_mempool_get_bulk(rx->pool, (void **)&rx->mbufs[slot], count) !=
			     0)) {
			rx->no_mbuf++;
			__atomic_store_n(&ring->starved, 1, __ATOMIC_RELAXED);
			break;
		}
		for (uint32_t i = 0; i < count; i++)
			ring->to_card[slot + i] = (uintptr_t)fresh_data(rx->mbufs[slot + i]);
		rx->posted += count;
		want -= count;
		if (unlikely(ring->starved) && want == 0)
			__atomic_store_n(&ring->starved, 0, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&ring->given, rx->posted, __ATOMIC_RELEASE);
}

static const uint64_t rx_offload_flags[] = {
	[CARD_RX_HASHED] = RTE_MBUF_F_RX_RSS_HASH,
	[CARD_RX_MARKED] = RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID,
};

static uint16_t card_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct rx_queue *rx = queue;
	struct card_ring *ring = rx->ring;
	uint32_t ready = __atomic_load_n(&ring->returned, __ATOMIC_ACQUIRE) - rx->read;
	uint64_t bytes = 0;

	if (ready == 0) {
		/* A starved ring fills again as soon as buffers are freed. */
		if (unlikely(ring->starved))
			rx_post(rx);
		return 0;
	}
	count = (uint16_t)RTE_MIN(count, ready);
	for (uint16_t i = 0; i < count; i++) {
		uint32_t slot = (rx->read + i) & ring->mask;
		uint64_t descriptor = ring->from_card[slot];
		struct rte_mbuf *mbuf = rx->mbufs[slot];
		uint16_t length = CARD_RX_LENGTH(descriptor);

		rte_prefetch0(fresh_data(mbuf));
		fresh_mbuf(mbuf, rx->rearm, rx_offload_flags[CARD_RX_FLAGS(descriptor)], length,
			CARD_RX_WORD(descriptor));
		/* Means something with its flag only: cheaper than to ask. */
		mbuf->hash.fdir.hi = CARD_RX_WORD(descriptor);
		bytes += length;
		mbufs[i] = mbuf;
	}
	rx->read += count;
	rx->packets += count;
	rx->bytes += bytes + (uint64_t)count * RTE_ETHER_CRC_LEN;
	/* A quarter of the ring at a time: one announcement for many buffers. */
	if (rx->read + ring->size - rx->posted >= ring->size / 4 || unlikely(ring->starved))
		rx_post(rx);
	return count;
}

static inline void tx_free(struct tx_queue *tx)
{
	struct card_ring *ring = tx->ring;
	uint32_t done = __atomic_load_n(&ring->returned, __ATOMIC_ACQUIRE) - tx->freed;

	if (done < tx->free_threshold)
		return;
	while (done > 0) {
		uint32_t slot = tx->freed & ring->mask;
		uint32_t count = RTE_MIN(RTE_MIN(done, ring->size - slot), 256u);
		struct rte_mempool *pool = tx->mbufs[slot]->pool;
		uint32_t same = 1;

		/* Frames of one pool are freed in one call; there are no other references. */
		while (same < count && tx->mbufs[slot + same]->pool == pool)
			same++;
		rte_mempool_put_bulk(pool, (void **)&tx->mbufs[slot], same);
		tx->freed += same;
		done -= same;
	}
}

static uint16_t card_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct tx_queue *tx = queue;
	struct card_ring *ring = tx->ring;
	uint64_t bytes = 0;
	uint32_t room;

	tx_free(tx);
	room = ring->size - (tx->queued - tx->freed);
	count = (uint16_t)RTE_MIN(count, room);
	for (uint16_t i = 0; i < count; i++) {
		uint32_t slot = (tx->queued + i) & ring->mask;
		struct rte_mbuf *mbuf = mbufs[i];

		ring->to_card[slot] =
			CARD_TX_DESCRIPTOR(rte_pktmbuf_mtod(mbuf, void *), mbuf->data_len);
		tx->mbufs[slot] = mbuf;
		bytes += mbuf->data_len;
	}
	tx->queued += count;
	tx->packets += count;
	tx->bytes += bytes + (uint64_t)count * RTE_ETHER_CRC_LEN;
	__atomic_store_n(&ring->given, tx->queued, __ATOMIC_RELEASE);
	return count;
}

static int rx_queue_create(struct port *port, struct rx_queue *rx, struct card_ring *ring)
{
	rx->ring = ring;
	rx->pool = port->pool;
	rx->mbufs = rte_zmalloc_socket(
		"card", ring->size * sizeof(void *), RTE_CACHE_LINE_SIZE, memory_socket());
	if (rx->mbufs == NULL)
		return -ENOMEM;
	rx->rearm = fresh_rearm(port->pool, port->index);
	rx_post(rx);
	return rx->posted == ring->size ? 0 : -ENOMEM;
}

static int card_end_configure(struct port *port)
{
	struct card_end *end = port->device;

	if (end->card->shunt) {
		fprintf(stderr, "port %s: card %s is a bare link (host: shunt)\n", port->name,
			end->card->name);
		return -EINVAL;
	}
	if (port->nb_tx_queues > end->card->nb_tx_queues)
		return -EINVAL;
	for (unsigned q = 0; q < port->nb_rx_queues; q++) {
		int rc = rx_queue_create(port, &end->rx[q], end->port->queues[q].rx);

		if (rc != 0)
			return rc;
		port->rx_queues[q] = &end->rx[q];
	}
	for (unsigned q = 0; q < port->nb_tx_queues; q++) {
		struct tx_queue *tx = &end->tx[q];

		tx->ring = end->port->queues[q].tx;
		tx->free_threshold = RTE_MIN(TX_FREE_THRESHOLD, tx->ring->size / 4);
		tx->mbufs = rte_zmalloc_socket("card", tx->ring->size * sizeof(void *),
			RTE_CACHE_LINE_SIZE, memory_socket());
		if (tx->mbufs == NULL)
			return -ENOMEM;
		port->tx_queues[q] = tx;
	}
	return 0;
}

static int card_end_rx_wakes(struct port *port, unsigned queue, struct waker *waker)
{
	struct card_end *end = port->device;

	end->rx[queue].ring->waker = waker;
	return 0;
}

static int card_end_rss_get(const struct port *port, struct port_rss *rss)
{
	const struct card_end *end = port->device;
	const struct card_rss *card = &end->port->rss;

	rss->symmetric = card->symmetric;
	rss->fields = card->fields;
	rss->nb_entries = CARD_RETA_ENTRIES;
	for (unsigned i = 0; i < CARD_RETA_ENTRIES; i++)
		rss->entries[i] = card->reta[i];
	return 0;
}

static int card_end_rss_set(struct port *port, const struct port_rss *rss)
{
	struct card_end *end = port->device;
	struct card_rss *card = &end->port->rss;

	__atomic_store_n(&card->symmetric, rss->symmetric, __ATOMIC_RELAXED);
	__atomic_store_n(&card->fields, rss->fields, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < CARD_RETA_ENTRIES; i++)
		__atomic_store_n(&card->reta[i], rss->entries[i], __ATOMIC_RELAXED);
	return 0;
}

static int card_end_flow_validate(struct port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	struct card_end *end = port->device;

	return card_flow_validate(end->port, attr, pattern, actions, error);
}

static struct rte_flow *card_end_flow_create(struct port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	struct card_end *end = port->device;

	return card_flow_create(end->port, attr, pattern, actions, error);
}

static int card_end_flow_destroy(
	struct port *port, struct rte_flow *flow, struct rte_flow_error *error)
{
	return card_flow_destroy(((struct card_end *)port->device)->port, flow, error);
}

static int card_end_flow_flush(struct port *port, struct rte_flow_error *error)
{
	return card_flow_flush(((struct card_end *)port->device)->port, error);
}

static int card_end_flow_count(struct port *port, struct rte_flow *flow,
	struct rte_flow_query_count *count, struct rte_flow_error *error)
{
	return card_flow_count(((struct card_end *)port->device)->port, flow, count, error);
}

static void card_end_reset(struct port *port)
{
	card_flow_reset(((struct card_end *)port->device)->port);
}

static void add_flow_stats(const struct card_flow_table *table, struct port_stats *stats)
{
	if (table == NULL)
		return;
	stats->more[stats->nb_more++] = (struct port_counter){"rx_marked", table->marked};
	stats->more[stats->nb_more++] = (struct port_counter){"flow_rules", table->nb_standing};
	stats->more[stats->nb_more++] = (struct port_counter){"flow_refused", table->refused};
	stats->more[stats->nb_more++] = (struct port_counter){"flow_resets", table->resets};
}

static void card_end_stats(const struct port *port, struct port_stats *stats)
{
	const struct card_end *end = port->device;

	for (unsigned q = 0; q < port->nb_rx_queues; q++) {
		stats->rx_packets += end->rx[q].packets;
		stats->rx_bytes += end->rx[q].bytes;
	}
	for (unsigned q = 0; q < port->nb_tx_queues; q++) {
		stats->tx_packets += end->tx[q].packets;
		stats->tx_bytes += end->tx[q].bytes;
	}
	stats->rx_missed = end->port->rx_drops[CARD_RX_MISSED];
	stats->rx_no_mbuf = end->port->rx_drops[CARD_RX_NO_MBUF];
	stats->more[0] =
		(struct port_counter){"rx_oversize", end->port->rx_drops[CARD_RX_OVERSIZE]};
	stats->more[1] = (struct port_counter){"rx_card_pps", end->port->rx_drops[CARD_RX_PPS]};
	stats->more[2] = (struct port_counter){"rx_pcie", end->port->rx_drops[CARD_RX_PCIE]};
	stats->more[3] = (struct port_counter){"rx_flow_rule", end->port->rx_drops[CARD_RX_RULE]};
	stats->more[4] = (struct port_counter){"tx_oversize", end->port->tx_oversize};
	stats->nb_more = 5;
	add_flow_stats(end->port->flow_table, stats);
}

static uint64_t card_end_link_bps(const struct port *port)
{
	return ((const struct card_end *)port->device)->card->link_bps;
}

static const char *const keys[] = {"card", "index", NULL};

static struct port_driver card_driver = {
	.name = "card",
	.keys = keys,
	.parse = card_end_parse,
	.configure = card_end_configure,
	.rx_burst = card_rx_burst,
	.tx_burst = card_tx_burst,
	.rx_wakes = card_end_rx_wakes,
	.rss_get = card_end_rss_get,
	.rss_set = card_end_rss_set,
	.stats = card_end_stats,
	.link_bps = card_end_link_bps,
	.flow_validate = card_end_flow_validate,
	.flow_create = card_end_flow_create,
	.flow_destroy = card_end_flow_destroy,
	.flow_flush = card_end_flow_flush,
	.flow_count = card_end_flow_count,
	.reset = card_end_reset,
};
PORT_DRIVER_REGISTER(card_driver)
