/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours: ARP answers, learning, packets that wait, neighbours that never answer. */
#include "harness.h"

#include <netinet/ip_icmp.h>
#include <rte_ip.h>

#define ROUTER_0 RTE_IPV4(10, 0, 0, 1)
#define HOST RTE_IPV4(10, 0, 0, 7)
#define OTHER RTE_IPV4(10, 0, 0, 8)
#define BEHIND RTE_IPV4(20, 0, 0, 1)
#define GATEWAY RTE_IPV4(10, 1, 0, 2)
#define HOST_MAC "02:11:22:33:44:55"
#define NEW_MAC "02:11:22:33:44:66"
#define REQUEST 1
#define REPLY 2

static const char cli[] = "set int state e0 up\n"
			  "set int state e1 up\n"
			  "set int ip address e0 10.0.0.1/24\n"
			  "set int ip address e1 10.1.0.1/24\n"
			  "ip route add 20.0.0.0/8 via 10.1.0.2\n"
			  "set int mpls e1 enable\n"
			  "mpls local-label add 30 eos via 10.0.0.7 e0 out-labels 31\n"
			  "ip neighbor e1 10.1.0.9 02:99:99:99:99:99\n";

static uint32_t get32(const uint8_t *at)
{
	return RTE_IPV4(at[0], at[1], at[2], at[3]);
}

/* Takes the next frame of the port, which must be a request for the address. */
static void check_request(unsigned port, uint32_t source, uint32_t target)
{
	static const uint8_t fixed[] = {0, 1, 8, 0, 6, 4, 0, REQUEST};
	struct frame got;

	CHECK(harness_get(port, &got));
	CHECK_EQUAL(got.length, 42);
	CHECK(memcmp(got.bytes, "\xff\xff\xff\xff\xff\xff", 6) == 0);
	CHECK(memcmp(got.bytes + 6, &port_at(port)->mac, 6) == 0);
	CHECK_EQUAL(got.bytes[12] << 8 | got.bytes[13], 0x0806);
	CHECK(memcmp(got.bytes + 14, fixed, sizeof(fixed)) == 0);
	CHECK(memcmp(got.bytes + 22, &port_at(port)->mac, 6) == 0);
	CHECK_EQUAL(get32(got.bytes + 28), source);
	CHECK(memcmp(got.bytes + 32, "\0\0\0\0\0\0", 6) == 0);
	CHECK_EQUAL(get32(got.bytes + 38), target);
}

static void check_to(const struct frame *frame, const uint8_t *mac)
{
	CHECK(memcmp(frame->bytes, mac, 6) == 0);
	CHECK_EQUAL(frame->bytes[12] << 8 | frame->bytes[13], 0x0800);
	CHECK(frame_checksum_ok(frame->bytes + 14));
}

static void answers_requests(void)
{
	struct frame frame, got;

	frame_arp(&frame, 0, REQUEST, HOST_MAC, HOST, ROUTER_0);
	memset(frame.bytes + frame.length, 0, 18);
	frame.length = 60;
	CHECK_REASON("arp-input", "request answered", 0, &frame);
	CHECK(harness_get(0, &got));
	CHECK_EQUAL(got.length, 42);
	CHECK(memcmp(got.bytes, frame.bytes + 6, 6) == 0);
	CHECK(memcmp(got.bytes + 6, &port_at(0)->mac, 6) == 0);
	CHECK_EQUAL(got.bytes[21], REPLY);
	CHECK(memcmp(got.bytes + 22, &port_at(0)->mac, 6) == 0);
	CHECK_EQUAL(get32(got.bytes + 28), ROUTER_0);
	CHECK(memcmp(got.bytes + 32, frame.bytes + 6, 6) == 0);
	CHECK_EQUAL(get32(got.bytes + 38), HOST);
	/* The asker is known from now on. */
	frame_ip4(&frame, 1, BEHIND, HOST, 64, 4);
	harness_send(1, &frame);
	CHECK(harness_get(0, &got));
	check_to(&got, (const uint8_t *)"\x02\x11\x22\x33\x44\x55");
	CHECK_EQUAL(harness_flush(), 0);
}

static void probe_is_answered_and_not_learnt(void)
{
	struct frame frame;

	frame_arp(&frame, 0, REQUEST, HOST_MAC, 0, ROUTER_0);
	CHECK_REASON("arp-input", "request answered", 0, &frame);
	CHECK_EQUAL(harness_flush(), 1);
	frame_arp(&frame, 0, REQUEST, HOST_MAC, 0, HOST);
	CHECK_REASON("arp-input", "not for the router", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void malformed(const char *reason, unsigned at, uint8_t value)
{
	struct frame frame;

	frame_arp(&frame, 0, REQUEST, HOST_MAC, HOST, ROUTER_0);
	frame_l3(&frame)[at] = value;
	CHECK_REASON("arp-input", reason, 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void input_reasons(void)
{
	struct frame frame;

	frame_arp(&frame, 0, REQUEST, HOST_MAC, HOST, ROUTER_0);
	for (frame.length = 14; frame.length < 42; frame.length++)
		CHECK_REASON("arp-input", "shorter than an arp packet", 0, &frame);
	malformed("not ip4 over ethernet", 1, 6);
	malformed("not ip4 over ethernet", 2, 0x86);
	malformed("not ip4 over ethernet", 4, 8);
	malformed("not ip4 over ethernet", 5, 16);
	malformed("neither request nor reply", 7, 3);
	malformed("neither request nor reply", 7, 0);
	malformed("sender mac is no station's", 8, 0x03);
	malformed("sender not on the interface's subnet", 15, 9);
	frame_arp(&frame, 0, REQUEST, HOST_MAC, ROUTER_0, ROUTER_0);
	CHECK_REASON("arp-input", "sender has an address of the router", 0, &frame);
	frame_arp(&frame, 0, REPLY, HOST_MAC, RTE_IPV4(10, 1, 0, 1), ROUTER_0);
	CHECK_REASON("arp-input", "sender has an address of the router", 0, &frame);
	frame_arp(&frame, 0, REQUEST, HOST_MAC, OTHER, HOST);
	CHECK_REASON("arp-input", "not for the router", 0, &frame);
	frame_arp(&frame, 0, REQUEST, HOST_MAC, OTHER, OTHER);
	CHECK_REASON("arp-input", "not for the router", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void packets_wait_for_the_answer(void)
{
	struct frame frame, got;

	for (unsigned i = 0; i < 20; i++) {
		frame_ip4(&frame, 1, BEHIND, HOST, 64, i);
		harness_send(1, &frame);
		CHECK(harness_balanced());
	}
	/* One request, the latest 16 packets kept. */
	check_request(0, ROUTER_0, HOST);
	CHECK(!harness_get(0, &got));
	CHECK_EQUAL(harness_held(), 16);
	CHECK_EQUAL(harness_reason("ip4-arp", "newer packets wait for the neighbor"), 4);
	frame_arp(&frame, 0, REPLY, HOST_MAC, HOST, ROUTER_0);
	CHECK_REASON("arp-input", "neighbor learnt", 0, &frame);
	harness_walk();
	CHECK_EQUAL(harness_held(), 0);
	for (unsigned i = 4; i < 20; i++) {
		CHECK(harness_get(0, &got));
		check_to(&got, (const uint8_t *)"\x02\x11\x22\x33\x44\x55");
		CHECK_EQUAL(got.length, 42 + i);
		CHECK_EQUAL(frame_l3(&got)[8], 63);
	}
	CHECK(!harness_get(0, &got));
}

static void gratuitous_updates(void)
{
	struct frame frame, got;

	frame_arp(&frame, 0, REQUEST, HOST_MAC, HOST, ROUTER_0);
	harness_send(0, &frame);
	harness_flush();
	frame_arp(&frame, 0, REQUEST, NEW_MAC, HOST, HOST);
	CHECK_REASON("arp-input", "neighbor learnt", 0, &frame);
	frame_ip4(&frame, 1, BEHIND, HOST, 64, 4);
	harness_send(1, &frame);
	CHECK(harness_get(0, &got));
	check_to(&got, (const uint8_t *)"\x02\x11\x22\x33\x44\x66");
}

static void static_stays(void)
{
	struct frame frame, got;

	frame_arp(&frame, 1, REQUEST, NEW_MAC, RTE_IPV4(10, 1, 0, 9), RTE_IPV4(10, 1, 0, 1));
	CHECK_REASON("arp-input", "request answered", 1, &frame);
	harness_flush();
	frame_ip4(&frame, 0, HOST, RTE_IPV4(10, 1, 0, 9), 64, 4);
	harness_send(0, &frame);
	CHECK(harness_get(1, &got));
	check_to(&got, (const uint8_t *)"\x02\x99\x99\x99\x99\x99");
}

/* Three requests at intervals of a second, then "host unreachable", then silence for a second. */
static void no_answer(void)
{
	struct frame frame, got;

	frame_arp(&frame, 1, REQUEST, NEW_MAC, RTE_IPV4(10, 1, 0, 3), RTE_IPV4(10, 1, 0, 1));
	harness_send(1, &frame);
	harness_flush();
	frame_ip4(&frame, 1, RTE_IPV4(10, 1, 0, 3), HOST, 64, 4);
	for (unsigned try = 0; try < 3; try++) {
		harness_send(1, &frame);
		harness_seconds(0.5);
		check_request(0, ROUTER_0, HOST);
		CHECK_EQUAL(harness_flush(), 0);
		harness_seconds(0.6);
	}
	CHECK_EQUAL(harness_held(), 0);
	CHECK_EQUAL(harness_reason("neighbor-timer", "neighbor does not answer"), 3);
	for (unsigned i = 0; i < 3; i++) {
		CHECK(harness_get(1, &got));
		check_to(&got, (const uint8_t *)"\x02\x11\x22\x33\x44\x66");
		CHECK_EQUAL(frame_l3(&got)[20], ICMP_UNREACH);
		CHECK_EQUAL(frame_l3(&got)[21], ICMP_UNREACH_HOST);
		CHECK(memcmp(frame_l3(&got) + 28, frame_l3(&frame), 28) == 0);
	}
	CHECK(harness_balanced());
	CHECK_REASON("ip4-arp", "neighbor does not answer", 1, &frame);
	CHECK_EQUAL(harness_flush(), 1);
	harness_seconds(1.1);
	CHECK_EQUAL(harness_flush(), 0);
	harness_send(1, &frame);
	check_request(0, ROUTER_0, HOST);
	CHECK_EQUAL(harness_held(), 1);
	frame_arp(&frame, 0, REPLY, HOST_MAC, HOST, ROUTER_0);
	harness_send(0, &frame);
	harness_walk();
	CHECK_EQUAL(harness_flush(), 1);
	CHECK_EQUAL(harness_held(), 0);
}

static void gateway_of_a_route(void)
{
	struct frame frame, got;

	frame_ip4(&frame, 0, HOST, BEHIND, 64, 4);
	harness_send(0, &frame);
	check_request(1, RTE_IPV4(10, 1, 0, 1), GATEWAY);
	frame_arp(&frame, 1, REPLY, HOST_MAC, GATEWAY, RTE_IPV4(10, 1, 0, 1));
	harness_send(1, &frame);
	harness_walk();
	CHECK(harness_get(1, &got));
	check_to(&got, (const uint8_t *)"\x02\x11\x22\x33\x44\x55");
}

static void ttl_before_arp(void)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST, BEHIND, 1, 4);
	CHECK_REASON("ip4-arp", "ttl expired", 0, &frame);
	/* The answer waits for its own neighbour. */
	check_request(0, ROUTER_0, HOST);
	CHECK_EQUAL(harness_held(), 1);
}

static void labelled_packets_wait(void)
{
	const uint32_t stack[] = {30u << 12 | 0x100 | 64};
	struct frame frame, got;

	frame_mpls(&frame, 1, stack, 1, BEHIND, HOST, 64, 4);
	harness_send(1, &frame);
	check_request(0, ROUTER_0, HOST);
	CHECK_EQUAL(harness_held(), 1);
	frame_arp(&frame, 0, REPLY, HOST_MAC, HOST, ROUTER_0);
	harness_send(0, &frame);
	harness_walk();
	CHECK(harness_get(0, &got));
	CHECK(memcmp(got.bytes, "\x02\x11\x22\x33\x44\x55", 6) == 0);
	CHECK_EQUAL(got.bytes[12] << 8 | got.bytes[13], 0x8847);
	CHECK_EQUAL(get32(got.bytes + 14), 31u << 12 | 0x100 | 63);
	CHECK_EQUAL(harness_held(), 0);
}

static void labelled_packets_give_up(void)
{
	const uint32_t stack[] = {30u << 12 | 0x100 | 64};
	struct frame frame;

	frame_mpls(&frame, 1, stack, 1, BEHIND, HOST, 64, 4);
	harness_send(1, &frame);
	for (unsigned try = 0; try < 3; try++)
		harness_seconds(1.1);
	CHECK_EQUAL(harness_reason("neighbor-timer", "neighbor does not answer"), 1);
	CHECK_REASON("ip4-arp", "neighbor does not answer", 1, &frame);
	CHECK_EQUAL(harness_flush(), 3);
}

/* A scan of a large subnet fills neither memory nor the table for good. */
static void scan(void)
{
	struct frame frame;

	for (unsigned host = 0; host < 6000; host++) {
		frame_ip4(&frame, 0, HOST, RTE_IPV4(30, 0, 0, 10) + host, 64, 4);
		harness_send(0, &frame);
	}
	CHECK(harness_balanced());
	CHECK_EQUAL(harness_held(), 1024);
	CHECK(harness_reason("ip4-arp", "too many packets wait for neighbors") > 0);
	CHECK(harness_reason("ip4-arp", "neighbor table full") > 0);
	harness_flush();
	for (unsigned try = 0; try < 40; try++) {
		harness_seconds(0.2);
		harness_flush();
	}
	/* Packets that wait for the answers to the scanner have been dropped as well. */
	CHECK_EQUAL(harness_held(), 0);
	frame_ip4(&frame, 0, HOST, RTE_IPV4(30, 0, 99, 99), 64, 4);
	harness_send(0, &frame);
	check_request(1, RTE_IPV4(30, 0, 0, 1), RTE_IPV4(30, 0, 99, 99));
}

static const char large_subnet[] = "set int state e0 up\n"
				   "set int state e1 up\n"
				   "set int ip address e0 10.0.0.1/24\n"
				   "set int ip address e1 30.0.0.1/8\n";

static const struct harness_case cases[] = {
	{"answers requests and learns the asker", answers_requests, .cli = cli},
	{"RFC 5227: probes", probe_is_answered_and_not_learnt, .cli = cli},
	{"reasons of arp-input", input_reasons, .cli = cli},
	{"RFC 1122 2.3.2.2: the latest packets wait", packets_wait_for_the_answer, .cli = cli},
	{"gratuitous ARP updates what is known", gratuitous_updates, .cli = cli},
	{"static neighbours stay", static_stays, .cli = cli},
	{"RFC 1122 2.3.2.1: three requests, then unreachable", no_answer, .cli = cli},
	{"a route's gateway", gateway_of_a_route, .cli = cli},
	{"TTL is checked before asking", ttl_before_arp, .cli = cli},
	{"labelled packets wait", labelled_packets_wait, .cli = cli},
	{"labelled packets give up", labelled_packets_give_up, .cli = cli},
	{"a scan of a large subnet", scan, .cli = large_subnet},
};
HARNESS_MAIN(cases)
