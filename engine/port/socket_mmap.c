/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `socket-mmap`: rings shared with the kernel (PACKET_MMAP). Frames are received without
 * a system call, and sent with one a vector. The rx ring is TPACKET_V3, whose blocks are handed
 * over when full or when "block_timeout_ms" is over: a frame may wait so long at low rates. The
 * versions are a socket's: the tx ring is TPACKET_V2 on another.
 */
#include "packet_frame.h"
#include "packet_ring.h"

#include <stdio.h>
#include <sys/mman.h>

/* 64 frames of 1,500 bytes, or some 500 of 64, a block. */
#define BLOCK_BYTES (128u << 10)
#define BLOCKS 64u
#define BLOCK_TIMEOUT_MS 1
#define SLOTS 2048u
#define SLOT_BYTES_MIN 2048u
#define SPARE_MBUFS 256

struct mmap_rx {
	struct packet_rx base;
	struct packet_block_reader reader;
	size_t map_bytes;
	unsigned nb_spare;
	struct rte_mbuf *spare[SPARE_MBUFS];
};

struct mmap_tx {
	struct packet_tx base;
	struct packet_slots ring;
	size_t map_bytes;
};

static bool refill(struct mmap_rx *rx)
{
	if (rte_mempool_get_bulk(rx->base.pool, (void **)rx->spare, SPARE_MBUFS) != 0)
		return false;
	rx->nb_spare = SPARE_MBUFS;
	return true;
}

/* Two copies: the kernel's into the ring, by whoever sends on the other end, and this one. */
static __rte_always_inline bool take(
	struct mmap_rx *rx, const struct tpacket3_hdr *header, struct rte_mbuf *mbuf)
{
	const struct tpacket_auxdata auxdata = {
		.tp_status = header->tp_status,
		.tp_vlan_tci = (uint16_t)header->hv1.tp_vlan_tci,
		.tp_vlan_tpid = header->hv1.tp_vlan_tpid,
	};
	unsigned length = header->tp_len;

	/* Frames that did not fit a block are truncated. */
	if (unlikely(length > rx->base.room_bytes || header->tp_snaplen < length)) {
		rx->base.counters.too_long++;
		return false;
	}
	rte_memcpy(fresh_data(mbuf), RTE_PTR_ADD(header, header->tp_mac), length);
	rx->base.counters.copied_bytes += length;
	return packet_received(&rx->base, mbuf, length, &auxdata);
}

static uint16_t mmap_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct mmap_rx *rx = queue;
	const struct tpacket3_hdr *header;
	uint16_t received = 0;

	while (received < count && (header = packet_block_next(&rx->reader)) != NULL) {
		if (unlikely(rx->nb_spare == 0) && !refill(rx))
			break;
		if (likely(take(rx, header, rx->spare[rx->nb_spare - 1])))
			mbufs[received++] = rx->spare[--rx->nb_spare];
		packet_block_done(&rx->reader);
	}
	return received;
}

/* Puts frames into free slots; returns how many of the mbufs are dealt with. Those that the
 * interface cannot send are moved to the front, and counted. */
static uint16_t fill(struct mmap_tx *tx, struct rte_mbuf **mbufs, uint16_t count, uint16_t *bad)
{
	uint16_t i;

	*bad = 0;
	for (i = 0; i < count; i++) {
		struct tpacket2_hdr *slot = packet_slot_free(&tx->ring);
		struct rte_mbuf *mbuf = mbufs[i];

		if (slot == NULL)
			break;
		if (unlikely(mbuf->data_len > tx->base.max_bytes)) {
			memmove(&mbufs[*bad + 1], &mbufs[*bad],
				(size_t)(i - *bad) * sizeof(mbufs[0]));
			mbufs[(*bad)++] = mbuf;
			continue;
		}
		rte_memcpy(packet_slot_data(slot), rte_pktmbuf_mtod(mbuf, void *), mbuf->data_len);
		packet_slot_request(&tx->ring, mbuf->data_len);
	}
	return i;
}

/* The kernel sends what is requested; what it did not take is taken back from the ring. Returns
 * how many it took of the last `requested`; adds those that are lost to *lost, the others are
 * the caller's. */
static unsigned kick(struct mmap_tx *tx, unsigned requested, unsigned *lost)
{
	unsigned back;
	int error;

	tx->base.counters.syscalls++;
	if (likely(sendto(tx->base.fd, NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0))
		return requested;
	error = errno;
	back = packet_slots_take_back(&tx->ring, requested);
	if (packet_tx_busy(error)) {
		tx->base.counters.no_buffers += error == ENOBUFS;
	} else {
		packet_tx_failed(&tx->base, error, back);
		*lost = back;
	}
	return requested - back;
}

static uint16_t mmap_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct mmap_tx *tx = queue;
	uint16_t bad, filled = fill(tx, mbufs, count, &bad);
	unsigned sent = 0, lost = 0;

	if (unlikely(bad != 0))
		packet_tx_failed(&tx->base, EMSGSIZE, bad);
	if (likely(filled != bad))
		sent = kick(tx, filled - bad, &lost);
	packet_sent(&tx->base, mbufs + bad, sent);
	free_mbufs(mbufs, bad + sent + lost);
	return (uint16_t)(bad + sent + lost);
}

static int set_ring(
	struct packet_port *port, int fd, int option, int version, const struct tpacket_req3 *req)
{
	socklen_t bytes =
		version == TPACKET_V3 ? sizeof(*req) : (socklen_t)sizeof(struct tpacket_req);

	if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) != 0)
		return packet_say(port, "PACKET_VERSION", errno);
	if (setsockopt(fd, SOL_PACKET, option, req, bytes) != 0)
		return packet_say(port, "memory for the ring", errno);
	return 0;
}

static int map(struct packet_port *port, int fd, size_t bytes, uint8_t **ring)
{
	*ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (*ring != MAP_FAILED)
		return 0;
	*ring = NULL;
	return packet_say(port, "mmap of the ring", errno);
}

static int mmap_open_rx(struct packet_port *port, struct packet_rx *base)
{
	struct mmap_rx *rx = (struct mmap_rx *)base;
	const struct tpacket_req3 req = {
		.tp_block_size = BLOCK_BYTES,
		.tp_block_nr = BLOCKS,
		.tp_frame_size = SLOT_BYTES_MIN,
		.tp_frame_nr = BLOCKS * (BLOCK_BYTES / SLOT_BYTES_MIN),
		.tp_retire_blk_tov = BLOCK_TIMEOUT_MS,
	};
	int rc = packet_rx_open(port, base);

	if (rc == 0)
		rc = set_ring(port, base->fd, PACKET_RX_RING, TPACKET_V3, &req);
	if (rc != 0)
		return rc;
	rx->map_bytes = (size_t)BLOCK_BYTES * BLOCKS;
	rx->reader.block_bytes = BLOCK_BYTES;
	rx->reader.nb_blocks = BLOCKS;
	return map(port, base->fd, rx->map_bytes, &rx->reader.blocks);
}

static int mmap_open_tx(struct packet_port *port, struct packet_tx *base)
{
	struct mmap_tx *tx = (struct mmap_tx *)base;
	uint32_t slot_bytes =
		rte_align32pow2((uint32_t)PACKET_SLOT_DATA + base->max_bytes + RTE_CACHE_LINE_SIZE);
	struct tpacket_req3 req;
	int rc = packet_tx_open(port, base);

	slot_bytes = RTE_MAX(slot_bytes, SLOT_BYTES_MIN);
	req = (struct tpacket_req3){
		.tp_block_size = RTE_MAX(slot_bytes, BLOCK_BYTES),
		.tp_frame_size = slot_bytes,
		.tp_frame_nr = SLOTS,
	};
	req.tp_block_nr = SLOTS / (req.tp_block_size / slot_bytes);
	if (rc == 0)
		rc = set_ring(port, base->fd, PACKET_TX_RING, TPACKET_V2, &req);
	if (rc != 0)
		return rc;
	tx->map_bytes = (size_t)req.tp_block_size * req.tp_block_nr;
	tx->ring = (struct packet_slots){.slot_bytes = slot_bytes, .nb_slots = SLOTS};
	return map(port, base->fd, tx->map_bytes, &tx->ring.slots);
}

static void mmap_close_rx(struct packet_rx *base)
{
	struct mmap_rx *rx = (struct mmap_rx *)base;

	rte_pktmbuf_free_bulk(rx->spare, rx->nb_spare);
	if (rx->reader.blocks != NULL)
		munmap(rx->reader.blocks, rx->map_bytes);
}

static void mmap_close_tx(struct packet_tx *base)
{
	struct mmap_tx *tx = (struct mmap_tx *)base;

	if (tx->ring.slots != NULL)
		munmap(tx->ring.slots, tx->map_bytes);
}

static const struct packet_method mmap_method = {
	.rx_bytes = sizeof(struct mmap_rx),
	.tx_bytes = sizeof(struct mmap_tx),
	.rx_ring = SPARE_MBUFS,
	.rx_queues_max = PORT_QUEUES_MAX,
	.open_rx = mmap_open_rx,
	.open_tx = mmap_open_tx,
	.close_rx = mmap_close_rx,
	.close_tx = mmap_close_tx,
};

PACKET_DRIVER(mmap, "socket-mmap")
