/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `replay`: hands out prebuilt frames and frees what is sent, all on the core that
 * polls it. What is left is the software's own cost, with no wire and no second core, as
 * with VPP's packet generator or DPDK's net_null.
 */
#include "core/ledger.h"
#include "core/memory.h"
#include "port/fresh.h"
#include "port/port.h"
#include "ip_id.h"
#include "stream.h"

#include <errno.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 65536
/* A forwarder may change this much of a frame; more is not restored between uses. */
#define RESTORED_BYTES 64

struct replay_frame {
	uint8_t head[RESTORED_BYTES];
};

/* One a worker: each counts what it sends. */
struct replay_tx {
	uint64_t packets, bytes;
} __rte_cache_aligned;

struct replay {
	struct rte_mempool *pool;
	struct stream **streams;
	unsigned nb_streams;
	unsigned nb_frames; /* built ahead */
	uint16_t *lengths;
	struct replay_frame *frames;
	uint64_t rearm;
	unsigned next;
	uint64_t rx_packets, rx_bytes;
	struct replay_tx tx[PORT_QUEUES_MAX];
};

static int replay_parse(struct port *port, const struct config_node *node)
{
	struct replay *replay = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*replay));
	struct config_node array = config_child(node, "frames");
	size_t count = config_items(&array);

	if (replay == NULL)
		return -1;
	memset(replay, 0, sizeof(*replay));
	replay->streams = calloc(count + 1, sizeof(*replay->streams));
	replay->nb_frames = (unsigned)config_u64(node, "count", 4096, 1, FRAMES_MAX);
	port_parse_tx_queues(port, node);
	port->max_frame_bytes = FRAME_BYTES_DEFAULT;
	for (size_t i = 0; i < count && replay->streams != NULL; i++) {
		struct config_node item = config_item(&array, i);
		struct stream *stream = stream_parse(&item);

		if (stream == NULL)
			continue;
		if (stream->stamped) {
			config_mistake(
				&item, "latency: a replay's frames are not received by the tester");
			stream_free(stream);
			continue;
		}
		stream->id = (uint16_t)replay->nb_streams;
		ip_id_write(stream);
		port->max_frame_bytes = RTE_MAX(port->max_frame_bytes, stream->frame_bytes);
		replay->streams[replay->nb_streams++] = stream;
	}
	port->device = replay;
	port->nb_rx_queues = 1;
	return 0;
}

/* Builds the frames as a tester would and keeps their heads. */
static int build_frames(struct replay *replay)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(replay->pool);

	if (mbuf == NULL)
		return -ENOMEM;
	mbuf->hash.fdir.hi = 0;
	memset(mbuf->buf_addr, 0, mbuf->buf_len);
	for (unsigned i = 0; i < replay->nb_frames; i++) {
		stream_fill(replay->streams[i % replay->nb_streams], &mbuf, 1);
		memcpy(replay->frames[i].head, rte_pktmbuf_mtod(mbuf, void *), RESTORED_BYTES);
		replay->lengths[i] = mbuf->data_len;
	}
	rte_pktmbuf_free(mbuf);
	return 0;
}

static int replay_configure(struct port *port)
{
	struct replay *replay = port->device;

	replay->pool = port->pool;
	replay->rearm = fresh_rearm(port->pool, port->index);
	port->rx_queues[0] = replay;
	for (unsigned q = 0; q < port->nb_tx_queues; q++)
		port->tx_queues[q] = &replay->tx[q];
	if (replay->nb_streams == 0)
		return 0;
	replay->frames = rte_zmalloc_socket("replay", replay->nb_frames * sizeof(*replay->frames),
		RTE_CACHE_LINE_SIZE, memory_socket());
	replay->lengths = rte_zmalloc_socket("replay", replay->nb_frames * sizeof(*replay->lengths),
		RTE_CACHE_LINE_SIZE, memory_socket());
	return replay->frames == NULL || replay->lengths == NULL ? -ENOMEM : build_frames(replay);
}

static uint16_t replay_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct replay *replay = queue;
	uint64_t bytes = 0;

	if (replay->nb_streams == 0 ||
		rte_mempool_get_bulk(replay->pool, (void **)mbufs, count) != 0)
		return 0;
	for (uint16_t i = 0; i < count; i++) {
		struct rte_mbuf *mbuf = mbufs[i];
		uint16_t length = replay->lengths[replay->next];

		fresh_mbuf(mbuf, replay->rearm, 0, length, 0);
		memcpy(fresh_data(mbuf), replay->frames[replay->next].head, RESTORED_BYTES);
		bytes += length;
		replay->next = replay->next + 1 == replay->nb_frames ? 0 : replay->next + 1;
	}
	replay->rx_packets += count;
	replay->rx_bytes += bytes + (uint64_t)count * RTE_ETHER_CRC_LEN;
	return count;
}

static uint16_t replay_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct replay_tx *tx = queue;
	uint64_t bytes = 0;
	uint16_t start = 0;

	for (uint16_t i = 0; i < count; i++) {
		bytes += mbufs[i]->data_len;
		if (likely(mbufs[i]->pool == mbufs[start]->pool))
			continue;
		rte_mempool_put_bulk(mbufs[start]->pool, (void **)&mbufs[start], i - start);
		start = i;
	}
	rte_mempool_put_bulk(mbufs[start]->pool, (void **)&mbufs[start], count - start);
	tx->packets += count;
	tx->bytes += bytes + (uint64_t)count * RTE_ETHER_CRC_LEN;
	return count;
}

static void replay_stats(const struct port *port, struct port_stats *stats)
{
	const struct replay *replay = port->device;

	stats->rx_packets = replay->rx_packets;
	stats->rx_bytes = replay->rx_bytes;
	for (unsigned q = 0; q < port->nb_tx_queues; q++) {
		stats->tx_packets += replay->tx[q].packets;
		stats->tx_bytes += replay->tx[q].bytes;
	}
}

/* Its frames have no sender and the frames given to it no receiver: it is both ends of the ledger
 * itself. */
static void replay_ledger(const struct port *port, struct ledger *ledger)
{
	struct port_stats stats = {0};

	replay_stats(port, &stats);
	ledger_add(ledger, LEDGER_SENT, stats.rx_packets, "replay %s", port->name);
	ledger_add(ledger, LEDGER_RECEIVED, stats.tx_packets, "replay %s", port->name);
}

static uint64_t replay_link_bps(__rte_unused const struct port *port)
{
	return 0;
}

static const char *const keys[] = {"frames", "count", "tx_queues", NULL};

static struct port_driver replay_driver = {
	.name = "replay",
	.keys = keys,
	.parse = replay_parse,
	.configure = replay_configure,
	.rx_burst = replay_rx_burst,
	.tx_burst = replay_tx_burst,
	.stats = replay_stats,
	.ledger = replay_ledger,
	.link_bps = replay_link_bps,
};
PORT_DRIVER_REGISTER(replay_driver)
