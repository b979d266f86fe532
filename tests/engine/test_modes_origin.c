/* SPDX-License-Identifier: BSD-3-Clause */
/* Modes that make frames of their own: txonly and flowgen. */
#include "harness.h"

#include <rte_ip.h>
#include <rte_udp.h>

#define DESTINATION 0xc6120002 /* 198.18.0.2; RTE_IPV4() shifts into the sign */

/* Checks one frame in full but for the addresses given. */
static void check_frame(const struct frame *got, unsigned port, uint32_t dst, unsigned length)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(got->bytes + 14);
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(ip + 1);
	uint8_t peer[6] = {2, 0, 0, 0, 0, (uint8_t)port};

	CHECK_EQUAL(got->length, length);
	CHECK(memcmp(got->bytes, peer, 6) == 0);
	CHECK(memcmp(got->bytes + 6, &port_at(port)->mac, 6) == 0);
	CHECK_EQUAL(got->bytes[12] << 8 | got->bytes[13], 0x0800);
	CHECK(frame_checksum_ok(got->bytes + 14));
	CHECK_EQUAL(rte_be_to_cpu_16(ip->total_length), length - 14);
	CHECK_EQUAL(ip->time_to_live, 64);
	CHECK_EQUAL(rte_be_to_cpu_32(ip->dst_addr), dst);
	CHECK_EQUAL(rte_be_to_cpu_16(udp->dgram_len), length - 34);
	CHECK(udp->dgram_cksum != 0);
	CHECK_EQUAL(rte_ipv4_udptcp_cksum_verify(ip, udp), 0);
	for (unsigned i = 42; i < length; i++)
		CHECK_EQUAL(got->bytes[i], 0);
}

static unsigned check_all(unsigned port, unsigned length)
{
	struct frame frame;
	unsigned count = 0;

	for (; harness_get(port, &frame); count++)
		check_frame(&frame, port, DESTINATION, length);
	return count;
}

static void txonly(void)
{
	for (unsigned round = 0; round < 100; round++) {
		harness_walk();
		CHECK_EQUAL(check_all(0, 60), 64);
		CHECK_EQUAL(check_all(1, 60), 64);
		CHECK(harness_balanced());
	}
	CHECK_EQUAL(harness_originated(), 100 * 2 * 64);
}

/* Frames that the port does not take are kept, and none is made beyond them. */
static void txonly_full(void)
{
	harness_tx_full(0, true);
	for (unsigned round = 0; round < 10; round++) {
		harness_walk();
		CHECK_EQUAL(harness_held(), 64);
		CHECK(harness_balanced());
	}
	CHECK_EQUAL(check_all(0, 1514), 0);
	harness_tx_full(0, false);
	harness_walk();
	CHECK_EQUAL(harness_held(), 0);
	CHECK_EQUAL(check_all(0, 1514), 64);
	CHECK_EQUAL(check_all(1, 1514), 64 * 11);
	/* Until all of the port's buffers are in use: it continues as they are freed. */
	for (unsigned round = 0; round < 200; round++)
		harness_walk();
	CHECK(harness_balanced());
	CHECK(check_all(0, 1514) > 0);
	harness_flush();
	harness_walk();
	CHECK(check_all(0, 1514) > 0);
	harness_flush();
}

static void flowgen_walk(unsigned flows)
{
	unsigned next = 0;
	struct frame frame;

	for (unsigned round = 0; round < 3 * flows / 64 + 2; round++) {
		harness_walk();
		for (; harness_get(1, &frame); next = (next + 1) % flows)
			check_frame(&frame, 1, RTE_IPV4(10, 253, 0, 0) + next, 60);
		harness_flush();
	}
	/* Received frames are consumed. */
	frame_ip4(&frame, 0, 1, 2, 64, 20);
	CHECK_REASON("rxonly", "received", 0, &frame);
	frame.length = 3;
	CHECK_REASON("rxonly", "received", 1, &frame);
	harness_flush();
}

static void flowgen(void)
{
	flowgen_walk(1024);
}

static void flowgen_few(void)
{
	flowgen_walk(5);
}

static void flowgen_many(void)
{
	flowgen_walk(65536);
}

static const struct harness_case cases[] = {
	{"txonly: each frame", txonly, HARNESS_MODE(2, "txonly", NULL)},
	{"txonly: a port that is full", txonly_full,
		HARNESS_MODE(2, "txonly", "{\"frame_bytes\": 1518}")},
	{"flowgen: 1,024 flows", flowgen, HARNESS_MODE(2, "flowgen", NULL)},
	{"flowgen: 5 flows", flowgen_few, HARNESS_MODE(2, "flowgen", "{\"flows\": 5}")},
	{"flowgen: 65,536 flows", flowgen_many, HARNESS_MODE(2, "flowgen", "{\"flows\": 65536}")},
};
HARNESS_MAIN(cases)
