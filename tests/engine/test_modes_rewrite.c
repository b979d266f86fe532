/* SPDX-License-Identifier: BSD-3-Clause */
/* Modes that send each frame out of the port's peer: mac, l2fwd, xconnect, csum, rxonly. */
#include "harness.h"

#include <rte_ip.h>

#define ROUNDS 20000

static unsigned seed = 20250301;

static unsigned any(unsigned below)
{
	return (unsigned)rand_r(&seed) % below;
}

static void put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* The slow and plain sum of RFC 1071. */
static unsigned sum(const uint8_t *bytes, unsigned count, unsigned total)
{
	for (unsigned i = 0; i < count; i++)
		total += (unsigned)bytes[i] << (i % 2 == 0 ? 8 : 0);
	while (total >> 16 != 0)
		total = (total & 0xffff) + (total >> 16);
	return total;
}

/* A UDP or TCP packet at `l3` with wrong checksums. Returns its length. */
static unsigned make_ip(uint8_t *l3, unsigned version, uint8_t protocol, unsigned payload)
{
	unsigned header = version == 4 ? 20 : 40, upper = (protocol == 6 ? 20 : 8) + payload;

	for (unsigned i = 0; i < header + upper; i++)
		l3[i] = (uint8_t)any(256);
	if (version == 4) {
		l3[0] = 0x45;
		put16(l3 + 2, header + upper);
		put16(l3 + 6, 0x4000);
		l3[9] = protocol;
	} else {
		l3[0] = 0x60;
		put16(l3 + 4, upper);
		l3[6] = protocol;
	}
	if (protocol == 17)
		put16(l3 + header + 6, 0x1234);
	return header + upper;
}

/* Makes the checksums of such a packet right. */
static void right_sums(uint8_t *l3, unsigned version, uint8_t protocol, unsigned length)
{
	unsigned header = version == 4 ? 20 : 40, upper = length - header, pseudo, checksum;
	uint8_t *at = l3 + header + (protocol == 6 ? 16 : 6);

	if (version == 4)
		frame_checksum(l3);
	pseudo = version == 4 ? sum(l3 + 12, 8, 0) : sum(l3 + 8, 32, 0);
	put16(at, 0);
	checksum = 0xffff ^ sum(l3 + header, upper, pseudo + protocol + upper);
	put16(at, checksum == 0 && protocol == 17 ? 0xffff : checksum);
}

/* Frames that enter at e0 must leave e1 with these addresses, and otherwise unchanged. */
static void check_through(const struct frame *in, struct frame *wanted, const char *peer)
{
	struct frame got;

	memcpy(wanted->bytes, peer, 6);
	memcpy(wanted->bytes + 6, &port_at(1)->mac, 6);
	harness_send(0, in);
	CHECK(harness_get(1, &got));
	CHECK(frame_same(&got, wanted));
	CHECK_EQUAL(harness_flush(), 0);
}

static void any_bytes(struct frame *frame, unsigned length)
{
	memset(frame, 0, sizeof(*frame));
	for (unsigned i = 0; i < length; i++)
		frame->bytes[i] = (uint8_t)any(256);
	frame->length = length;
}

/* Each length, from nothing at all on. */
static void check_lengths(const char *node, const char *peer)
{
	struct frame frame, wanted;

	for (unsigned length = 0; length < 100; length++) {
		any_bytes(&frame, length);
		/* An EtherType that csum does not know. */
		put16(frame.bytes + 12, 0x88b5);
		frame.bytes[length] = 0;
		wanted = frame;
		if (length >= 14)
			check_through(&frame, &wanted, peer);
		else
			CHECK_REASON(node, "shorter than an Ethernet header", 0, &frame);
	}
	CHECK_EQUAL(harness_flush(), 0);
}

/* A vector with a runt in it: the others pass, in order. */
static void check_mixed(void)
{
	struct frame frame, got;

	for (unsigned i = 0; i < 300; i++) {
		frame_ip4(&frame, 0, i, 2, 64, 20);
		if (i % 50 == 7)
			frame.length = 13;
		harness_put(0, &frame);
	}
	harness_walk();
	for (unsigned i = 0; i < 300; i++) {
		if (i % 50 == 7)
			continue;
		CHECK(harness_get(1, &got));
		CHECK_EQUAL(got.bytes[28] << 8 | got.bytes[29], i);
	}
	CHECK_EQUAL(harness_flush(), 0);
	harness_tx_full(1, true);
	frame_ip4(&frame, 0, 1, 2, 64, 20);
	CHECK_REASON("port-tx", "no free tx slots", 0, &frame);
	harness_tx_full(1, false);
}

static void mac_default(void)
{
	check_lengths("mac", "\x02\0\0\0\0\x01");
	check_mixed();
}

static void mac_peers(void)
{
	check_lengths("mac", "\x50\x7c\x6f\x20\x30\x71");
}

static void l2fwd_updating(void)
{
	check_lengths("l2fwd", "\x02\0\0\0\0\x01");
	check_mixed();
}

static void check_unseen(unsigned from, unsigned to)
{
	struct frame frame, got;

	for (unsigned length = 1; length < 80; length++) {
		any_bytes(&frame, length);
		harness_send(from, &frame);
		CHECK(harness_get(to, &got));
		CHECK(frame_same(&got, &frame));
		CHECK_EQUAL(harness_flush(), 0);
	}
}

static void l2fwd_unseen(void)
{
	check_unseen(0, 1);
	check_unseen(1, 0);
}

static void xconnect_pairs(void)
{
	check_unseen(0, 2);
	check_unseen(2, 0);
	check_unseen(1, 3);
	check_unseen(3, 1);
}

static void xconnect_default(void)
{
	check_unseen(0, 1);
	check_unseen(3, 2);
}

static void rxonly(void)
{
	struct frame frame;

	for (unsigned length = 0; length < 80; length++) {
		any_bytes(&frame, length);
		CHECK_REASON("rxonly", "received", length % 2, &frame);
	}
	CHECK_EQUAL(harness_flush(), 0);
}

/* Ethernet header, `tags` VLAN tags, and the type. */
static unsigned make_link(struct frame *frame, unsigned tags, unsigned type)
{
	unsigned offset = 12;

	frame_ethernet(frame, 0, 0);
	for (unsigned i = 0; i < tags; i++, offset += 4) {
		put16(frame->bytes + offset, i == 0 && tags == 2 ? 0x88a8 : 0x8100);
		put16(frame->bytes + offset + 2, any(65536));
	}
	put16(frame->bytes + offset, type);
	return offset + 2;
}

static void csum_right(void)
{
	static const uint8_t protocols[] = {17, 6};
	struct frame frame, wanted;

	for (unsigned round = 0; round < 4000; round++) {
		unsigned version = any(2) == 0 ? 4 : 6;
		unsigned offset = make_link(&frame, any(3), version == 4 ? 0x0800 : 0x86dd);
		uint8_t protocol = protocols[any(2)];
		unsigned payload = any(4) == 0 ? any(1400) : any(60);
		unsigned bytes = make_ip(frame.bytes + offset, version, protocol, payload);
		unsigned padding = any(10);

		memset(frame.bytes + offset + bytes, 0x5a, padding);
		frame.length = offset + bytes + padding;
		wanted = frame;
		right_sums(wanted.bytes + offset, version, protocol, bytes);
		check_through(&frame, &wanted, "\x02\0\0\0\0\x01");
	}
}

/* The header's checksum is made right; the upper layer's is not touched. */
static void check_upper_untouched(const struct frame *frame)
{
	struct frame wanted = *frame;

	frame_checksum(wanted.bytes + 14);
	check_through(frame, &wanted, "\x02\0\0\0\0\x01");
}

static void csum_left_alone(void)
{
	struct frame frame, wanted;

	make_link(&frame, 0, 0x0800);
	frame.length = 14 + make_ip(frame.bytes + 14, 4, 17, 20);
	put16(frame.bytes + 20, 0x2000); /* first fragment */
	check_upper_untouched(&frame);
	put16(frame.bytes + 20, 0x0003); /* last fragment */
	check_upper_untouched(&frame);
	put16(frame.bytes + 20, 0);
	put16(frame.bytes + 40, 0); /* UDP without checksum */
	check_upper_untouched(&frame);
	frame.bytes[23] = 47; /* neither UDP nor TCP */
	check_upper_untouched(&frame);
	frame.bytes[23] = 6; /* less than a TCP header */
	frame.length = 14 + 39;
	put16(frame.bytes + 16, 39);
	check_upper_untouched(&frame);
	frame.bytes[14] = 0x55;
	wanted = frame;
	check_through(&frame, &wanted, "\x02\0\0\0\0\x01");
	frame.bytes[14] = 0x44;
	wanted = frame;
	check_through(&frame, &wanted, "\x02\0\0\0\0\x01");
	check_lengths("csum", "\x02\0\0\0\0\x01");
	check_mixed();
}

/* Truncated at each length, and anything at all: no byte behind the frame is touched. */
static void csum_random(void)
{
	struct frame frame, got;

	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned version = any(2) == 0 ? 4 : 6;
		unsigned offset = make_link(&frame, any(4), version == 4 ? 0x0800 : 0x86dd);

		make_ip(frame.bytes + offset, version, any(2) == 0 ? 17 : 6, 60);
		if (any(2) == 0)
			frame.bytes[offset + any(48)] ^= (uint8_t)(1 << any(8));
		frame.length = 14 + round % 120;
		harness_send(0, &frame);
		CHECK(harness_get(1, &got));
		CHECK_EQUAL(got.length, frame.length);
	}
}

static const struct harness_case cases[] = {
	{"mac: addresses, runts, order", mac_default, HARNESS_MODE(2, "mac", NULL)},
	{"mac: configured peers", mac_peers,
		HARNESS_MODE(
			2, "mac", "{\"peers\": [\"50:7c:6f:20:30:70\", \"50:7c:6f:20:30:71\"]}")},
	{"l2fwd: addresses, runts, order", l2fwd_updating, HARNESS_MODE(2, "l2fwd", NULL)},
	{"l2fwd: frames unseen", l2fwd_unseen,
		HARNESS_MODE(2, "l2fwd", "{\"mac_updating\": false}")},
	{"xconnect: configured pairs", xconnect_pairs,
		HARNESS_MODE(4, "xconnect", "{\"pairs\": [[\"e0\", \"e2\"], [\"e3\", \"e1\"]]}")},
	{"xconnect: adjacent pairs", xconnect_default, HARNESS_MODE(4, "xconnect", NULL)},
	{"rxonly: all is consumed", rxonly, HARNESS_MODE(2, "rxonly", NULL)},
	{"csum: IPv4, IPv6, UDP, TCP, VLAN", csum_right, HARNESS_MODE(2, "csum", NULL)},
	{"csum: what is left alone", csum_left_alone, HARNESS_MODE(2, "csum", NULL)},
	{"csum: truncated and mutated frames", csum_random, HARNESS_MODE(2, "csum", NULL)},
};
HARNESS_MAIN(cases)
