/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bare loops of the system calls that Linux port drivers are made of, on one interface: what a
 * driver is measured against, with nothing beside the call. See docs/linux-drivers.md.
 *
 *   linerate-socket-loops tx|rx send|sendmmsg|mmap|io_uring INTERFACE SECONDS [BATCH [BYTES]]
 *
 * Prints one JSON object: packets, and TSC cycles and system calls per packet of the calls that
 * moved some. Calls are timed by the vector of 256; those that took longer than 1.5 ms were
 * interrupted, and are left out, as in the engine.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <liburing.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <x86intrin.h>

#define VECTOR 256
#define FRAME_MAX 2048
#define SLOTS 2048
#define BLOCK_BYTES (128u << 10)
#define BLOCKS 64u
#define CONTROL_BYTES CMSG_SPACE(sizeof(struct tpacket_auxdata))
#define AWAY_SECONDS 0.0015

struct loop {
	int fd;
	unsigned batch, bytes;
	uint64_t syscalls;
	struct io_uring ring;
	struct mmsghdr messages[VECTOR];
	struct iovec vectors[VECTOR];
	uint8_t controls[VECTOR][CONTROL_BYTES];
	uint8_t *map;
	unsigned next; /* slot or block */
	struct io_uring_buf_ring *buffers;
	struct msghdr message;
	bool armed;
	uint8_t frames[VECTOR][FRAME_MAX];
	uint8_t provided[1024][FRAME_MAX];
};

/* Sends or receives up to a vector; returns how many. */
typedef unsigned (*step_t)(struct loop *loop);

static void die(const char *what)
{
	fprintf(stderr, "linerate-socket-loops: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void set(int fd, int level, int option, int value, const char *what)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)) != 0)
		die(what);
}

static void open_socket(struct loop *loop, const char *interface, bool receives)
{
	struct packet_mreq promiscuous = {.mr_type = PACKET_MR_PROMISC};
	int buffer = 4 << 20;

	promiscuous.mr_ifindex = (int)if_nametoindex(interface);
	loop->fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (loop->fd < 0)
		die("packet socket");
	if (promiscuous.mr_ifindex == 0)
		die(interface);
	if (receives) {
		set(loop->fd, SOL_SOCKET, SO_RCVBUFFORCE, buffer, "SO_RCVBUFFORCE");
		set(loop->fd, SOL_PACKET, PACKET_AUXDATA, 1, "PACKET_AUXDATA");
		set(loop->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
		setsockopt(loop->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
			sizeof(promiscuous));
	} else {
		set(loop->fd, SOL_SOCKET, SO_SNDBUFFORCE, buffer, "SO_SNDBUFFORCE");
		set(loop->fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS");
	}
}

static void bind_socket(const struct loop *loop, const char *interface, bool receives)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = receives ? htons(ETH_P_ALL) : 0,
		.sll_ifindex = (int)if_nametoindex(interface),
	};

	if (bind(loop->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		die("bind");
}

static unsigned send_step(struct loop *loop)
{
	unsigned sent = 0;

	for (unsigned i = 0; i < VECTOR; i++)
		sent += sendto(loop->fd, loop->frames[i], loop->bytes, MSG_DONTWAIT, NULL, 0) >= 0;
	loop->syscalls += VECTOR;
	return sent;
}

static unsigned sendmmsg_step(struct loop *loop)
{
	unsigned done = 0;

	while (done < VECTOR) {
		unsigned want = VECTOR - done < loop->batch ? VECTOR - done : loop->batch;
		int sent = sendmmsg(loop->fd, &loop->messages[done], want, MSG_DONTWAIT);

		loop->syscalls++;
		if (sent <= 0)
			break;
		done += (unsigned)sent;
	}
	return done;
}

static unsigned tx_mmap_step(struct loop *loop)
{
	unsigned filled = 0;

	while (filled < VECTOR) {
		struct tpacket2_hdr *slot =
			(struct tpacket2_hdr *)(loop->map + (size_t)loop->next * FRAME_MAX);

		if ((__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) &
			    (TP_STATUS_SEND_REQUEST | TP_STATUS_SENDING)) != 0)
			break;
		/* open_map() has set it. NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
		memcpy((uint8_t *)slot + TPACKET2_HDRLEN - sizeof(struct sockaddr_ll),
			loop->frames[filled], loop->bytes);
		slot->tp_len = loop->bytes;
		__atomic_store_n(&slot->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
		loop->next = (loop->next + 1) % SLOTS;
		filled++;
	}
	sendto(loop->fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
	loop->syscalls++;
	return filled;
}

static unsigned reap_sent(struct loop *loop)
{
	struct io_uring_cqe *cqe;
	unsigned head, seen = 0, sent = 0;

	io_uring_for_each_cqe(&loop->ring, head, cqe)
	{
		sent += cqe->res >= 0;
		seen++;
	}
	io_uring_cq_advance(&loop->ring, seen);
	return sent;
}

static unsigned tx_uring_step(struct loop *loop)
{
	for (unsigned i = 0; i < VECTOR; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&loop->ring);

		io_uring_prep_send(sqe, 0, loop->frames[i], loop->bytes, MSG_DONTWAIT);
		sqe->flags |= IOSQE_FIXED_FILE;
	}
	io_uring_submit_and_wait(&loop->ring, VECTOR);
	loop->syscalls++;
	return reap_sent(loop);
}

static unsigned recvmsg_step(struct loop *loop)
{
	unsigned received = 0;

	while (received < VECTOR) {
		struct msghdr *message = &loop->messages[received].msg_hdr;

		message->msg_controllen = CONTROL_BYTES;
		loop->syscalls++;
		if (recvmsg(loop->fd, message, MSG_DONTWAIT) < 0)
			break;
		received++;
	}
	return received;
}

static unsigned recvmmsg_step(struct loop *loop)
{
	unsigned done = 0;
	int received;

	do {
		for (unsigned i = 0; i < loop->batch; i++)
			loop->messages[i].msg_hdr.msg_controllen = CONTROL_BYTES;
		received = recvmmsg(loop->fd, loop->messages, loop->batch, MSG_DONTWAIT, NULL);
		loop->syscalls++;
		done += received > 0 ? (unsigned)received : 0;
	} while (received == (int)loop->batch && done + loop->batch <= VECTOR);
	return done;
}

/* One block, whatever it holds. */
static unsigned rx_mmap_step(struct loop *loop)
{
	struct tpacket_block_desc *block =
		(struct tpacket_block_desc *)(loop->map + (size_t)loop->next * BLOCK_BYTES);
	struct tpacket3_hdr *header;
	unsigned count;

	if (loop->map == NULL || (__atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE) &
					 TP_STATUS_USER) == 0)
		return 0;
	count = block->hdr.bh1.num_pkts;
	header = (struct tpacket3_hdr *)((uint8_t *)block + block->hdr.bh1.offset_to_first_pkt);
	for (unsigned i = 0; i < count; i++) {
		memcpy(loop->frames[i % VECTOR], (uint8_t *)header + header->tp_mac,
			header->tp_snaplen);
		header = (struct tpacket3_hdr *)((uint8_t *)header + header->tp_next_offset);
	}
	__atomic_store_n(&block->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	loop->next = (loop->next + 1) % BLOCKS;
	return count;
}

static void provide(struct loop *loop, unsigned id, unsigned offset)
{
	if (loop->buffers == NULL)
		return;
	io_uring_buf_ring_add(loop->buffers, loop->provided[id], FRAME_MAX, (unsigned short)id,
		io_uring_buf_ring_mask(1024), (int)offset);
}

static void arm(struct loop *loop)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&loop->ring);

	io_uring_prep_recvmsg_multishot(sqe, 0, &loop->message, 0);
	sqe->flags |= IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT;
	io_uring_submit(&loop->ring);
	loop->syscalls++;
	loop->armed = true;
}

static unsigned rx_uring_step(struct loop *loop)
{
	struct io_uring_cqe *cqe;
	unsigned head, seen = 0, received = 0;

	if (!loop->armed) {
		arm(loop);
	} else if ((__atomic_load_n(loop->ring.sq.kflags, __ATOMIC_RELAXED) &
			   (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0) {
		io_uring_get_events(&loop->ring);
		loop->syscalls++;
	}
	io_uring_for_each_cqe(&loop->ring, head, cqe)
	{
		if (seen++ == VECTOR - 1)
			break;
		if ((cqe->flags & IORING_CQE_F_MORE) == 0)
			loop->armed = false;
		if ((cqe->flags & IORING_CQE_F_BUFFER) != 0)
			provide(loop, cqe->flags >> IORING_CQE_BUFFER_SHIFT, received++);
	}
	if (received != 0)
		io_uring_buf_ring_advance(loop->buffers, (int)received);
	io_uring_cq_advance(&loop->ring, seen);
	return received;
}

static void open_map(struct loop *loop, bool receives)
{
	int version = receives ? TPACKET_V3 : TPACKET_V2;
	struct tpacket_req3 req = {
		.tp_block_size = BLOCK_BYTES,
		.tp_block_nr = receives ? BLOCKS : SLOTS / (BLOCK_BYTES / FRAME_MAX),
		.tp_frame_size = FRAME_MAX,
		.tp_retire_blk_tov = 1,
	};

	req.tp_frame_nr = req.tp_block_nr * (BLOCK_BYTES / FRAME_MAX);
	set(loop->fd, SOL_PACKET, PACKET_VERSION, version, "PACKET_VERSION");
	if (setsockopt(loop->fd, SOL_PACKET, receives ? PACKET_RX_RING : PACKET_TX_RING, &req,
		    receives ? sizeof(req) : sizeof(struct tpacket_req)) != 0)
		die("ring");
	loop->map = mmap(NULL, (size_t)req.tp_block_nr * BLOCK_BYTES, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_POPULATE, loop->fd, 0);
	if (loop->map == MAP_FAILED)
		die("mmap");
}

static void open_uring(struct loop *loop, bool receives)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			 IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_CQSIZE,
		.cq_entries = 2048,
	};
	struct io_uring_buf_reg reg = {.ring_entries = 1024};

	if (io_uring_queue_init_params(VECTOR, &loop->ring, &params) != 0 ||
		io_uring_register_files(&loop->ring, &loop->fd, 1) != 0)
		die("io_uring (this loop needs Linux 6.1)");
	if (!receives)
		return;
	loop->buffers = aligned_alloc(4096, 1024 * sizeof(struct io_uring_buf));
	if (loop->buffers == NULL)
		die("memory");
	memset(loop->buffers, 0, 1024 * sizeof(struct io_uring_buf));
	reg.ring_addr = (uintptr_t)loop->buffers;
	if (io_uring_register_buf_ring(&loop->ring, &reg, 0) != 0)
		die("provided buffers");
	for (unsigned i = 0; i < 1024; i++)
		provide(loop, i, i);
	io_uring_buf_ring_advance(loop->buffers, 1024);
	loop->message.msg_controllen = CONTROL_BYTES;
}

/* The frame of mode txonly: the kernel's work on a frame depends on its content. */
static void make_frame(uint8_t *frame, unsigned bytes)
{
	static const uint8_t ethernet[] = {2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 8, 0};
	struct iphdr ip = {
		.version = 4,
		.ihl = 5,
		.tot_len = htons((uint16_t)(bytes - sizeof(ethernet))),
		.ttl = 64,
		.protocol = IPPROTO_UDP,
		.saddr = htonl(0xc6120001), /* 198.18.0.1 and .2: RFC 2544, C.2.2 */
		.daddr = htonl(0xc6120002),
	};
	struct udphdr udp = {
		.source = htons(9),
		.dest = htons(9),
		.len = htons((uint16_t)(bytes - sizeof(ethernet) - sizeof(ip))),
	};
	uint32_t sum = 0;

	for (unsigned i = 0; i < sizeof(ip) / 2; i++)
		sum += ((const uint16_t *)&ip)[i];
	sum = (sum & 0xffff) + (sum >> 16);
	ip.check = (uint16_t) ~(sum + (sum >> 16));
	memcpy(frame, ethernet, sizeof(ethernet));
	memcpy(frame + sizeof(ethernet), &ip, sizeof(ip));
	memcpy(frame + sizeof(ethernet) + sizeof(ip), &udp, sizeof(udp));
}

static void prepare(struct loop *loop, bool receives)
{
	for (unsigned i = 0; i < VECTOR; i++) {
		make_frame(loop->frames[i], loop->bytes);
		loop->vectors[i] =
			(struct iovec){loop->frames[i], receives ? FRAME_MAX : loop->bytes};
		loop->messages[i].msg_hdr = (struct msghdr){
			.msg_iov = &loop->vectors[i],
			.msg_iovlen = 1,
			.msg_control = receives ? loop->controls[i] : NULL,
			.msg_controllen = receives ? CONTROL_BYTES : 0,
		};
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void run(struct loop *loop, step_t step, double seconds)
{
	uint64_t clocks = 0, packets = 0, timed = 0, syscalls = 0, first_tsc = __rdtsc();
	double began = now(), ended = began, tsc_hz = 2e9;

	for (unsigned i = 0; ended - began < seconds; i++) {
		uint64_t before = loop->syscalls, start = __rdtsc(), spent;
		unsigned moved = step(loop);

		spent = __rdtsc() - start;
		packets += moved;
		if (moved != 0 && (double)spent < AWAY_SECONDS * tsc_hz) {
			clocks += spent;
			timed += moved;
			syscalls += loop->syscalls - before;
		}
		if (i % 64 == 0) {
			ended = now();
			if (ended - began > 0.01)
				tsc_hz = (double)(__rdtsc() - first_tsc) / (ended - began);
		}
	}
	printf("{\"packets\": %llu, \"seconds\": %.3f, \"pps\": %.0f, \"clocks_per_packet\": %.1f, "
	       "\"syscalls_per_packet\": %.4f}\n",
		(unsigned long long)packets, ended - began, (double)packets / (ended - began),
		timed == 0 ? 0 : (double)clocks / (double)timed,
		timed == 0 ? 0 : (double)syscalls / (double)timed);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		step_t tx, rx;
	} methods[] = {
		{"send", send_step, recvmsg_step},
		{"sendmmsg", sendmmsg_step, recvmmsg_step},
		{"mmap", tx_mmap_step, rx_mmap_step},
		{"io_uring", tx_uring_step, rx_uring_step},
	};
	static struct loop loop = {.batch = 10, .bytes = 60};
	bool receives = argc > 1 && strcmp(argv[1], "rx") == 0;

	for (unsigned i = 0; argc >= 5 && i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (strcmp(methods[i].name, argv[2]) != 0)
			continue;
		if (argc > 5)
			loop.batch = (unsigned)strtoul(argv[5], NULL, 10);
		if (argc > 6)
			loop.bytes = (unsigned)strtoul(argv[6], NULL, 10);
		if (loop.batch - 1 >= VECTOR || loop.bytes - 42 > 1472)
			break;
		open_socket(&loop, argv[3], receives);
		if (methods[i].tx == tx_mmap_step)
			open_map(&loop, receives);
		if (methods[i].tx == tx_uring_step)
			open_uring(&loop, receives);
		bind_socket(&loop, argv[3], receives);
		prepare(&loop, receives);
		run(&loop, receives ? methods[i].rx : methods[i].tx, strtod(argv[4], NULL));
		return 0;
	}
	fprintf(stderr, "usage: linerate-socket-loops tx|rx send|sendmmsg|mmap|io_uring INTERFACE "
			"SECONDS [BATCH (1 to 256) [BYTES (42 to 1514)]]\n");
	return 2;
}
