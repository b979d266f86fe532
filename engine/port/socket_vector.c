/* SPDX-License-Identifier: BSD-3-Clause */
/* Driver `socket-vector`: a packet socket, and recvmmsg() and sendmmsg() for "batch" packets. */
#include "packet_frame.h"

#define BATCH_DEFAULT 10
#define BATCH_MAX 256

struct vector_rx {
	struct packet_rx base;
	unsigned batch;
	/* Where the next call receives: all is set up but for what the last call used up. */
	struct rte_mbuf *mbufs[BATCH_MAX];
	struct mmsghdr messages[BATCH_MAX];
	struct iovec rooms[BATCH_MAX];
	uint8_t controls[BATCH_MAX][PACKET_CONTROL_BYTES] __rte_aligned(8);
};

struct vector_tx {
	struct packet_tx base;
	unsigned batch;
	struct mmsghdr messages[BATCH_MAX];
	struct iovec frames[BATCH_MAX];
};

/* One call. Returns how many frames it brought, and puts those to hand out into mbufs. */
static int receive(struct vector_rx *rx, struct rte_mbuf **mbufs, unsigned want, uint16_t *handed)
{
	struct rte_mbuf *fresh[BATCH_MAX];
	unsigned used = 0;
	int count = recvmmsg(rx->base.fd, rx->messages, want, MSG_DONTWAIT, NULL);

	rx->base.counters.syscalls++;
	if (count <= 0)
		return 0;
	if (unlikely(rte_mempool_get_bulk(rx->base.pool, (void **)fresh, (unsigned)count) != 0)) {
		rx->base.counters.no_mbuf += (unsigned)count;
		return count;
	}
	for (int i = 0; i < count; i++) {
		struct msghdr *message = &rx->messages[i].msg_hdr;
		struct rte_mbuf *mbuf = rx->mbufs[i];

		if (likely(packet_received(&rx->base, mbuf, rx->messages[i].msg_len,
			    packet_auxdata(rx->controls[i], message->msg_controllen)))) {
			mbufs[(*handed)++] = mbuf;
			rx->mbufs[i] = fresh[used++];
			rx->rooms[i].iov_base = fresh_data(rx->mbufs[i]);
		}
		message->msg_controllen = PACKET_CONTROL_BYTES;
	}
	if (unlikely(used < (unsigned)count))
		rte_mempool_put_bulk(rx->base.pool, (void **)&fresh[used], (unsigned)count - used);
	return count;
}

static uint16_t vector_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct vector_rx *rx = queue;
	uint16_t received = 0;
	unsigned want;

	do
		want = RTE_MIN(rx->batch, (unsigned)(count - received));
	while (want != 0 && receive(rx, mbufs, want, &received) == (int)want);
	return received;
}

static void prepare(struct vector_tx *tx, struct rte_mbuf **mbufs, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		tx->frames[i].iov_base = rte_pktmbuf_mtod(mbufs[i], void *);
		tx->frames[i].iov_len = mbufs[i]->data_len;
	}
}

/* The call says why a frame was not sent only when it is the first: the rest is sent anew. */
static uint16_t vector_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct vector_tx *tx = queue;
	uint16_t done = 0;

	while (done < count) {
		unsigned want = RTE_MIN(tx->batch, (unsigned)(count - done));
		int sent;

		prepare(tx, mbufs + done, want);
		sent = sendmmsg(tx->base.fd, tx->messages, want, MSG_DONTWAIT);
		tx->base.counters.syscalls++;
		if (likely(sent > 0)) {
			packet_sent(&tx->base, mbufs + done, (unsigned)sent);
			done += (uint16_t)sent;
		} else if (packet_tx_busy(errno)) {
			tx->base.counters.no_buffers += errno == ENOBUFS;
			break;
		} else {
			packet_tx_failed(&tx->base, errno, 1);
			done++;
		}
	}
	free_mbufs(mbufs, done);
	return done;
}

static int vector_open_rx(struct packet_port *port, struct packet_rx *base)
{
	struct vector_rx *rx = (struct vector_rx *)base;

	rx->batch = port->batch;
	if (rte_mempool_get_bulk(base->pool, (void **)rx->mbufs, rx->batch) != 0)
		return -ENOMEM;
	for (unsigned i = 0; i < rx->batch; i++) {
		rx->rooms[i] = packet_rx_room(base, rx->mbufs[i]);
		rx->messages[i].msg_hdr = (struct msghdr){
			.msg_iov = &rx->rooms[i],
			.msg_iovlen = 1,
			.msg_control = rx->controls[i],
			.msg_controllen = PACKET_CONTROL_BYTES,
		};
	}
	return packet_rx_open(port, base);
}

static int vector_open_tx(struct packet_port *port, struct packet_tx *base)
{
	struct vector_tx *tx = (struct vector_tx *)base;

	tx->batch = port->batch;
	for (unsigned i = 0; i < tx->batch; i++)
		tx->messages[i].msg_hdr =
			(struct msghdr){.msg_iov = &tx->frames[i], .msg_iovlen = 1};
	return packet_tx_open(port, base);
}

static void vector_close_rx(struct packet_rx *base)
{
	struct vector_rx *rx = (struct vector_rx *)base;

	rte_pktmbuf_free_bulk(rx->mbufs, rx->batch);
}

static const struct packet_method vector_method = {
	.rx_bytes = sizeof(struct vector_rx),
	.tx_bytes = sizeof(struct vector_tx),
	.batch = BATCH_DEFAULT,
	.rx_ring = BATCH_MAX,
	.rx_queues_max = PORT_QUEUES_MAX,
	.open_rx = vector_open_rx,
	.open_tx = vector_open_tx,
	.close_rx = vector_close_rx,
};

PACKET_DRIVER(vector, "socket-vector", "batch")
