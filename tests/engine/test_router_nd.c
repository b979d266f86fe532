/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour discovery (RFC 4861): answers, learning, packets that wait, ageing. */
#include "harness.h"

#include "router/neighbor.h"

#define ROUTER_0 "2001:db8:0:1::1"
#define HOST "2001:db8:0:1::7"
#define HOST_GROUP "ff02::1:ff00:7"
#define BEHIND "2001:db8:0:2::9"
#define LINK_LOCAL_0 "fe80::ff:fe00:e00"
#define GROUP_0 "ff02::1:ff00:1"
#define HOST_MAC "\x02\x11\x22\x33\x44\x55"
#define NEW_MAC "\x02\x11\x22\x33\x44\x66"
#define SOURCE_OPTION 1
#define TARGET_OPTION 2

static const char cli[] = "set int state e0 up\n"
			  "set int state e1 up\n"
			  "set int ip address e0 2001:db8:0:1::1/64\n"
			  "set int ip address e1 2001:db8:0:2::1/64\n"
			  "ip neighbor e1 2001:db8:0:2::9 02:99:99:99:99:99\n";

static void neighbor_message(struct frame *frame, const char *src, const char *dst, uint8_t type,
	uint8_t flags, const char *target, const char *mac)
{
	uint8_t message[32] = {type, 0, 0, 0, flags};

	ip6_of(target, message + 8);
	message[24] = type == 135 ? SOURCE_OPTION : TARGET_OPTION;
	message[25] = 1;
	if (mac != NULL)
		memcpy(message + 26, mac, 6);
	frame_icmp6(frame, 0, src, dst, 255, message, mac != NULL ? 32 : 24);
}

/* Takes the next frame of e0, which must be that message. */
static void check_message(const char *mac, const char *src, const char *dst, uint8_t type,
	uint8_t flags, const char *target)
{
	uint8_t wanted[16];
	struct frame got;

	CHECK(harness_get(0, &got));
	CHECK_EQUAL(got.length, 14 + 40 + 32);
	CHECK(memcmp(got.bytes, mac, 6) == 0);
	CHECK(memcmp(got.bytes + 6, &port_at(0)->mac, 6) == 0);
	CHECK(memcmp(got.bytes + 12, "\x86\xdd", 2) == 0);
	CHECK(frame_icmp6_ok(&got));
	CHECK_EQUAL(frame_l3(&got)[7], 255);
	ip6_of(src, wanted);
	CHECK(memcmp(frame_l3(&got) + 8, wanted, 16) == 0);
	ip6_of(dst, wanted);
	CHECK(memcmp(frame_l3(&got) + 24, wanted, 16) == 0);
	CHECK_EQUAL(frame_l3(&got)[40], type);
	CHECK_EQUAL(frame_l3(&got)[41], 0);
	CHECK_EQUAL(frame_l3(&got)[44], flags);
	ip6_of(target, wanted);
	CHECK(memcmp(frame_l3(&got) + 48, wanted, 16) == 0);
	CHECK_EQUAL(frame_l3(&got)[64], type == 135 ? SOURCE_OPTION : TARGET_OPTION);
	CHECK_EQUAL(frame_l3(&got)[65], 1);
	CHECK(memcmp(frame_l3(&got) + 66, &port_at(0)->mac, 6) == 0);
}

static void check_solicitation(void)
{
	check_message("\x33\x33\xff\0\0\7", ROUTER_0, HOST_GROUP, 135, 0, HOST);
}

static void send_to_host(void)
{
	struct frame frame;

	frame_ip6(&frame, 1, BEHIND, HOST, 64, 4);
	harness_send(1, &frame);
	CHECK(harness_balanced());
}

/* A packet for the host goes out at once, to that MAC address. */
static void check_known(const char *mac)
{
	struct frame got;

	send_to_host();
	CHECK(harness_get(0, &got));
	CHECK(memcmp(got.bytes, mac, 6) == 0);
	CHECK(memcmp(got.bytes + 12, "\x86\xdd", 2) == 0);
	CHECK_EQUAL(frame_l3(&got)[7], 63);
	CHECK_EQUAL(harness_flush(), 0);
}

static void answers_solicitations(void)
{
	struct frame frame;

	neighbor_message(&frame, HOST, GROUP_0, 135, 0, ROUTER_0, HOST_MAC);
	CHECK_REASON("icmp6-nd-input", "solicitation answered", 0, &frame);
	check_message(HOST_MAC, ROUTER_0, HOST, 136, 0xe0, ROUTER_0);
	check_known(HOST_MAC);
	/* Unicast, from a link-local address, for the link-local address. */
	neighbor_message(&frame, "fe80::7", LINK_LOCAL_0, 135, 0, LINK_LOCAL_0, HOST_MAC);
	CHECK_REASON("icmp6-nd-input", "solicitation answered", 0, &frame);
	check_message(HOST_MAC, LINK_LOCAL_0, "fe80::7", 136, 0xe0, LINK_LOCAL_0);
	/* Without the option the answer goes to where the frame came from. */
	neighbor_message(&frame, HOST, ROUTER_0, 135, 0, ROUTER_0, NULL);
	CHECK_REASON("icmp6-nd-input", "solicitation answered", 0, &frame);
	check_message("\x50\x7c\x6f\x20\x30\x70", ROUTER_0, HOST, 136, 0xe0, ROUTER_0);
	check_known(HOST_MAC);
	/* RFC 4862: duplicate address detection is answered to all. */
	neighbor_message(&frame, "::", GROUP_0, 135, 0, ROUTER_0, NULL);
	CHECK_REASON("icmp6-nd-input", "solicitation answered", 0, &frame);
	check_message("\x33\x33\0\0\0\1", ROUTER_0, "ff02::1", 136, 0xa0, ROUTER_0);
	CHECK_EQUAL(harness_flush(), 0);
}

static void malformed(const char *reason, unsigned at, uint8_t value)
{
	struct frame frame;

	neighbor_message(&frame, HOST, GROUP_0, 135, 0, ROUTER_0, HOST_MAC);
	frame_l3(&frame)[at] = value;
	frame_icmp6_checksum(&frame, 40);
	CHECK_REASON("icmp6-nd-input", reason, 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

/* RFC 4861 7.1. */
static void input_reasons(void)
{
	uint8_t message[24] = {135};
	struct frame frame;

	malformed("hop limit is not 255", 7, 254);
	malformed("code is not 0", 41, 1);
	malformed("target is multicast", 48, 0xff);
	malformed("malformed options", 65, 0);
	malformed("malformed options", 65, 2);
	malformed("mac is no station's", 66, 1);
	malformed("sender not on the interface's subnet", 15, 9);
	frame_icmp6(&frame, 0, HOST, ROUTER_0, 255, message, 23);
	CHECK_REASON("icmp6-nd-input", "shorter than a neighbor message", 0, &frame);
	neighbor_message(&frame, "::", GROUP_0, 135, 0, ROUTER_0, HOST_MAC);
	CHECK_REASON("icmp6-nd-input", "malformed duplicate address detection", 0, &frame);
	neighbor_message(&frame, "::", ROUTER_0, 135, 0, ROUTER_0, NULL);
	CHECK_REASON("icmp6-nd-input", "malformed duplicate address detection", 0, &frame);
	neighbor_message(&frame, HOST, "ff02::1", 136, 0x40, HOST, HOST_MAC);
	CHECK_REASON("icmp6-nd-input", "solicited advertisement to a group", 0, &frame);
	neighbor_message(&frame, ROUTER_0, GROUP_0, 135, 0, ROUTER_0, HOST_MAC);
	CHECK_REASON("icmp6-nd-input", "sender has an address of the router", 0, &frame);
	neighbor_message(&frame, HOST, "ff02::1", 136, 0, ROUTER_0, HOST_MAC);
	CHECK_REASON("icmp6-nd-input", "sender has an address of the router", 0, &frame);
	neighbor_message(&frame, HOST, "ff02::1", 136, 0, HOST, HOST_MAC);
	CHECK_REASON("icmp6-nd-input", "not for the router", 0, &frame);
	/* The address of the other interface gets no answer. */
	neighbor_message(&frame, HOST, GROUP_0, 135, 0, "2001:db8:0:2::1", HOST_MAC);
	CHECK_REASON("icmp6-nd-input", "not for the router", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void packets_wait_for_the_answer(void)
{
	struct frame frame, got;

	for (unsigned i = 0; i < 20; i++)
		send_to_host();
	check_solicitation();
	CHECK(!harness_get(0, &got));
	CHECK_EQUAL(harness_held(), 16);
	CHECK_EQUAL(harness_reason("ip6-nd", "newer packets wait for the neighbor"), 4);
	neighbor_message(&frame, HOST, ROUTER_0, 136, 0x60, HOST, HOST_MAC);
	CHECK_REASON("icmp6-nd-input", "neighbor learnt", 0, &frame);
	harness_walk();
	CHECK_EQUAL(harness_held(), 0);
	for (unsigned i = 0; i < 16; i++) {
		CHECK(harness_get(0, &got));
		CHECK(memcmp(got.bytes, HOST_MAC, 6) == 0);
		CHECK_EQUAL(frame_l3(&got)[7], 63);
	}
	CHECK(!harness_get(0, &got));
	check_known(HOST_MAC);
}

/* RFC 4861 7.2.5: what overrides what. */
static void override_rules(void)
{
	struct frame frame;

	send_to_host();
	check_solicitation();
	neighbor_message(&frame, HOST, ROUTER_0, 136, 0x40, HOST, NULL);
	CHECK_REASON("icmp6-nd-input", "neighbor learnt", 0, &frame);
	CHECK_EQUAL(harness_held(), 1);
	neighbor_message(&frame, HOST, "ff02::1", 136, 0, HOST, HOST_MAC);
	harness_send(0, &frame);
	harness_walk();
	CHECK_EQUAL(harness_flush(), 1);
	/* Without override another address is not believed; the one known is asked. */
	neighbor_message(&frame, HOST, ROUTER_0, 136, 0x40, HOST, NEW_MAC);
	harness_send(0, &frame);
	check_known(HOST_MAC);
	harness_seconds(0.1);
	check_message(HOST_MAC, ROUTER_0, HOST, 135, 0, HOST);
	neighbor_message(&frame, HOST, ROUTER_0, 136, 0x60, HOST, NEW_MAC);
	harness_send(0, &frame);
	check_known(NEW_MAC);
}

static void no_answer(void)
{
	struct frame got;

	for (unsigned try = 0; try < 3; try++) {
		send_to_host();
		harness_seconds(0.5);
		check_solicitation();
		CHECK_EQUAL(harness_flush(), 0);
		harness_seconds(0.6);
	}
	CHECK_EQUAL(harness_held(), 0);
	CHECK_EQUAL(harness_reason("neighbor-timer", "neighbor does not answer"), 3);
	for (unsigned i = 0; i < 3; i++) {
		CHECK(harness_get(1, &got));
		CHECK(frame_icmp6_ok(&got));
		/* RFC 4443 3.1: address unreachable. */
		CHECK(memcmp(frame_l3(&got) + 40, "\1\3", 2) == 0);
	}
	send_to_host();
	CHECK_EQUAL(harness_reason("ip6-nd", "neighbor does not answer"), 1);
	CHECK_EQUAL(harness_flush(), 1);
}

static void hop_limit_before_nd(void)
{
	struct frame frame;

	frame_ip6(&frame, 1, BEHIND, HOST, 1, 4);
	CHECK_REASON("ip6-nd", "hop limit expired", 1, &frame);
	CHECK_EQUAL(harness_flush(), 1);
}

/* Learnt neighbours are asked when the time is up, and go when they do not answer. */
static void ageing(void)
{
	struct frame frame;

	neighbor_message(&frame, HOST, GROUP_0, 135, 0, ROUTER_0, HOST_MAC);
	harness_send(0, &frame);
	harness_flush();
	harness_seconds(NEIGHBOR_TIMEOUT_S - 1);
	CHECK_EQUAL(harness_flush(), 0);
	harness_seconds(1.5);
	check_message(HOST_MAC, ROUTER_0, HOST, 135, 0, HOST);
	check_known(HOST_MAC);
	neighbor_message(&frame, HOST, ROUTER_0, 136, 0x60, HOST, HOST_MAC);
	harness_send(0, &frame);
	harness_seconds(2);
	CHECK_EQUAL(harness_flush(), 0);
	harness_seconds(NEIGHBOR_TIMEOUT_S);
	for (unsigned try = 0; try < 3; try++) {
		check_message(HOST_MAC, ROUTER_0, HOST, 135, 0, HOST);
		check_known(HOST_MAC);
		harness_seconds(1.1);
	}
	CHECK_EQUAL(harness_flush(), 0);
	harness_seconds(1.1);
	send_to_host();
	check_solicitation();
	CHECK_EQUAL(harness_held(), 1);
	/* The static one stays. */
	frame_ip6(&frame, 0, HOST, BEHIND, 64, 4);
	harness_send(0, &frame);
	CHECK_EQUAL(harness_flush(), 1);
}

static void link_local_neighbor_of_a_reply(void)
{
	uint8_t request[16] = {128};
	struct frame frame;

	frame_icmp6(&frame, 0, "fe80::7", ROUTER_0, 64, request, sizeof(request));
	CHECK_REASON("icmp6-echo", "echo request answered", 0, &frame);
	check_message("\x33\x33\xff\0\0\7", LINK_LOCAL_0, HOST_GROUP, 135, 0, "fe80::7");
	CHECK_EQUAL(harness_held(), 1);
	neighbor_message(&frame, "fe80::7", LINK_LOCAL_0, 136, 0x60, "fe80::7", HOST_MAC);
	harness_send(0, &frame);
	harness_walk();
	CHECK_EQUAL(harness_flush(), 1);
}

static const struct harness_case cases[] = {
	{"RFC 4861 7.2.4: solicitations are answered", answers_solicitations, .cli = cli},
	{"RFC 4861 7.1: drop reasons of icmp6-nd-input", input_reasons, .cli = cli},
	{"RFC 4861 7.2.2: packets wait for the answer", packets_wait_for_the_answer, .cli = cli},
	{"RFC 4861 7.2.5: what overrides what", override_rules, .cli = cli},
	{"RFC 4861 7.2.2: no answer", no_answer, .cli = cli},
	{"the hop limit comes first", hop_limit_before_nd, .cli = cli},
	{"neighbours are asked again, and go", ageing, .cli = cli},
	{"a link-local neighbour is asked for on its link", link_local_neighbor_of_a_reply,
		.cli = cli},
};
HARNESS_MAIN(cases)
