/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragmentation: RFC 791 2.3 and 3.2, RFC 1812 5.2.6. What comes out is put together again. */
#include "harness.h"

#include "core/node.h"
#include "router/interface.h"

#include <rte_ip.h>

#define HOST_A RTE_IPV4(16, 0, 0, 1)
#define HOST_B RTE_IPV4(48, 0, 0, 9)
#define MF 0x2000
#define DF 0x4000

static unsigned get16(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static unsigned header_of(const uint8_t *ip)
{
	return (ip[0] & 0xfu) * 4;
}

static void set_mtu(const char *interface, uint32_t mtu)
{
	CHECK(interface_set_mtu(interface_find(interface), mtu) == NULL);
}

/* Sets flags and offset (in bytes) of the packet. */
static void set_offset(struct frame *frame, unsigned flags, unsigned offset)
{
	frame_l3(frame)[6] = (uint8_t)((flags | offset / 8) >> 8);
	frame_l3(frame)[7] = (uint8_t)(offset / 8);
	frame_checksum(frame_l3(frame));
}

static void insert_options(struct frame *frame, const uint8_t *options, unsigned bytes)
{
	uint8_t *ip = frame_l3(frame);
	unsigned total = get16(ip + 2) + bytes;

	memmove(ip + 20 + bytes, ip + 20, frame->length - 34);
	memcpy(ip + 20, options, bytes);
	ip[0] = (uint8_t)(0x45 + bytes / 4);
	ip[2] = (uint8_t)(total >> 8);
	ip[3] = (uint8_t)total;
	frame->length += bytes;
	frame_checksum(ip);
}

/* One fragment, with the offset that it must have. Returns how much payload it brings. */
static unsigned check_fragment(const struct frame *of, struct frame *got, unsigned offset,
	unsigned mtu, unsigned header, uint8_t *payload)
{
	const uint8_t *ip = frame_l3(got), *original = frame_l3((struct frame *)(uintptr_t)of);
	unsigned bytes = get16(ip + 2) - header;

	CHECK_EQUAL(header_of(ip), header);
	CHECK_EQUAL(got->length, 14 + get16(ip + 2));
	CHECK(get16(ip + 2) <= mtu);
	CHECK(frame_checksum_ok(ip));
	CHECK(memcmp(got->bytes, "\x50\x7c\x6f\x20\x30\x71\x02\x00\x00\x00\x0e\x01\x08\x00", 14) ==
		0);
	CHECK_EQUAL((get16(ip + 6) & 0x1fff) * 8, offset);
	CHECK_EQUAL(get16(ip + 6) & 0xc000, get16(original + 6) & 0xc000);
	CHECK_EQUAL(ip[1], original[1]);
	CHECK_EQUAL(get16(ip + 4), get16(original + 4));
	CHECK_EQUAL(ip[8], original[8] - 1);
	CHECK(memcmp(ip + 9, original + 9, 1) == 0 && memcmp(ip + 12, original + 12, 8) == 0);
	memcpy(payload, ip + header, bytes);
	return bytes;
}

/* Sends the frame in and puts together what comes out. Returns the number of fragments. */
static unsigned reassemble(const struct frame *frame, unsigned mtu, unsigned other_header)
{
	const uint8_t *ip = frame_l3((struct frame *)(uintptr_t)frame);
	unsigned header = header_of(ip), total = get16(ip + 2), position = 0, count = 0;
	unsigned start = (get16(ip + 6) & 0x1fff) * 8;
	uint8_t payload[HARNESS_FRAME_BYTES];
	bool more = true;
	struct frame got;

	harness_send(0, frame);
	while (harness_get(1, &got)) {
		unsigned own = count++ == 0 ? header : other_header;
		unsigned room = (mtu - header) / 8 * 8;
		unsigned bytes =
			check_fragment(frame, &got, start + position, mtu, own, payload + position);

		CHECK(more);
		more = position + bytes < total - header;
		CHECK_EQUAL(
			(get16(frame_l3(&got) + 6) & MF) != 0, more || (get16(ip + 6) & MF) != 0);
		/* None is smaller than it need be. */
		CHECK(!more || bytes == room);
		position += bytes;
	}
	CHECK_EQUAL(position, total - header);
	CHECK(memcmp(payload, ip + header, position) == 0);
	CHECK(harness_balanced());
	return count;
}

static void sizes(void)
{
	static const unsigned mtus[] = {68, 69, 75, 76, 128, 576, 577, 1400, 1499, 1500};
	struct frame frame;

	for (unsigned m = 0; m < RTE_DIM(mtus); m++) {
		unsigned room = (mtus[m] - 20) / 8 * 8;

		set_mtu("e1", mtus[m]);
		for (unsigned payload = 0; payload <= 1600; payload += payload % 3 == 0 ? 7 : 3) {
			unsigned bytes = payload + 8, count = (bytes + room - 1) / room;

			frame_ip4(&frame, 0, HOST_A, HOST_B, 64, payload);
			if (bytes + 20 <= mtus[m])
				count = 1;
			CHECK_EQUAL(reassemble(&frame, mtus[m], 20), count);
		}
	}
}

static void fragments_of_fragments(void)
{
	struct frame frame;

	set_mtu("e1", 100);
	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 1000);
	for (unsigned offset = 0; offset < 60000; offset += 7992) {
		set_offset(&frame, MF, offset);
		CHECK_EQUAL(reassemble(&frame, 100, 20), 13);
		set_offset(&frame, 0, offset);
		CHECK_EQUAL(reassemble(&frame, 100, 20), 13);
	}
	/* Up to the last byte that a datagram can have, and not beyond: 1008 bytes of payload. */
	set_offset(&frame, 0, 65535 / 8 * 8 - 1008);
	CHECK_EQUAL(reassemble(&frame, 100, 20), 13);
	set_offset(&frame, 0, 65528);
	CHECK_REASON("ip4-frag", "fragment beyond 65535 bytes", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

/* Security (130) and stream id (136) are copied, record route (7) and timestamp (68) not. */
static void options(void)
{
	static const uint8_t none[] = {7, 7, 4, 0, 0, 0, 0, 0},
			     all[] = {136, 4, 0x12, 0x34, 130, 3, 1, 0},
			     some[] = {1, 7, 7, 4, 0, 0, 0, 0, 136, 4, 0x12, 0x34, 1, 130, 3, 9, 68,
				     4, 5, 0};
	static const uint8_t copied[] = {136, 4, 0x12, 0x34, 130, 3, 9, 0};
	struct frame frame, got;

	for (unsigned mtu = 68; mtu < 1000; mtu += 29) {
		set_mtu("e1", mtu);
		frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 1000);
		insert_options(&frame, none, sizeof(none));
		CHECK(reassemble(&frame, mtu, 20) > 1);
		frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 1000);
		insert_options(&frame, all, sizeof(all));
		CHECK(reassemble(&frame, mtu, 28) > 1);
		frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 1000);
		insert_options(&frame, some, sizeof(some));
		CHECK(reassemble(&frame, mtu, 28) > 1);
	}
	harness_send(0, &frame);
	CHECK(harness_get(1, &got));
	CHECK(memcmp(frame_l3(&got) + 20, some, sizeof(some)) == 0);
	while (harness_get(1, &got))
		CHECK(memcmp(frame_l3(&got) + 20, copied, sizeof(copied)) == 0);
}

/* 40 bytes of options leave 8 bytes a fragment at the smallest MTU. */
static void full_header(void)
{
	uint8_t options[40] = {130, 40};
	struct frame frame;

	set_mtu("e1", 68);
	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 1424);
	insert_options(&frame, options, sizeof(options));
	CHECK_EQUAL(reassemble(&frame, 68, 60), 1432 / 8);
}

static void dont_fragment(void)
{
	struct frame frame, got;

	set_mtu("e1", 1400);
	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 1372);
	set_offset(&frame, DF, 0);
	harness_send(0, &frame);
	CHECK_EQUAL(harness_flush(), 1);
	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 1373);
	set_offset(&frame, DF, 0);
	CHECK_REASON("ip4-rewrite", "mtu exceeded, don't fragment set", 0, &frame);
	CHECK(harness_get(0, &got));
	CHECK_EQUAL(get16(frame_l3(&got) + 20), 0x0304);
	CHECK_EQUAL(get16(frame_l3(&got) + 26), 1400);
	CHECK_EQUAL(harness_flush(), 0);
	/* An expired TTL comes first. */
	frame_ip4(&frame, 0, HOST_A, HOST_B, 1, 1373);
	CHECK_REASON("ip4-rewrite", "ttl expired", 0, &frame);
	CHECK_EQUAL(harness_flush(), 1);
}

static void vectors(void)
{
	uint64_t before = harness_reason("ip4-frag", "fragmented");
	struct frame frame;

	set_mtu("e1", 600);
	for (unsigned i = 0; i < 256; i++) {
		frame_ip4(&frame, 0, HOST_A, HOST_B, 64, i % 4 == 0 ? 100 : 1400);
		harness_put(0, &frame);
	}
	harness_walk();
	CHECK_EQUAL(harness_reason("ip4-frag", "fragmented"), before + 192);
	CHECK_EQUAL(harness_originated(), 192 * 3);
	CHECK_EQUAL(harness_flush(), 64 + 192 * 3);
}

/* 256 frames of 1500 bytes would be 7936 fragments: more than there are buffers. */
static void without_buffers(void)
{
	struct frame frame;
	unsigned fragments;

	set_mtu("e1", 68);
	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 1472);
	harness_tx_full(1, true);
	for (unsigned i = 0; i < 256; i++)
		harness_put(0, &frame);
	harness_walk();
	CHECK(harness_balanced());
	CHECK(harness_reason("ip4-frag", "no buffers for the fragments") > 0);
	fragments = (unsigned)harness_reason("ip4-frag", "fragmented") * 31;
	CHECK_EQUAL(harness_originated(), fragments);
	CHECK_EQUAL(harness_reason("port-tx", "no free tx slots"), fragments);
	harness_tx_full(1, false);
	CHECK_EQUAL(reassemble(&frame, 68, 20), 31);
}

static const char sub_interface[] = "set int state e0 up\n"
				    "set int state e1 up\n"
				    "set int mtu packet 1000 e1\n"
				    "create sub-interfaces e1 100\n"
				    "create sub-interfaces e1 101\n"
				    "set int mtu 500 e1.101\n"
				    "set int state e1.100 up\n"
				    "set int state e1.101 up\n"
				    "set int ip address e1.100 10.0.0.1/24\n"
				    "set int ip address e1.101 10.0.1.1/24\n"
				    "ip neighbor e1.100 10.0.0.2 50:7c:6f:20:30:71\n"
				    "ip neighbor e1.101 10.0.1.2 50:7c:6f:20:30:71\n";

/* A sub-interface has its port's MTU or one of its own; the tag does not count. */
static void of_sub_interfaces(void)
{
	static const unsigned mtus[] = {1000, 500};
	struct frame frame, got;

	for (unsigned i = 0; i < 2; i++) {
		frame_ip4(&frame, 0, HOST_A, RTE_IPV4(10, 0, i, 2), 64, mtus[i] - 28);
		harness_send(0, &frame);
		CHECK(harness_get(1, &got));
		CHECK_EQUAL(got.length, 18 + mtus[i]);
		frame_ip4(&frame, 0, HOST_A, RTE_IPV4(10, 0, i, 2), 64, mtus[i] - 27);
		harness_send(0, &frame);
		CHECK(harness_get(1, &got));
		CHECK_EQUAL(get16(got.bytes + 14), 100 + i);
		CHECK(harness_get(1, &got));
		CHECK_EQUAL(get16(got.bytes + 14), 100 + i);
		CHECK(frame_checksum_ok(got.bytes + 18));
		CHECK_EQUAL(harness_flush(), 0);
	}
}

static const struct harness_case cases[] = {
	{"RFC 791 3.2: all sizes, several MTUs", sizes, .cli = harness_router_cli},
	{"RFC 791 2.3: fragments of fragments", fragments_of_fragments, .cli = harness_router_cli},
	{"RFC 791 3.1: options with the copied flag", options, .cli = harness_router_cli},
	{"the smallest MTU and the longest header", full_header, .cli = harness_router_cli},
	{"RFC 1191 4: don't fragment", dont_fragment, .cli = harness_router_cli},
	{"vectors with and without long packets", vectors, .cli = harness_router_cli},
	{"no buffers", without_buffers, .cli = harness_router_cli},
	{"sub-interfaces", of_sub_interfaces, .cli = sub_interface},
};
HARNESS_MAIN(cases)
