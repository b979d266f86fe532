/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode icmpecho: answers byte for byte, everything else dropped by name. */
#include "harness.h"

#include <rte_ip.h>

#define HOST RTE_IPV4(10, 0, 0, 7)
#define ASKED 0xc0000201 /* 192.0.2.1; RTE_IPV4() shifts into the sign */
#define HOST_MAC "02:11:22:33:44:55"
#define ROUNDS 30000

static unsigned seed = 20250302;

static unsigned any(unsigned below)
{
	return (unsigned)rand_r(&seed) % below;
}

static void icmp_checksum(uint8_t *icmp, unsigned count)
{
	uint32_t sum = 0;

	icmp[2] = icmp[3] = 0;
	for (unsigned i = 0; i < count; i++)
		sum += (uint32_t)icmp[i] << (i % 2 == 0 ? 8 : 0);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	icmp[2] = (uint8_t)(~sum >> 8);
	icmp[3] = (uint8_t)~sum;
}

static void make_echo(struct frame *frame, uint32_t target, unsigned payload)
{
	uint8_t *icmp = frame->bytes + 34;

	frame_ip4(frame, 0, HOST, target, 61, payload);
	frame->bytes[23] = 1;
	frame_checksum(frame->bytes + 14);
	memset(icmp, 0, 8);
	icmp[0] = 8;
	icmp[4] = 0x12;
	icmp[7] = 1;
	icmp_checksum(icmp, 8 + payload);
}

/* Puts a tag behind the addresses. */
static void tag(struct frame *frame)
{
	memmove(frame->bytes + 16, frame->bytes + 12, frame->length - 12);
	memcpy(frame->bytes + 12, "\x81\x00\x60\x0a", 4);
	frame->length += 4;
}

static void turned(struct frame *frame)
{
	memcpy(frame->bytes, frame->bytes + 6, 6);
	memcpy(frame->bytes + 6, &port_at(0)->mac, 6);
}

static void check_answer(const struct frame *frame, const struct frame *wanted, const char *reason)
{
	struct frame got;

	CHECK_REASON("icmpecho", reason, 0, frame);
	CHECK(harness_get(0, &got));
	CHECK(frame_same(&got, wanted));
	CHECK_EQUAL(harness_flush(), 0);
}

static void arp(void)
{
	struct frame frame, wanted;

	frame_arp(&frame, 0, 1, HOST_MAC, HOST, ASKED);
	frame.length = 60;
	wanted = frame;
	turned(&wanted);
	wanted.bytes[21] = 2;
	memcpy(wanted.bytes + 32, frame.bytes + 22, 6); /* target: the asker */
	memcpy(wanted.bytes + 22, &port_at(0)->mac, 6);
	memcpy(wanted.bytes + 28, frame.bytes + 38, 4);
	memcpy(wanted.bytes + 38, frame.bytes + 28, 4);
	check_answer(&frame, &wanted, "arp request answered");
	tag(&frame);
	tag(&wanted);
	check_answer(&frame, &wanted, "arp request answered");
	frame_arp(&frame, 0, 2, HOST_MAC, HOST, ASKED);
	CHECK_REASON("icmpecho", "no arp request for an ip4 address", 0, &frame);
	frame_arp(&frame, 0, 1, HOST_MAC, HOST, ASKED);
	frame.bytes[18] = 8;
	CHECK_REASON("icmpecho", "no arp request for an ip4 address", 0, &frame);
}

static void echo(void)
{
	struct frame frame, wanted;

	for (unsigned payload = 0; payload < 1400; payload += 1 + payload / 20) {
		make_echo(&frame, ASKED, payload);
		wanted = frame;
		turned(&wanted);
		memcpy(wanted.bytes + 26, frame.bytes + 30, 4);
		memcpy(wanted.bytes + 30, frame.bytes + 26, 4);
		wanted.bytes[34] = 0;
		icmp_checksum(wanted.bytes + 34, 8 + payload);
		check_answer(&frame, &wanted, "echo request answered");
		tag(&frame);
		tag(&wanted);
		check_answer(&frame, &wanted, "echo request answered");
	}
	/* A group does not answer: a neighbour of the asker does. */
	make_echo(&frame, 0xe0000001, 8);
	wanted = frame;
	turned(&wanted);
	memcpy(wanted.bytes + 26, "\x0a\0\0\x05", 4);
	memcpy(wanted.bytes + 30, frame.bytes + 26, 4);
	frame_checksum(wanted.bytes + 14);
	wanted.bytes[34] = 0;
	icmp_checksum(wanted.bytes + 34, 16);
	check_answer(&frame, &wanted, "echo request answered");
}

static void check_changed(unsigned offset, uint8_t value, bool sums, const char *reason)
{
	struct frame frame;

	make_echo(&frame, ASKED, 20);
	frame.bytes[offset] = value;
	if (sums) {
		frame_checksum(frame.bytes + 14);
		icmp_checksum(frame.bytes + 34, 28);
	}
	CHECK_REASON("icmpecho", reason, 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void others(void)
{
	check_changed(6, 0x01, false, "source mac is a group's");
	check_changed(13, 0x06 + 7, false, "unknown ethertype");
	check_changed(14, 0x65, false, "malformed ip4 header");
	check_changed(14, 0x44, false, "malformed ip4 header");
	check_changed(17, 19, false, "malformed ip4 header");
	check_changed(17, 27, true, "malformed ip4 header");
	check_changed(17, 49, true, "truncated");
	check_changed(22, 60, false, "bad ip4 checksum");
	check_changed(23, 17, true, "not icmp");
	check_changed(20, 0x20, true, "fragment");
	check_changed(34, 0, true, "no echo request");
	check_changed(35, 1, true, "no echo request");
	check_changed(50, 0x55, false, "bad icmp checksum");
}

static void truncated(void)
{
	struct frame frame;

	for (unsigned tags = 0; tags < 2; tags++) {
		for (unsigned length = 0; length < 42 + 4 * tags; length++) {
			make_echo(&frame, ASKED, 0);
			if (tags > 0)
				tag(&frame);
			frame.length = length;
			CHECK_REASON("icmpecho", "truncated", 0, &frame);
			frame_arp(&frame, 0, 1, HOST_MAC, HOST, ASKED);
			if (tags > 0)
				tag(&frame);
			frame.length = length;
			CHECK_REASON("icmpecho", "truncated", 0, &frame);
		}
	}
	CHECK_EQUAL(harness_flush(), 0);
}

static void random_frames(void)
{
	struct frame frame;

	for (unsigned round = 0; round < ROUNDS; round++) {
		if (any(2) == 0)
			make_echo(&frame, ASKED, any(200));
		else
			frame_arp(&frame, 0, 1, HOST_MAC, HOST, ASKED);
		if (any(4) == 0)
			tag(&frame);
		for (unsigned changes = any(4); changes > 0; changes--)
			frame.bytes[any(60)] ^= (uint8_t)(1 << any(8));
		frame.length = any(4) == 0 ? any(frame.length) : frame.length;
		harness_put(any(2), &frame);
		if (any(64) != 0)
			continue;
		harness_walk();
		CHECK(harness_balanced());
		harness_flush();
	}
	harness_walk();
	harness_flush();
}

static const struct harness_case cases[] = {
	{"icmpecho: ARP requests", arp, HARNESS_MODE(2, "icmpecho", NULL)},
	{"icmpecho: echo requests", echo, HARNESS_MODE(2, "icmpecho", NULL)},
	{"icmpecho: all others are dropped by name", others, HARNESS_MODE(2, "icmpecho", NULL)},
	{"icmpecho: truncated at each length", truncated, HARNESS_MODE(2, "icmpecho", NULL)},
	{"icmpecho: random frames", random_frames, HARNESS_MODE(2, "icmpecho", NULL)},
};
HARNESS_MAIN(cases)
