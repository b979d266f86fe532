/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `io_uring`: a packet socket whose frames go by io_uring(7), a ring a queue.
 *
 * Frames are received by one request that stays ("multishot", Linux 6.0): the kernel picks an
 * mbuf of those that were provided, writes the frame into it and says so in the completion
 * ring. The work is done in the worker's own time, when it asks for it, which it does when the
 * ring's flags say that there is some (IORING_SETUP_DEFER_TASKRUN and TASKRUN_FLAG): no system
 * call while nothing comes, one a vector otherwise. With "multishot": false, and where the kernel
 * has no such thing, each call submits as many single requests as the last one could use.
 *
 * Frames are sent by one submission a vector. Each request is completed before the submission
 * returns, since none may wait.
 */
#include "packet_frame.h"

#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH_DEFAULT 256
#define BATCH_MAX 256
/* Provided mbufs; the completion ring has room for all of them. */
#define BUFFERS 1024
#define BUFFER_GROUP 0
#define FIXED_FILE 0

/* The kernel writes its header and the control data before the frame. */
#define HEADER_BYTES (sizeof(struct io_uring_recvmsg_out) + PACKET_CONTROL_BYTES)
_Static_assert(HEADER_BYTES <= RTE_PKTMBUF_HEADROOM, "header fits before the frame");

struct uring_rx {
	struct packet_rx base;
	struct io_uring ring;
	bool has_ring, enabled;
	bool multishot;
	bool armed; /* the multishot request is at work */
	unsigned batch;
	unsigned wave; /* single requests to submit next */
	struct io_uring_buf_ring *buffers;
	struct msghdr message; /* of the multishot request */
	struct rte_mbuf *mbufs[BUFFERS];
	unsigned nb_mbufs;
	/* For single requests. */
	struct msghdr messages[BATCH_MAX];
	struct iovec rooms[BATCH_MAX];
	uint8_t controls[BATCH_MAX][PACKET_CONTROL_BYTES] __rte_aligned(8);
};

struct uring_tx {
	struct packet_tx base;
	struct io_uring ring;
	bool has_ring, enabled;
	unsigned batch;
};

/* A ring belongs to the thread that enables it: the worker, in its first burst. By the system call
 * itself, since liburing 2.3 declares io_uring_enable_rings() and does not export it. */
static bool enable(struct io_uring *ring, bool *enabled)
{
	if (likely(*enabled))
		return true;
	if ((ring->flags & IORING_SETUP_R_DISABLED) != 0 &&
		syscall(__NR_io_uring_register, ring->ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL,
			0) != 0)
		return false;
	*enabled = true;
	return true;
}

static void provide(struct uring_rx *rx, unsigned id, unsigned offset)
{
	io_uring_buf_ring_add(rx->buffers, RTE_PTR_SUB(fresh_data(rx->mbufs[id]), HEADER_BYTES),
		(unsigned)HEADER_BYTES + rx->base.room_bytes + 1, (unsigned short)id,
		io_uring_buf_ring_mask(BUFFERS), (int)offset);
}

/* One completion; returns the mbuf to hand out, or NULL. `fresh` takes its place, if it is used. */
static struct rte_mbuf *take(
	struct uring_rx *rx, const struct io_uring_cqe *cqe, struct rte_mbuf *fresh)
{
	unsigned id = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
	struct rte_mbuf *mbuf = rx->mbufs[id];
	const struct io_uring_recvmsg_out *out = RTE_PTR_SUB(fresh_data(mbuf), HEADER_BYTES);
	unsigned length = (unsigned)cqe->res - (unsigned)HEADER_BYTES;

	if (unlikely(!packet_received(
		    &rx->base, mbuf, length, packet_auxdata(out + 1, out->controllen))))
		return NULL;
	rx->mbufs[id] = fresh;
	return mbuf;
}

/* Takes what is completed, at most `count`, and provides as many buffers anew. */
static uint16_t reap(struct uring_rx *rx, struct rte_mbuf **mbufs, uint16_t count)
{
	unsigned ready = RTE_MIN(io_uring_cq_ready(&rx->ring), (unsigned)count);
	unsigned seen = 0, provided = 0;
	struct rte_mbuf *fresh[BATCH_MAX];
	struct io_uring_cqe *cqe;
	uint16_t received = 0;
	unsigned head;

	if (ready == 0 || rte_mempool_get_bulk(rx->base.pool, (void **)fresh, ready) != 0)
		return 0;
	io_uring_for_each_cqe(&rx->ring, head, cqe)
	{
		if (seen == ready)
			break;
		seen++;
		if (unlikely((cqe->flags & IORING_CQE_F_MORE) == 0))
			rx->armed = false;
		if (unlikely((cqe->flags & IORING_CQE_F_BUFFER) == 0)) {
			/* Ended without a frame: out of buffers, or the interface went down. */
			rx->multishot &= cqe->res != -EINVAL;
			continue;
		}
		if (likely(cqe->res >= (int)HEADER_BYTES)) {
			struct rte_mbuf *mbuf = take(rx, cqe, fresh[received]);

			if (likely(mbuf != NULL))
				mbufs[received++] = mbuf;
		}
		provide(rx, cqe->flags >> IORING_CQE_BUFFER_SHIFT, provided++);
	}
	io_uring_buf_ring_advance(rx->buffers, (int)provided);
	io_uring_cq_advance(&rx->ring, seen);
	if (unlikely(received < ready))
		rte_mempool_put_bulk(rx->base.pool, (void **)&fresh[received], ready - received);
	return received;
}

static void arm(struct uring_rx *rx)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&rx->ring);

	if (sqe == NULL)
		return;
	io_uring_prep_recvmsg_multishot(sqe, FIXED_FILE, &rx->message, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT | IOSQE_FIXED_FILE;
	sqe->buf_group = BUFFER_GROUP;
	rx->base.counters.syscalls++;
	rx->armed = io_uring_submit(&rx->ring) == 1;
}

static uint16_t receive_multishot(struct uring_rx *rx, struct rte_mbuf **mbufs, uint16_t count)
{
	if (unlikely(!rx->armed)) {
		arm(rx);
	} else if ((__atomic_load_n(rx->ring.sq.kflags, __ATOMIC_RELAXED) &
			   (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0) {
		rx->base.counters.syscalls++;
		(void)io_uring_get_events(&rx->ring);
	}
	return reap(rx, mbufs, count);
}

static void request(struct uring_rx *rx, unsigned i)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&rx->ring);

	rx->messages[i].msg_controllen = PACKET_CONTROL_BYTES;
	io_uring_prep_recvmsg(sqe, FIXED_FILE, &rx->messages[i], MSG_DONTWAIT);
	sqe->flags |= IOSQE_FIXED_FILE;
	sqe->user_data = i;
}

/* Completions of `wave` requests, which come in their order. */
static uint16_t reap_singles(struct uring_rx *rx, struct rte_mbuf **mbufs, unsigned wave)
{
	struct rte_mbuf *fresh[BATCH_MAX];
	struct io_uring_cqe *cqe;
	uint16_t received = 0;
	unsigned head, seen = 0;

	if (rte_mempool_get_bulk(rx->base.pool, (void **)fresh, wave) != 0)
		memset(fresh, 0, sizeof(fresh));
	io_uring_for_each_cqe(&rx->ring, head, cqe)
	{
		unsigned i = (unsigned)cqe->user_data;
		struct rte_mbuf *mbuf = rx->mbufs[i];

		seen++;
		if (cqe->res < 0)
			continue;
		if (unlikely(fresh[0] == NULL)) {
			rx->base.counters.no_mbuf++;
			continue;
		}
		if (unlikely(!packet_received(&rx->base, mbuf, (unsigned)cqe->res,
			    packet_auxdata(rx->controls[i], rx->messages[i].msg_controllen))))
			continue;
		rx->mbufs[i] = fresh[received];
		rx->rooms[i].iov_base = fresh_data(rx->mbufs[i]);
		mbufs[received++] = mbuf;
	}
	io_uring_cq_advance(&rx->ring, seen);
	if (fresh[0] != NULL && received < wave)
		rte_mempool_put_bulk(rx->base.pool, (void **)&fresh[received], wave - received);
	return received;
}

static uint16_t receive_singles(struct uring_rx *rx, struct rte_mbuf **mbufs, uint16_t count)
{
	unsigned wave = RTE_MIN(rx->wave, (unsigned)count);
	uint16_t received;

	for (unsigned i = 0; i < wave; i++)
		request(rx, i);
	rx->base.counters.syscalls++;
	if (io_uring_submit_and_wait(&rx->ring, wave) < 0)
		return 0;
	received = reap_singles(rx, mbufs, wave);
	/* Requests that find nothing cost as much as those that do. */
	rx->wave = received == wave ? RTE_MIN(2 * wave, rx->batch) : RTE_MAX(received, 1u);
	return received;
}

static uint16_t uring_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct uring_rx *rx = queue;

	count = RTE_MIN(count, (uint16_t)rx->batch);
	if (unlikely(!enable(&rx->ring, &rx->enabled)))
		return 0;
	return rx->multishot ? receive_multishot(rx, mbufs, count)
			     : receive_singles(rx, mbufs, count);
}

/* Results of `count` requests into results[]. */
static void submit(struct uring_tx *tx, struct rte_mbuf **mbufs, unsigned count, int *results)
{
	struct io_uring_cqe *cqe;
	unsigned head, seen = 0;

	for (unsigned i = 0; i < count; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&tx->ring);

		io_uring_prep_send(sqe, FIXED_FILE, rte_pktmbuf_mtod(mbufs[i], void *),
			mbufs[i]->data_len, MSG_DONTWAIT);
		sqe->flags |= IOSQE_FIXED_FILE;
		sqe->user_data = i;
	}
	tx->base.counters.syscalls++;
	(void)io_uring_submit_and_wait(&tx->ring, count);
	io_uring_for_each_cqe(&tx->ring, head, cqe)
	{
		results[cqe->user_data] = cqe->res;
		seen++;
	}
	io_uring_cq_advance(&tx->ring, seen);
}

/* Those that found no room go behind the others, which keep their order. Returns how many the
 * others are. */
static unsigned sort_out(
	struct uring_tx *tx, struct rte_mbuf **mbufs, unsigned count, const int *results)
{
	struct rte_mbuf *busy[BATCH_MAX], *failed[BATCH_MAX];
	unsigned nb_busy = 0, nb_failed = 0, sent = 0;

	for (unsigned i = 0; i < count; i++) {
		if (results[i] >= 0) {
			mbufs[sent++] = mbufs[i];
		} else if (packet_tx_busy(-results[i])) {
			tx->base.counters.no_buffers += results[i] == -ENOBUFS;
			busy[nb_busy++] = mbufs[i];
		} else {
			packet_tx_failed(&tx->base, -results[i], 1);
			failed[nb_failed++] = mbufs[i];
		}
	}
	packet_sent(&tx->base, mbufs, sent);
	memcpy(mbufs + sent, failed, nb_failed * sizeof(*mbufs));
	memcpy(mbufs + sent + nb_failed, busy, nb_busy * sizeof(*mbufs));
	return sent + nb_failed;
}

static uint16_t uring_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct uring_tx *tx = queue;
	int results[BATCH_MAX];
	uint16_t done = 0;

	if (unlikely(!enable(&tx->ring, &tx->enabled)))
		return 0;
	while (done < count) {
		unsigned want = RTE_MIN(tx->batch, (unsigned)(count - done)), dealt;
		int worst = 0;

		for (unsigned i = 0; i < want; i++)
			results[i] = -EAGAIN;
		submit(tx, mbufs + done, want, results);
		for (unsigned i = 0; i < want; i++)
			worst = RTE_MIN(worst, results[i]);
		if (likely(worst == 0)) {
			packet_sent(&tx->base, mbufs + done, want);
			dealt = want;
		} else {
			dealt = sort_out(tx, mbufs + done, want, results);
		}
		done += (uint16_t)dealt;
		if (unlikely(dealt < want))
			break;
	}
	free_mbufs(mbufs, done);
	return done;
}

/* The newest way of working that the kernel knows. */
static int open_ring(struct packet_port *port, struct io_uring *ring, unsigned entries,
	unsigned completions, int fd)
{
	static const unsigned flags[] = {
		IORING_SETUP_R_DISABLED | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			IORING_SETUP_TASKRUN_FLAG,
		IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
		0,
	};
	int rc = -EINVAL;

	for (unsigned i = 0; i < RTE_DIM(flags) && rc == -EINVAL; i++) {
		struct io_uring_params params = {
			.flags = flags[i] | IORING_SETUP_CQSIZE, .cq_entries = completions};

		rc = io_uring_queue_init_params(entries, ring, &params);
	}
	if (rc == -EPERM || rc == -ENOSYS || rc == -EACCES) {
		fprintf(stderr,
			"port %s: io_uring: %s; Linux 5.6 has it, `sysctl "
			"kernel.io_uring_disabled` "
			"must be 0, and containers often forbid it: use socket-vector there\n",
			port->port->name, strerror(-rc));
		return -EINVAL;
	}
	if (rc != 0)
		return packet_say(port, "io_uring", -rc);
	rc = io_uring_register_files(ring, &fd, 1);
	return rc == 0 ? 0 : packet_say(port, "io_uring: registering the socket", -rc);
}

/* The ring of provided buffers; without it (before Linux 5.19) there is no multishot. */
static bool open_buffers(struct uring_rx *rx)
{
	struct io_uring_buf_reg reg = {.ring_entries = BUFFERS, .bgid = BUFFER_GROUP};

	rx->buffers =
		aligned_alloc((size_t)sysconf(_SC_PAGESIZE), BUFFERS * sizeof(struct io_uring_buf));
	if (rx->buffers == NULL)
		return false;
	memset(rx->buffers, 0, BUFFERS * sizeof(struct io_uring_buf));
	reg.ring_addr = (uintptr_t)rx->buffers;
	if (io_uring_register_buf_ring(&rx->ring, &reg, 0) != 0)
		return false;
	io_uring_buf_ring_init(rx->buffers);
	for (unsigned i = 0; i < BUFFERS; i++)
		provide(rx, i, i);
	io_uring_buf_ring_advance(rx->buffers, BUFFERS);
	rx->message.msg_controllen = PACKET_CONTROL_BYTES;
	return true;
}

static int uring_open_rx(struct packet_port *port, struct packet_rx *base)
{
	struct uring_rx *rx = (struct uring_rx *)base;
	int rc = packet_rx_open(port, base);

	rx->batch = port->batch;
	rx->wave = 1;
	if (rc == 0)
		rc = open_ring(port, &rx->ring, BATCH_MAX, 2 * BUFFERS, base->fd);
	rx->has_ring = rc == 0;
	if (rc == 0)
		rc = rte_mempool_get_bulk(base->pool, (void **)rx->mbufs, BUFFERS);
	if (rc != 0)
		return rc;
	rx->nb_mbufs = BUFFERS;
	for (unsigned i = 0; i < BATCH_MAX; i++) {
		rx->rooms[i] = packet_rx_room(base, rx->mbufs[i]);
		rx->messages[i] = (struct msghdr){
			.msg_iov = &rx->rooms[i], .msg_iovlen = 1, .msg_control = rx->controls[i]};
	}
	rx->multishot = port->option && open_buffers(rx);
	return 0;
}

static int uring_open_tx(struct packet_port *port, struct packet_tx *base)
{
	struct uring_tx *tx = (struct uring_tx *)base;
	int rc = packet_tx_open(port, base);

	tx->batch = port->batch;
	if (rc == 0)
		rc = open_ring(port, &tx->ring, BATCH_MAX, 2 * BATCH_MAX, base->fd);
	tx->has_ring = rc == 0;
	return rc;
}

static void uring_close_rx(struct packet_rx *base)
{
	struct uring_rx *rx = (struct uring_rx *)base;

	if (rx->has_ring)
		io_uring_queue_exit(&rx->ring);
	rte_pktmbuf_free_bulk(rx->mbufs, rx->nb_mbufs);
	free(rx->buffers);
}

static void uring_close_tx(struct packet_tx *base)
{
	struct uring_tx *tx = (struct uring_tx *)base;

	if (tx->has_ring)
		io_uring_queue_exit(&tx->ring);
}

static void uring_parse_own(struct packet_port *port, const struct config_node *node)
{
	port->option = config_bool(node, "multishot", true);
}

static const struct packet_method uring_method = {
	.rx_bytes = sizeof(struct uring_rx),
	.tx_bytes = sizeof(struct uring_tx),
	.batch = BATCH_DEFAULT,
	.rx_ring = BUFFERS,
	.rx_queues_max = PORT_QUEUES_MAX,
	.parse = uring_parse_own,
	.open_rx = uring_open_rx,
	.open_tx = uring_open_tx,
	.close_rx = uring_close_rx,
	.close_tx = uring_close_tx,
};

PACKET_DRIVER(uring, "io_uring", "batch", "multishot")
