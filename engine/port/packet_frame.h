/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames between packet sockets and mbufs: for the data path of the drivers on them. */
#ifndef LINERATE_PACKET_FRAME_H
#define LINERATE_PACKET_FRAME_H

#include "core/free.h"
#include "fresh.h"
#include "packet_socket.h"

#include <errno.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_memcpy.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* The kernel's metadata beside a frame, with PACKET_AUXDATA. */
#define PACKET_CONTROL_BYTES CMSG_SPACE(sizeof(struct tpacket_auxdata))

/* Where frames lie in a fresh mbuf, and how many of their bytes there is room for: one more than
 * is taken, so that a longer one is known from one that just fits. */
static inline struct iovec packet_rx_room(const struct packet_rx *rx, const struct rte_mbuf *mbuf)
{
	return (struct iovec){fresh_data(mbuf), rx->room_bytes + 1};
}

/* The auxiliary data in `control`, NULL when there is none. */
static inline const struct tpacket_auxdata *packet_auxdata(const void *control, size_t bytes)
{
	const struct cmsghdr *header = control;

	if (bytes < CMSG_LEN(sizeof(struct tpacket_auxdata)) || header->cmsg_level != SOL_PACKET ||
		header->cmsg_type != PACKET_AUXDATA)
		return NULL;
	return (const struct tpacket_auxdata *)CMSG_DATA(header);
}

#define PACKET_VLAN_BYTES 4
#define PACKET_MACS_BYTES ((size_t)2 * RTE_ETHER_ADDR_LEN)

/* The tag as it stood in the frame. Before Linux 3.14 the kernel did not say the type. */
static inline uint32_t packet_vlan(uint32_t status, uint16_t tpid, uint16_t tci)
{
	if ((status & TP_STATUS_VLAN_TPID_VALID) == 0)
		tpid = RTE_ETHER_TYPE_VLAN;
	return rte_cpu_to_be_32((uint32_t)tpid << 16 | tci);
}

/* Completes a checksum that the sender's kernel left to its card; see packet_frame.c. */
void packet_finish_checksum(uint8_t *frame, unsigned length);

/*
 * Makes the frame of `length` bytes at fresh_data() what it was on the wire: the kernel takes
 * the outermost VLAN tag off every frame that it receives, and a sender on this machine leaves
 * checksums unfinished. Returns its length then.
 */
static __rte_noinline unsigned packet_restore(struct packet_rx *rx, struct rte_mbuf *mbuf,
	unsigned length, const struct tpacket_auxdata *auxdata)
{
	uint8_t *frame = fresh_data(mbuf);
	uint32_t tag;

	if ((auxdata->tp_status & TP_STATUS_CSUMNOTREADY) != 0 && length <= rx->room_bytes) {
		packet_finish_checksum(frame, length);
		rx->counters.finished_checksums++;
	}
	if ((auxdata->tp_status & TP_STATUS_VLAN_VALID) == 0)
		return length;
	if (length + PACKET_VLAN_BYTES > rx->room_bytes)
		return rx->room_bytes + 1;
	tag = packet_vlan(auxdata->tp_status, auxdata->tp_vlan_tpid, auxdata->tp_vlan_tci);
	memmove(frame + PACKET_MACS_BYTES + PACKET_VLAN_BYTES, frame + PACKET_MACS_BYTES,
		length - PACKET_MACS_BYTES);
	memcpy(frame + PACKET_MACS_BYTES, &tag, sizeof(tag));
	return length + PACKET_VLAN_BYTES;
}

#define PACKET_TO_RESTORE (TP_STATUS_VLAN_VALID | TP_STATUS_CSUMNOTREADY)

/*
 * Accounts for a frame that the kernel wrote to fresh_data() of the mbuf, with its auxiliary
 * data, and makes the mbuf one that a driver hands out. Returns false when the frame is longer
 * than the port takes: the mbuf can be used anew.
 */
static __rte_always_inline bool packet_received(struct packet_rx *rx, struct rte_mbuf *mbuf,
	unsigned length, const struct tpacket_auxdata *auxdata)
{
	rx->counters.copied_bytes += length;
	if (unlikely(auxdata != NULL && (auxdata->tp_status & PACKET_TO_RESTORE) != 0))
		length = packet_restore(rx, mbuf, length, auxdata);
	if (unlikely(length > rx->room_bytes)) {
		rx->counters.too_long++;
		return false;
	}
	fresh_mbuf(mbuf, rx->rearm, 0, (uint16_t)length, 0);
	rx->counters.packets++;
	rx->counters.bytes += length + RTE_ETHER_CRC_LEN;
	return true;
}

/* True when the frame may yet be sent: there was no room, or its memory, at the moment. */
static inline bool packet_tx_busy(int error)
{
	return error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == EINTR;
}

static inline void packet_tx_failed(struct packet_tx *tx, int error, unsigned frames)
{
	enum packet_tx_error kind = PACKET_TX_OTHER;

	if (error == ENETDOWN || error == ENXIO || error == ENODEV)
		kind = PACKET_TX_LINK_DOWN;
	else if (error == EMSGSIZE)
		kind = PACKET_TX_TOO_LONG;
	tx->counters.errors[kind] += frames;
}

static inline void packet_sent(struct packet_tx *tx, struct rte_mbuf **mbufs, unsigned count)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		bytes += mbufs[i]->data_len;
	tx->counters.packets += count;
	tx->counters.copied_bytes += bytes;
	tx->counters.bytes += bytes + (uint64_t)count * RTE_ETHER_CRC_LEN;
}

#endif
