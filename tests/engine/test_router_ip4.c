/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 through the router's graph, packet by packet. */
#include "harness.h"

#include <rte_ip.h>

#define HOST_A RTE_IPV4(16, 0, 0, 1)
#define HOST_B RTE_IPV4(48, 0, 0, 9)

static const uint8_t mac_e1[] = {0x02, 0, 0, 0, 0x0e, 0x01};
static const uint8_t mac_peer1[] = {0x50, 0x7c, 0x6f, 0x20, 0x30, 0x71};

/* The router's output for a packet from e0 to a host behind e1. */
static void forwarded(const struct frame *in, struct frame *out)
{
	*out = *in;
	memcpy(out->bytes, mac_peer1, 6);
	memcpy(out->bytes + 6, mac_e1, 6);
	frame_l3(out)[8]--;
	frame_checksum(frame_l3(out));
}

static void check_forwarded(const struct frame *in)
{
	struct frame wanted, got;

	forwarded(in, &wanted);
	harness_send(0, in);
	CHECK(harness_get(1, &got));
	CHECK(frame_same(&got, &wanted));
	CHECK(!harness_get(0, &got) && !harness_get(1, &got));
}

static void byte_for_byte(void)
{
	struct frame frame;

	for (unsigned ttl = 2; ttl < 256; ttl++) {
		frame_ip4(&frame, 0, HOST_A, HOST_B, (uint8_t)ttl, 18);
		check_forwarded(&frame);
	}
	for (unsigned payload = 0; payload <= 1472; payload++) {
		frame_ip4(&frame, 0, HOST_A, HOST_B, 64, payload);
		check_forwarded(&frame);
	}
	/* Every value of the checksum, by way of the identification. */
	for (unsigned id = 0; id < 65536; id += 7) {
		frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 4);
		frame_l3(&frame)[4] = (uint8_t)(id >> 8);
		frame_l3(&frame)[5] = (uint8_t)id;
		frame_checksum(frame_l3(&frame));
		check_forwarded(&frame);
	}
	CHECK_EQUAL(harness_originated(), 0);
}

/* Vectors in which some packets go elsewhere must keep the others' order. */
static void mixed_vectors(void)
{
	struct frame frame, got;
	unsigned expected = 0, seen = 0;

	for (unsigned i = 0; i < 700; i++) {
		frame_ip4(&frame, i % 2, HOST_A, HOST_B, (uint8_t)(i % 5 == 0 ? 1 : 64), 20);
		if (i % 7 == 0)
			frame.bytes[0] = 0x04;
		else if (i % 5 != 0)
			expected++;
		frame_l3(&frame)[20] = (uint8_t)(i >> 8);
		frame_l3(&frame)[21] = (uint8_t)i;
		harness_put(i % 2, &frame);
	}
	harness_walk();
	for (int last[2] = {-1, -1}; harness_get(1, &got);) {
		int number = frame_l3(&got)[20] << 8 | frame_l3(&got)[21];

		if (frame_l3(&got)[9] != 17)
			continue;
		CHECK(number > last[number % 2]);
		last[number % 2] = number;
		seen++;
	}
	CHECK_EQUAL(seen, expected);
	CHECK(harness_balanced());
	harness_flush();
}

/* Two ports fill one node's stream with more than a vector, and all go the same way. */
static void long_vectors_that_agree(void)
{
	struct frame frame, got;
	unsigned seen = 0;

	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < 500; i++) {
			frame_ip4(&frame, i % 2, HOST_A, HOST_B, 64, 20);
			harness_put(i % 2, &frame);
		}
		harness_walk();
	}
	while (harness_get(1, &got))
		seen++;
	CHECK_EQUAL(seen, 2000);
	CHECK(!harness_get(0, &got));
}

static void padding_is_taken_off(void)
{
	struct frame frame, wanted, got;

	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 4);
	forwarded(&frame, &wanted);
	memset(frame.bytes + frame.length, 0x55, 60 - frame.length);
	frame.length = 60;
	harness_send(0, &frame);
	CHECK(harness_get(1, &got));
	CHECK(frame_same(&got, &wanted));
}

static void ethernet_reasons(void)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 4);
	for (frame.length = 0; frame.length < 14; frame.length++)
		CHECK_REASON("ethernet-input", "shorter than an Ethernet header", 0, &frame);
	frame_ip4(&frame, 1, HOST_A, HOST_B, 64, 4);
	CHECK_REASON("ethernet-input", "l3 mac mismatch", 0, &frame);
	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 4);
	memset(frame.bytes, 0xff, 6);
	CHECK_REASON("ethernet-input", "ip4 to a group mac address", 0, &frame);
	frame_ethernet(&frame, 0, 0x8847);
	frame.bytes[0] |= 1;
	CHECK_REASON("ethernet-input", "mpls to a group mac address", 0, &frame);
	frame_ethernet(&frame, 0, 0x8100);
	CHECK_REASON("vlan-input", "shorter than its vlan tags", 0, &frame);
	frame_ethernet(&frame, 0, 0x88a8);
	CHECK_REASON("vlan-input", "shorter than its vlan tags", 0, &frame);
	frame_ethernet(&frame, 0, 0x88cc);
	CHECK_REASON("ethernet-input", "unknown ethertype", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void check_bad(const char *reason, unsigned at, uint8_t value, bool fix)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 20);
	frame_l3(&frame)[at] = value;
	if (fix)
		frame_checksum(frame_l3(&frame));
	CHECK_REASON("ip4-input", reason, 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void input_reasons(void)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 0);
	for (frame.length = 14; frame.length < 34; frame.length++)
		CHECK_REASON("ip4-input", "shorter than an ip4 header", 0, &frame);
	for (; frame.length < 42; frame.length++)
		CHECK_REASON("ip4-input", "total length beyond the frame", 0, &frame);
	check_bad("version is not 4", 0, 0x65, true);
	check_bad("bad header length", 0, 0x44, false);
	check_bad("bad header length", 0, 0x4f, false);
	check_bad("total length below header length", 3, 19, true);
	check_bad("total length below header length", 3, 0, true);
	check_bad("total length beyond the frame", 3, 200, true);
	for (unsigned at = 1; at < 20; at++)
		check_bad("bad checksum", at, 0x77, false);
	/* All ones is no zero: a checksum of 0xffff over the rest being 0 is refused by all. */
	check_bad("bad checksum", 10, 0xff, false);
}

static void options(void)
{
	static const struct {
		uint8_t bytes[4];
		const char *reason;
	} rows[] = {
		{{1, 1, 1, 0}, NULL},
		{{0, 9, 9, 9}, NULL},
		{{148, 4, 0, 0}, NULL},
		{{7, 3, 4, 0}, NULL},
		{{131, 3, 4, 0}, "source route option"},
		{{1, 137, 3, 4}, "source route option"},
		{{148, 5, 0, 0}, "malformed options"},
		{{148, 1, 0, 0}, "malformed options"},
		{{148, 0, 0, 0}, "malformed options"},
		{{1, 1, 1, 148}, "malformed options"},
	};

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct frame frame;

		frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 20);
		memmove(frame_l3(&frame) + 24, frame_l3(&frame) + 20, 28);
		memcpy(frame_l3(&frame) + 20, rows[i].bytes, 4);
		frame.length += 4;
		frame_l3(&frame)[0] = 0x46;
		frame_l3(&frame)[3] += 4;
		frame_checksum(frame_l3(&frame));
		if (rows[i].reason == NULL)
			check_forwarded(&frame);
		else
			CHECK_REASON("ip4-input", rows[i].reason, 0, &frame);
	}
}

static void lookup_reasons(void)
{
	static const struct {
		uint32_t destination;
		const char *reason;
	} rows[] = {
		{RTE_IPV4(0, 0, 0, 0), "destination in 0.0.0.0/8"},
		{RTE_IPV4(0, 1, 2, 3), "destination in 0.0.0.0/8"},
		{RTE_IPV4(127, 0, 0, 1), "destination in 127.0.0.0/8"},
		{RTE_IPV4(224, 0, 0, 5), "multicast destination"},
		{RTE_IPV4(239, 255, 255, 255), "multicast destination"},
		{RTE_IPV4(240, 0, 0, 1), "destination in 240.0.0.0/4"},
		{RTE_IPV4(255, 255, 255, 255), "limited broadcast"},
		{RTE_IPV4(100, 64, 2, 0), "directed broadcast"},
		{RTE_IPV4(100, 64, 2, 3), "directed broadcast"},
		{RTE_IPV4(9, 9, 9, 9), "no route"},
		{RTE_IPV4(48, 0, 1, 0), "no route"},
		{RTE_IPV4(15, 255, 255, 255), "no route"},
	};
	struct frame frame;

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		frame_ip4(&frame, 0, HOST_A, rows[i].destination, 64, 4);
		CHECK_REASON("ip4-lookup", rows[i].reason, 0, &frame);
		/* Only what has no route is answered. */
		CHECK_EQUAL(harness_flush(), strcmp(rows[i].reason, "no route") == 0);
	}
}

static void output_reasons(void)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 4);
	harness_tx_full(1, true);
	CHECK_REASON("port-tx", "no free tx slots", 0, &frame);
	harness_tx_full(1, false);
	check_forwarded(&frame);
}

static void interfaces_down(void)
{
	struct frame frame;

	frame_ip4(&frame, 1, HOST_B, HOST_A, 64, 4);
	CHECK_REASON("ethernet-input", "interface down", 1, &frame);
	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 4);
	CHECK_REASON("interface-output", "interface down", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static const char one_down[] = "set int state e0 up\n"
			       "set int ip address e0 100.64.1.1/30\n"
			       "set int ip address e1 100.64.2.1/30\n"
			       "ip route add 48.0.0.0/24 via 100.64.2.2\n"
			       "ip neighbor e1 100.64.2.2 50:7c:6f:20:30:71\n";

static const struct harness_case cases[] = {
	{"forwarded byte for byte", byte_for_byte, .cli = harness_router_cli},
	{"vectors in which packets part", mixed_vectors, .cli = harness_router_cli},
	{"long vectors that agree", long_vectors_that_agree, .cli = harness_router_cli},
	{"Ethernet padding is taken off", padding_is_taken_off, .cli = harness_router_cli},
	{"drop reasons of ethernet-input", ethernet_reasons, .cli = harness_router_cli},
	{"drop reasons of ip4-input", input_reasons, .cli = harness_router_cli},
	{"options", options, .cli = harness_router_cli},
	{"drop reasons of ip4-lookup", lookup_reasons, .cli = harness_router_cli},
	{"tx ring full", output_reasons, .cli = harness_router_cli},
	{"interface down", interfaces_down, .cli = one_down},
};
HARNESS_MAIN(cases)
