/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bare hand-over: one core fills mbufs with 64-byte frames and gives them over one
 * rte_ring to another, which counts their bytes, as every port does, and gives them back over
 * a second one. It has no ports, no descriptors and no copy: this is what our virtual card is
 * held against. Prints as well what is left if only pointers cross ("pointers_mpps"), and the
 * round trip of one cache line, which says how near the two CPUs are just now.
 */
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_pause.h>
#include <rte_ring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BURST 64
#define RING_SIZE 1024
#define BUFFERS 8191
#define CACHE 256
#define THROWS 2000
#define FRAME_BYTES 60
#define LINE_BYTES 64

static struct {
	uint32_t ball __rte_cache_aligned;
	bool frames __rte_cache_aligned;
	bool stop __rte_cache_aligned;
	uint64_t clocks[THROWS] __rte_cache_aligned;
} court;

static struct rte_ring *there, *back;
static struct rte_mempool *pool;
static volatile uint64_t bytes_there, bytes_back;

static uint64_t bytes_of(void **mbufs, unsigned count)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		/* The ring wrote `count` of them. NOLINTNEXTLINE(clang-analyzer-core.*) */
		bytes += ((struct rte_mbuf *)mbufs[i])->data_len;
	return bytes;
}

static void fill(void **mbufs)
{
	for (unsigned i = 0; i < BURST; i++) {
		struct rte_mbuf *mbuf = mbufs[i];

		rte_pktmbuf_reset(mbuf);
		mbuf->data_len = FRAME_BYTES;
		mbuf->pkt_len = FRAME_BYTES;
		memset(rte_pktmbuf_mtod(mbuf, void *), (int)i, LINE_BYTES);
	}
}

/* The far side: throws the ball back, then the packets. */
static int far_side(void *unused)
{
	void *mbufs[BURST];

	(void)unused;
	for (uint32_t i = 0; i < THROWS; i++) {
		while (__atomic_load_n(&court.ball, __ATOMIC_ACQUIRE) != 2 * i + 1)
			rte_pause();
		__atomic_store_n(&court.ball, 2 * i + 2, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&court.stop, __ATOMIC_RELAXED)) {
		unsigned count = rte_ring_sc_dequeue_burst(there, mbufs, BURST, NULL), given = 0;

		if (__atomic_load_n(&court.frames, __ATOMIC_RELAXED))
			bytes_there += bytes_of(mbufs, count);
		while (given < count && !__atomic_load_n(&court.stop, __ATOMIC_RELAXED))
			given +=
				rte_ring_sp_enqueue_burst(back, mbufs + given, count - given, NULL);
	}
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double roundtrip_ns(void)
{
	uint64_t median;

	for (uint32_t i = 0; i < THROWS; i++) {
		uint64_t start = rte_rdtsc();

		__atomic_store_n(&court.ball, 2 * i + 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(&court.ball, __ATOMIC_ACQUIRE) != 2 * i + 2)
			rte_pause();
		court.clocks[i] = rte_rdtsc() - start;
	}
	qsort(court.clocks, THROWS, sizeof(court.clocks[0]), by_size);
	median = court.clocks[THROWS / 2];
	return (double)median * 1e9 / (double)rte_get_tsc_hz();
}

static double handover_mpps(unsigned milliseconds, bool frames)
{
	uint64_t start = rte_rdtsc(), now, returned = 0;
	uint64_t length = rte_get_tsc_hz() * milliseconds / 1000;
	void *mbufs[BURST];

	__atomic_store_n(&court.frames, frames, __ATOMIC_RELAXED);
	do {
		unsigned count;

		if (rte_ring_free_count(there) >= BURST &&
			rte_mempool_get_bulk(pool, mbufs, BURST) == 0) {
			if (frames)
				fill(mbufs);
			(void)rte_ring_sp_enqueue_bulk(there, mbufs, BURST, NULL);
		}
		count = rte_ring_sc_dequeue_burst(back, mbufs, BURST, NULL);
		if (frames)
			bytes_back += bytes_of(mbufs, count);
		if (count > 0)
			rte_mempool_put_bulk(pool, mbufs, count);
		returned += count;
		now = rte_rdtsc();
	} while (now - start < length);
	return (double)returned * (double)rte_get_tsc_hz() / (double)(now - start) / 1e6;
}

/* DPDK leaves its runtime folder behind; nothing in it outlives the process. */
static void remove_runtime_dir(void)
{
	(void)rmdir(rte_eal_get_runtime_dir());
}

int main(int argc, char **argv)
{
	unsigned milliseconds = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	char lcores[64], prefix[64];
	char *eal[] = {argv[0], "--lcores", lcores, "--main-lcore", "0", "--no-huge", "--no-shconf",
		"-m", "64", "--no-pci", "--no-telemetry", "--log-level", "error", "--file-prefix",
		prefix, NULL};
	double ns, mpps, pointers;

	if (milliseconds == 0) {
		fprintf(stderr, "usage: linerate-handover CPU CPU MILLISECONDS\n");
		return 2;
	}
	snprintf(lcores, sizeof(lcores), "0@%d,1@%d", atoi(argv[1]), atoi(argv[2]));
	snprintf(prefix, sizeof(prefix), "linerate-handover-%d", getpid());
	if (rte_eal_init((int)RTE_DIM(eal) - 1, eal) < 0)
		return 1;
	/* Buffers small enough that several share a page: see docs/machine.md, Memory. */
	pool = rte_pktmbuf_pool_create(
		"handover", BUFFERS, CACHE, 0, RTE_PKTMBUF_HEADROOM + LINE_BYTES, SOCKET_ID_ANY);
	there = rte_ring_create("there", RING_SIZE, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	back = rte_ring_create("back", RING_SIZE, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (pool == NULL || there == NULL || back == NULL) {
		fprintf(stderr, "linerate-handover: out of memory\n");
		return 1;
	}
	rte_eal_remote_launch(far_side, NULL, 1);
	ns = roundtrip_ns();
	pointers = handover_mpps(milliseconds, false);
	mpps = handover_mpps(milliseconds, true);
	__atomic_store_n(&court.stop, true, __ATOMIC_RELAXED);
	rte_eal_mp_wait_lcore();
	printf("{\"mpps\": %.3f, \"pointers_mpps\": %.3f, \"roundtrip_ns\": %.1f}\n", mpps,
		pointers, ns);
	remove_runtime_dir();
	return 0;
}
