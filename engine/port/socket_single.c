/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `socket-single`: a packet socket and one system call a packet, what a first program
 * would do. Frames are received by recvmsg() instead of recvfrom(), which has no room for the
 * VLAN tag that the kernel takes off.
 */
#include "packet_frame.h"

#define SPARE_MBUFS 64

struct single_rx {
	struct packet_rx base;
	unsigned nb_spare;
	struct rte_mbuf *spare[SPARE_MBUFS];
};

static bool refill(struct single_rx *rx)
{
	if (rte_mempool_get_bulk(rx->base.pool, (void **)rx->spare, SPARE_MBUFS) != 0)
		return false;
	rx->nb_spare = SPARE_MBUFS;
	return true;
}

/* Receives one frame into the mbuf; false when there was none to hand out. *end: no more come. */
static bool receive(struct single_rx *rx, struct rte_mbuf *mbuf, bool *end)
{
	uint8_t control[PACKET_CONTROL_BYTES] __rte_aligned(8);
	struct iovec room = packet_rx_room(&rx->base, mbuf);
	struct msghdr message = {
		.msg_iov = &room,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t length = recvmsg(rx->base.fd, &message, MSG_DONTWAIT);

	rx->base.counters.syscalls++;
	*end = length < 0;
	return length >= 0 && packet_received(&rx->base, mbuf, (unsigned)length,
				      packet_auxdata(control, message.msg_controllen));
}

static uint16_t single_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct single_rx *rx = queue;
	uint16_t received = 0;
	bool end = false;

	while (received < count && !end) {
		if (unlikely(rx->nb_spare == 0) && !refill(rx))
			break;
		if (likely(receive(rx, rx->spare[rx->nb_spare - 1], &end)))
			mbufs[received++] = rx->spare[--rx->nb_spare];
	}
	return received;
}

static uint16_t single_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct packet_tx *tx = queue;
	unsigned sent = 0;
	uint16_t done;

	for (done = 0; done < count; done++) {
		ssize_t rc = sendto(tx->fd, rte_pktmbuf_mtod(mbufs[done], void *),
			mbufs[done]->data_len, MSG_DONTWAIT, NULL, 0);

		tx->counters.syscalls++;
		if (likely(rc >= 0))
			continue;
		if (packet_tx_busy(errno)) {
			tx->counters.no_buffers += errno == ENOBUFS;
			break;
		}
		packet_tx_failed(tx, errno, 1);
		/* Sent ones are counted by their lengths: keep this one out of that. */
		packet_sent(tx, mbufs + sent, done - sent);
		sent = done + 1;
	}
	packet_sent(tx, mbufs + sent, done - sent);
	free_mbufs(mbufs, done);
	return done;
}

static void single_close_rx(struct packet_rx *base)
{
	struct single_rx *rx = (struct single_rx *)base;

	rte_pktmbuf_free_bulk(rx->spare, rx->nb_spare);
}

static const struct packet_method single_method = {
	.rx_bytes = sizeof(struct single_rx),
	.tx_bytes = sizeof(struct packet_tx),
	.rx_ring = SPARE_MBUFS,
	.rx_queues_max = PORT_QUEUES_MAX,
	.open_rx = packet_rx_open,
	.open_tx = packet_tx_open,
	.close_rx = single_close_rx,
};

PACKET_DRIVER(single, "socket-single")
