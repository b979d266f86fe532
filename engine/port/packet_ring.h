/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walking the rings that a packet socket shares with the kernel (PACKET_MMAP): blocks of frames
 * of any length for rx (TPACKET_V3), slots of one frame for tx (TPACKET_V2). No system call here.
 */
#ifndef LINERATE_PACKET_RING_H
#define LINERATE_PACKET_RING_H

#include <linux/if_packet.h>
#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>
#include <stdbool.h>
#include <stdint.h>

/* Where a reader is in an rx ring. */
struct packet_block_reader {
	uint8_t *blocks;
	uint32_t block_bytes, nb_blocks;
	uint32_t block;            /* the one that is read, or will be */
	uint32_t left;             /* frames of it that are yet to be read; 0: it is the kernel's */
	struct tpacket3_hdr *next; /* the first of them */
};

static inline struct tpacket_block_desc *packet_block(const struct packet_block_reader *reader)
{
	return (struct tpacket_block_desc *)(reader->blocks +
					     (size_t)reader->block * reader->block_bytes);
}

static inline void packet_block_give_back(struct packet_block_reader *reader)
{
	__atomic_store_n(
		&packet_block(reader)->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	reader->block = reader->block + 1 == reader->nb_blocks ? 0 : reader->block + 1;
}

/* Opens the next block that the kernel has closed; false when there is none. A block that its
 * timer closed may be empty. */
static inline bool packet_block_open(struct packet_block_reader *reader)
{
	for (;;) {
		struct tpacket_block_desc *block = packet_block(reader);
		uint32_t status = __atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE);

		if ((status & TP_STATUS_USER) == 0)
			return false;
		reader->left = block->hdr.bh1.num_pkts;
		reader->next = RTE_PTR_ADD(block, block->hdr.bh1.offset_to_first_pkt);
		if (likely(reader->left != 0))
			return true;
		packet_block_give_back(reader);
	}
}

/* The next frame, or NULL. It is the reader's until packet_block_done(). */
static __rte_always_inline const struct tpacket3_hdr *packet_block_next(
	struct packet_block_reader *reader)
{
	if (unlikely(reader->left == 0) && !packet_block_open(reader))
		return NULL;
	return reader->next;
}

/* Done with what packet_block_next() returned; after the last of a block that is given back. */
static __rte_always_inline void packet_block_done(struct packet_block_reader *reader)
{
	if (likely(--reader->left != 0)) {
		reader->next = RTE_PTR_ADD(reader->next, reader->next->tp_next_offset);
		rte_prefetch0(RTE_PTR_ADD(reader->next, reader->next->tp_next_offset));
	} else {
		packet_block_give_back(reader);
	}
}

/* A tx ring, and its next slot. */
struct packet_slots {
	uint8_t *slots;
	uint32_t slot_bytes, nb_slots;
	uint32_t next;
};

/* Where the kernel looks for the frame in a slot (PACKET_TX_HAS_OFF is off). */
#define PACKET_SLOT_DATA (TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))

static __rte_always_inline struct tpacket2_hdr *packet_slot(
	const struct packet_slots *ring, uint32_t index)
{
	return (struct tpacket2_hdr *)(ring->slots + (size_t)index * ring->slot_bytes);
}

static inline uint8_t *packet_slot_data(struct tpacket2_hdr *slot)
{
	return RTE_PTR_ADD(slot, PACKET_SLOT_DATA);
}

/* The next slot, or NULL while the frame in it is on its way. A software time stamp may stand
 * beside the state. */
static __rte_always_inline struct tpacket2_hdr *packet_slot_free(const struct packet_slots *ring)
{
	struct tpacket2_hdr *slot = packet_slot(ring, ring->next);
	uint32_t status = __atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE);

	return (status & (TP_STATUS_SEND_REQUEST | TP_STATUS_SENDING)) == 0 ? slot : NULL;
}

static __rte_always_inline void packet_slot_request(struct packet_slots *ring, uint32_t length)
{
	struct tpacket2_hdr *slot = packet_slot(ring, ring->next);

	slot->tp_len = length;
	__atomic_store_n(&slot->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
	ring->next = ring->next + 1 == ring->nb_slots ? 0 : ring->next + 1;
}

/*
 * After a send() that failed: takes back those of the last `requested` frames that the kernel
 * has not begun with. It works through them in order and stops at the one that failed, so these
 * are the last. Returns how many.
 */
static inline unsigned packet_slots_take_back(struct packet_slots *ring, unsigned requested)
{
	unsigned back = 0;

	while (back < requested) {
		uint32_t last = ring->next == 0 ? ring->nb_slots - 1 : ring->next - 1;
		struct tpacket2_hdr *slot = packet_slot(ring, last);

		if (__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) != TP_STATUS_SEND_REQUEST)
			break;
		__atomic_store_n(&slot->tp_status, TP_STATUS_AVAILABLE, __ATOMIC_RELEASE);
		ring->next = last;
		back++;
	}
	return back;
}

#endif
