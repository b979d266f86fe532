/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode l2switch: learning, moving, ageing, flooding, VLANs; every copy accounted for. */
#include "harness.h"

#define ROUNDS 60000
#define PORTS 4
#define NONE 0u
#define ALL_BUT(port) (((1u << PORTS) - 1) & ~(1u << (port)))

static unsigned seed = 20250303;

static unsigned any(unsigned below)
{
	return (unsigned)rand_r(&seed) % below;
}

/* A frame from station to station, tagged unless the VLAN is 0. */
static void make(struct frame *frame, unsigned from, unsigned to, unsigned vlan)
{
	memset(frame, 0, sizeof(*frame));
	frame->bytes[0] = frame->bytes[6] = 2;
	frame->bytes[5] = (uint8_t)to;
	frame->bytes[11] = (uint8_t)from;
	frame->bytes[12] = 0x08;
	frame->length = 60;
	if (vlan == 0)
		return;
	frame->bytes[12] = 0x81;
	frame->bytes[14] = (uint8_t)(0xa0 | vlan >> 8); /* with a priority */
	frame->bytes[15] = (uint8_t)vlan;
	frame->bytes[16] = 0x08;
}

/* The frame comes out of those ports (a bit each) as it went in, and of no other. */
static void check_goes(unsigned port, const struct frame *frame, unsigned ports)
{
	struct frame got;

	harness_send(port, frame);
	for (unsigned i = 0; i < PORTS; i++) {
		bool wanted = (ports & 1u << i) != 0;

		CHECK_EQUAL(harness_get(i, &got), wanted);
		if (wanted)
			CHECK(frame_same(&got, frame));
	}
	CHECK_EQUAL(harness_flush(), 0);
	CHECK(harness_balanced());
}

static void check(unsigned port, unsigned from, unsigned to, unsigned vlan, unsigned ports)
{
	struct frame frame;

	make(&frame, from, to, vlan);
	check_goes(port, &frame, ports);
}

static void learns_and_moves(void)
{
	struct frame frame;

	check(0, 10, 11, 0, ALL_BUT(0));
	check(1, 11, 10, 0, 1u << 0);
	check(0, 10, 11, 0, 1u << 1);
	/* 11 moves to port 3. */
	check(3, 11, 99, 0, ALL_BUT(3));
	check(0, 10, 11, 0, 1u << 3);
	/* Never back to where it came from. */
	make(&frame, 12, 11, 0);
	CHECK_REASON("l2switch", "destination is where it came from", 3, &frame);
	CHECK_EQUAL(harness_flush(), 0);
	/* Groups are flooded, known or not. */
	make(&frame, 10, 0, 0);
	memset(frame.bytes, 0xff, 6);
	check_goes(0, &frame, ALL_BUT(0));
	memcpy(frame.bytes, "\x01\x00\x5e\0\0\x01", 6);
	check_goes(0, &frame, ALL_BUT(0));
	/* An address of zeros is no station's. */
	memset(frame.bytes, 0, 6);
	check_goes(0, &frame, ALL_BUT(0));
}

static void ages(void)
{
	check(1, 11, 10, 0, ALL_BUT(1));
	check(0, 10, 11, 0, 1u << 1);
	harness_seconds(200);
	check(0, 10, 11, 0, 1u << 1);
	harness_seconds(150); /* 11 was seen 350 s ago, 10 150 s */
	check(0, 10, 11, 0, ALL_BUT(0));
	check(1, 11, 10, 0, 1u << 0);
	harness_seconds(299);
	check(0, 10, 11, 0, 1u << 1);
	for (unsigned i = 0; i < 400; i++)
		harness_seconds(1);
	check(1, 11, 10, 0, ALL_BUT(1));
}

static void ages_soon(void)
{
	check(1, 11, 10, 0, ALL_BUT(1));
	check(0, 10, 11, 0, 1u << 1);
	harness_seconds(0.6);
	check(0, 10, 11, 0, ALL_BUT(0));
}

static void vlans(void)
{
	struct frame frame;

	/* 20 is of ports 0, 1, 3; 30 of ports 1 and 2; 40 of port 2; others of all. */
	check(0, 10, 11, 20, 1u << 1 | 1u << 3);
	check(1, 11, 10, 20, 1u << 0);
	check(1, 11, 10, 30, 1u << 2);
	check(1, 11, 10, 50, ALL_BUT(1));
	check(2, 11, 10, 0, ALL_BUT(2));
	/* The same station on another port of each VLAN. */
	check(3, 12, 11, 20, 1u << 1);
	check(0, 12, 11, 0, 1u << 2);
	make(&frame, 10, 11, 20);
	CHECK_REASON("l2switch", "port is not in the vlan", 2, &frame);
	make(&frame, 10, 11, 40);
	CHECK_REASON("l2switch", "no other port in the vlan", 2, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void broken(void)
{
	struct frame frame;

	for (unsigned length = 0; length < 18; length++) {
		make(&frame, 10, 11, 7);
		frame.length = length;
		CHECK_REASON("l2switch",
			length < 14 ? "shorter than an Ethernet header"
				    : "shorter than its vlan tag",
			0, &frame);
	}
	make(&frame, 10, 11, 4095);
	CHECK_REASON("l2switch", "reserved vlan id", 0, &frame);
	make(&frame, 10, 11, 0);
	frame.bytes[6] = 3;
	CHECK_REASON("l2switch", "source mac is no station's", 0, &frame);
	memset(frame.bytes + 6, 0, 6);
	CHECK_REASON("l2switch", "source mac is no station's", 0, &frame);
	for (unsigned last = 0; last < 32; last++) {
		make(&frame, 10, 0, 0);
		memcpy(frame.bytes, "\x01\x80\xc2\0\0", 5);
		frame.bytes[5] = (uint8_t)last;
		if (last < 16)
			CHECK_REASON("l2switch", "link-local group address", 0, &frame);
		else
			check_goes(0, &frame, ALL_BUT(0));
	}
	CHECK_EQUAL(harness_flush(), 0);
}

/* Many frames of a few stations at once: order is kept, and nothing is lost. */
static void vectors(void)
{
	struct frame frame, got;
	unsigned next = 0;

	check(1, 11, 10, 0, ALL_BUT(1));
	for (unsigned i = 0; i < 1000; i++) {
		make(&frame, 10, i % 7 == 3 ? 77 : 11, 0);
		frame.bytes[20] = (uint8_t)(i >> 8);
		frame.bytes[21] = (uint8_t)i;
		harness_put(0, &frame);
	}
	harness_walk();
	CHECK(harness_balanced());
	for (; harness_get(2, &got); next++)
		CHECK_EQUAL((got.bytes[20] << 8 | got.bytes[21]) % 7, 3);
	CHECK_EQUAL(next, 143);
	for (next = 0; harness_get(1, &got);)
		if (got.bytes[5] == 11) {
			next += next % 7 == 3;
			CHECK_EQUAL(got.bytes[20] << 8 | got.bytes[21], next);
			next++;
		}
	harness_flush();
}

static void random_frames(void)
{
	struct frame frame;

	for (unsigned round = 0; round < ROUNDS; round++) {
		make(&frame, any(64), any(64), any(3) == 0 ? 10 * any(6) : 0);
		if (any(8) == 0)
			frame.bytes[any(18)] ^= (uint8_t)(1 << any(8));
		if (any(16) == 0)
			frame.length = any(61);
		harness_put(any(PORTS), &frame);
		if (any(64) != 0)
			continue;
		harness_tx_full(2, any(10) == 0);
		harness_walk();
		CHECK(harness_balanced());
		harness_flush();
		harness_seconds(0.1);
	}
	harness_walk();
	harness_flush();
}

#define VLANS \
	"{\"ageing_seconds\": 0.5, \"stations\": 16, \"vlans\": [" \
	"{\"id\": 20, \"ports\": [\"e0\", \"e1\", \"e3\"]}, " \
	"{\"id\": 30, \"ports\": [\"e1\", \"e2\"]}, {\"id\": 40, \"ports\": [\"e2\"]}]}"

static const struct harness_case cases[] = {
	{"l2switch: learns, floods, moves", learns_and_moves,
		HARNESS_MODE(PORTS, "l2switch", NULL)},
	{"l2switch: ages", ages, HARNESS_MODE(PORTS, "l2switch", NULL)},
	{"l2switch: ages as configured", ages_soon, HARNESS_MODE(PORTS, "l2switch", VLANS)},
	{"l2switch: VLANs are kept separate", vlans, HARNESS_MODE(PORTS, "l2switch", VLANS)},
	{"l2switch: broken and reserved frames", broken, HARNESS_MODE(PORTS, "l2switch", NULL)},
	{"l2switch: vectors", vectors, HARNESS_MODE(PORTS, "l2switch", NULL)},
	{"l2switch: random frames", random_frames, HARNESS_MODE(PORTS, "l2switch", VLANS)},
};
HARNESS_MAIN(cases)
