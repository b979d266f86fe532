/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv6 path, packets for the router itself, and the errors that it sends. */
#include "node/error_bucket.h"
#include "harness.h"

#include <netinet/icmp6.h>

#define A "2001:db8:0:1::2"
#define ROUTER_0 "2001:db8:0:1::1"
#define LINK_LOCAL_0 "fe80::ff:fe00:e00"
#define LINK_LOCAL_1 "fe80::ff:fe00:e01"
#define BEHIND "2001:db8:48::1"

static const char cli[] = "set int state e0 up\n"
			  "set int state e1 up\n"
			  "set int ip address e0 2001:db8:0:1::1/64\n"
			  "set int ip address e1 2001:db8:0:2::1/64\n"
			  "ip route add 2001:db8:48::/48 via 2001:db8:0:2::2\n"
			  "ip route add 2001:db8:49::/48 via fe80::2 e1\n"
			  "ip neighbor e0 2001:db8:0:1::2 50:7c:6f:20:30:70\n"
			  "ip neighbor e0 fe80::9 50:7c:6f:20:30:79\n"
			  "ip neighbor e1 2001:db8:0:2::2 50:7c:6f:20:30:71\n"
			  "ip neighbor e1 fe80::2 50:7c:6f:20:30:72\n";

/* The frame as it must come out of e1: Ethernet header and hop limit changed, nothing else. */
static void check_forwarded(struct frame *frame, uint8_t mac_end)
{
	struct frame got;

	CHECK(harness_get(1, &got));
	memcpy(frame->bytes, "\x50\x7c\x6f\x20\x30", 5);
	frame->bytes[5] = mac_end;
	memcpy(frame->bytes + 6, &port_at(1)->mac, 6);
	frame_l3(frame)[7]--;
	CHECK(frame_same(&got, frame));
}

static void forwards(void)
{
	struct frame frame;

	for (unsigned payload = 0; payload <= 1452; payload += 121) {
		frame_ip6(&frame, 0, A, BEHIND, 64, payload);
		harness_send(0, &frame);
		check_forwarded(&frame, 0x71);
	}
	frame_ip6(&frame, 0, A, "2001:db8:49::1", 2, 10);
	harness_send(0, &frame);
	check_forwarded(&frame, 0x72);
	/* Padding goes. */
	frame_ip6(&frame, 0, A, BEHIND, 64, 1);
	frame.length += 9;
	harness_send(0, &frame);
	frame.length -= 9;
	check_forwarded(&frame, 0x71);
	CHECK_EQUAL(harness_flush(), 0);
}

/* RFC 8200 4: extension headers are the destination's. */
static void extension_headers_pass(void)
{
	static const uint8_t options[] = {0, 0, 0xc5, 2, 1, 2, 1, 0};
	struct frame frame;

	for (unsigned kind = 0; kind <= 60; kind += kind == 0 ? 43 : 1) {
		frame_ip6(&frame, 0, A, BEHIND, 64, 20);
		frame_extend6(&frame, (uint8_t)kind, options, sizeof(options));
		harness_send(0, &frame);
		check_forwarded(&frame, 0x71);
	}
}

static void vectors_of_all_kinds(void)
{
	struct frame frame;

	for (unsigned i = 0; i < 300; i++) {
		frame_ip6(&frame, 0, A, i % 3 == 0 ? BEHIND : "2001:db8:49::1", i % 5 == 0 ? 1 : 64,
			i % 7);
		if (i % 11 == 0)
			frame_ip4(&frame, 0, RTE_IPV4(16, 0, 0, 1), RTE_IPV4(1, 0, 0, 1), 64, 5);
		harness_put(0, &frame);
	}
	harness_walk();
	CHECK(harness_balanced());
	CHECK_EQUAL(harness_reason("ip4-lookup", "no route"), 28);
	CHECK_EQUAL(harness_reason("ip6-rewrite", "hop limit expired"), 54);
	harness_flush();
}

static void input_reasons(void)
{
	struct frame frame;

	for (unsigned length = 14; length < 54; length++) {
		frame_ip6(&frame, 0, A, BEHIND, 64, 4);
		frame.length = length;
		CHECK_REASON("ip6-input", "shorter than an ip6 header", 0, &frame);
	}
	frame_ip6(&frame, 0, A, BEHIND, 64, 4);
	frame_l3(&frame)[0] = 0x40;
	CHECK_REASON("ip6-input", "version is not 6", 0, &frame);
	frame_ip6(&frame, 0, A, BEHIND, 64, 4);
	frame_l3(&frame)[5]++;
	CHECK_REASON("ip6-input", "payload length beyond the frame", 0, &frame);
	frame_ip6(&frame, 0, A, BEHIND, 64, 4);
	frame_l3(&frame)[5] = frame_l3(&frame)[6] = 0;
	CHECK_REASON("ip6-input", "no payload length, hop-by-hop options", 0, &frame);
	frame_ip6(&frame, 0, "ff02::1", BEHIND, 64, 4);
	CHECK_REASON("ip6-input", "source is multicast", 0, &frame);
	frame_ip6(&frame, 0, "::1", BEHIND, 64, 4);
	CHECK_REASON("ip6-input", "source is the loopback address", 0, &frame);
	frame_ip6(&frame, 0, "::", BEHIND, 64, 4);
	CHECK_REASON("ip6-input", "source is unspecified", 0, &frame);
	frame_ip6(&frame, 0, A, BEHIND, 64, 4);
	memcpy(frame.bytes, "\x33\x33\0\0\0\1", 6);
	CHECK_REASON("ip6-input", "unicast destination to a group mac address", 0, &frame);
	memset(frame.bytes, 0xff, 6);
	CHECK_REASON("ethernet-input", "ip6 to a group mac address", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void special_destinations(void)
{
	static const struct {
		const char *destination, *reason;
	} rows[] = {
		{"::", "destination is unspecified"},
		{"::1", "destination is the loopback address"},
		{"::ffff:10.0.0.1", "destination in ::ffff:0:0/96"},
		{"fe80::77", "link-local destination"},
		{"febf:ffff::1", "link-local destination"},
		{"ff05::2", "multicast destination"},
		{"ff02::1:ff99:9999", "multicast destination"},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast destination"},
	};
	struct frame frame;

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		frame_ip6(&frame, 0, A, rows[i].destination, 64, 4);
		CHECK_REASON("ip6-lookup", rows[i].reason, 0, &frame);
		CHECK_EQUAL(harness_flush(), 0);
	}
}

/* The error about the frame that came out of e0: RFC 4443 2.2 to 2.4 and 3. */
static void check_error(const struct frame *about, const char *source, uint8_t type, uint8_t code,
	uint32_t parameter, const char *mac)
{
	unsigned quoted = RTE_MIN(about->length - 14, 1280u - 48);
	uint8_t wanted[16],
		head[8] = {type, code, 0, 0, (uint8_t)(parameter >> 24), (uint8_t)(parameter >> 16),
			(uint8_t)(parameter >> 8), (uint8_t)parameter};
	struct frame got;

	CHECK(harness_get(0, &got));
	CHECK(memcmp(got.bytes, mac, 6) == 0);
	CHECK(memcmp(got.bytes + 12, "\x86\xdd\x60\0\0\0", 6) == 0);
	CHECK_EQUAL(got.length, 14 + 48 + quoted);
	CHECK(frame_icmp6_ok(&got));
	CHECK_EQUAL(frame_l3(&got)[7], 64);
	ip6_of(source, wanted);
	CHECK(memcmp(frame_l3(&got) + 8, wanted, 16) == 0);
	CHECK(memcmp(frame_l3(&got) + 24, about->bytes + 14 + 8, 16) == 0);
	head[2] = frame_l3(&got)[42];
	head[3] = frame_l3(&got)[43];
	CHECK(memcmp(frame_l3(&got) + 40, head, 8) == 0);
	CHECK(memcmp(frame_l3(&got) + 48, about->bytes + 14, quoted) == 0);
	CHECK_EQUAL(harness_flush(), 0);
}

#define MAC_A "\x50\x7c\x6f\x20\x30\x70"
#define MAC_9 "\x50\x7c\x6f\x20\x30\x79"

static void errors(void)
{
	struct frame frame;

	for (unsigned hop_limit = 0; hop_limit < 2; hop_limit++) {
		frame_ip6(&frame, 0, A, BEHIND, (uint8_t)hop_limit, 1300);
		CHECK_REASON("ip6-rewrite", "hop limit expired", 0, &frame);
		check_error(&frame, ROUTER_0, 3, 0, 0, MAC_A);
	}
	frame_ip6(&frame, 0, A, BEHIND, 64, 1453);
	CHECK_REASON("ip6-rewrite", "mtu exceeded", 0, &frame);
	check_error(&frame, ROUTER_0, 2, 0, 1500, MAC_A);
	frame_ip6(&frame, 0, A, "3fff::1", 64, 4);
	CHECK_REASON("ip6-lookup", "no route", 0, &frame);
	check_error(&frame, ROUTER_0, 1, 0, 0, MAC_A);
	frame_ip6(&frame, 0, "fe80::9", BEHIND, 64, 4);
	CHECK_REASON("ip6-input", "source is link-local", 0, &frame);
	check_error(&frame, LINK_LOCAL_0, 1, 2, 0, MAC_9);
	/* RFC 4443 2.2 a: from the address that it was for. */
	frame_ip6(&frame, 0, A, "2001:db8:0:2::1", 64, 4);
	CHECK_REASON("ip6-local", "no such port", 0, &frame);
	check_error(&frame, "2001:db8:0:2::1", 1, 4, 0, MAC_A);
	frame_l3(&frame)[6] = 200;
	CHECK_REASON("ip6-local", "no such protocol", 0, &frame);
	check_error(&frame, "2001:db8:0:2::1", 4, 1, 6, MAC_A);
}

static void extension_header_errors(void)
{
	static const uint8_t tell[] = {0, 0, 1, 0, 0x9e, 2, 0, 0};
	static const uint8_t unless_group[] = {0, 0, 0xde, 4, 0, 0, 0, 0};
	static const uint8_t discard[] = {0, 0, 0x5e, 4, 0, 0, 0, 0};
	static const uint8_t routing[] = {0, 0, 0, 1, 0, 0, 0, 0};
	static const uint8_t fragment[] = {0, 0, 0, 1, 0, 0, 0, 1};
	static const uint8_t padding[] = {0, 0, 1, 4, 0, 0, 0, 0};
	struct frame frame;

	frame_ip6(&frame, 0, A, ROUTER_0, 64, 4);
	frame_extend6(&frame, 0, tell, sizeof(tell));
	CHECK_REASON("ip6-local", "unknown option", 0, &frame);
	check_error(&frame, ROUTER_0, 4, 2, 44, MAC_A);
	frame_ip6(&frame, 0, A, ROUTER_0, 64, 4);
	frame_extend6(&frame, 60, unless_group, sizeof(unless_group));
	CHECK_REASON("ip6-local", "unknown option", 0, &frame);
	check_error(&frame, ROUTER_0, 4, 2, 42, MAC_A);
	frame_ip6(&frame, 0, A, "ff02::1", 64, 4);
	frame_extend6(&frame, 60, unless_group, sizeof(unless_group));
	CHECK_REASON("ip6-local", "unknown option", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
	/* RFC 4443 2.4 e.3: errors that may be sent about a packet to a group, from an address of
	 * its own. */
	frame_ip6(&frame, 0, A, "ff02::1", 64, 4);
	frame_extend6(&frame, 60, tell, sizeof(tell));
	CHECK_REASON("ip6-local", "unknown option", 0, &frame);
	check_error(&frame, ROUTER_0, 4, 2, 44, MAC_A);
	frame_ip6(&frame, 0, A, ROUTER_0, 64, 4);
	frame_extend6(&frame, 60, discard, sizeof(discard));
	CHECK_REASON("ip6-local", "unknown option", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
	frame_ip6(&frame, 0, A, ROUTER_0, 64, 4);
	frame_extend6(&frame, 43, routing, sizeof(routing));
	CHECK_REASON("ip6-local", "routing header", 0, &frame);
	check_error(&frame, ROUTER_0, 4, 0, 42, MAC_A);
	frame_ip6(&frame, 0, A, ROUTER_0, 64, 4);
	frame_extend6(&frame, 44, fragment, sizeof(fragment));
	CHECK_REASON("ip6-local", "fragment for the router itself", 0, &frame);
	frame_ip6(&frame, 0, A, ROUTER_0, 64, 4);
	frame_l3(&frame)[6] = 60;
	frame_l3(&frame)[41] = 200;
	CHECK_REASON("ip6-local", "malformed extension headers", 0, &frame);
	/* RFC 8200 4.1: hop-by-hop options anywhere else are an unknown header. */
	frame_ip6(&frame, 0, A, ROUTER_0, 64, 4);
	frame_extend6(&frame, 0, padding, sizeof(padding));
	frame_extend6(&frame, 60, padding, sizeof(padding));
	CHECK_REASON("ip6-local", "no such protocol", 0, &frame);
	check_error(&frame, ROUTER_0, 4, 1, 40, MAC_A);
	CHECK_EQUAL(harness_flush(), 0);
}

static void no_error(const char *reason, const struct frame *frame)
{
	CHECK_REASON("icmp6-error", reason, 0, frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void errors_that_must_not_be_sent(void)
{
	static const uint8_t unreachable[8] = {1}, redirect[40] = {137};
	static const uint8_t options[] = {0, 0, 1, 4, 0, 0, 0, 0};
	struct frame frame;

	frame_icmp6(&frame, 0, A, BEHIND, 1, unreachable, sizeof(unreachable));
	no_error("about an icmp6 error", &frame);
	frame_extend6(&frame, 60, options, sizeof(options));
	no_error("about an icmp6 error", &frame);
	frame_icmp6(&frame, 0, A, BEHIND, 1, redirect, sizeof(redirect));
	no_error("about an icmp6 error", &frame);
	frame_ip6(&frame, 0, A, "ff02::1", 64, 4);
	no_error("about a multicast", &frame);
	frame_ip6(&frame, 0, "::", ROUTER_0, 64, 4);
	no_error("source is no unicast address", &frame);
	frame_ip6(&frame, 0, "::ffff:1.2.3.4", BEHIND, 1, 4);
	no_error("source is no unicast address", &frame);
	frame_ip6(&frame, 0, ROUTER_0, BEHIND, 1, 4);
	no_error("source is the router itself", &frame);
	frame_ip6(&frame, 0, LINK_LOCAL_0, BEHIND, 1, 4);
	no_error("source is the router itself", &frame);
}

static void rate_limit(void)
{
	struct frame frame;

	frame_ip6(&frame, 0, A, BEHIND, 1, 4);
	for (unsigned i = 0; i < 1000; i++)
		harness_put(0, &frame);
	harness_walk();
	CHECK(harness_balanced());
	CHECK_EQUAL(harness_flush(), ERRORS_BURST);
	CHECK_EQUAL(harness_reason("icmp6-error", "rate limited"), 1000 - ERRORS_BURST);
	harness_seconds(0.0505);
	for (unsigned i = 0; i < 1000; i++)
		harness_put(0, &frame);
	harness_walk();
	CHECK_EQUAL(harness_flush(), ERRORS_PER_SECOND / 20);
}

static void check_echo(const char *from, const char *to, const char *answer_from, const char *mac)
{
	static const uint8_t options[] = {0, 0, 1, 4, 0, 0, 0, 0};
	uint8_t request[60] = {128, 0, 0, 0, 1, 2, 3, 4, 'x', 'y'}, source[16];
	struct frame frame, got;

	ip6_of(answer_from, source);
	for (unsigned extended = 0; extended < 2; extended++) {
		frame_icmp6(&frame, 0, from, to, 1, request, sizeof(request) - extended);
		if (extended)
			frame_extend6(&frame, 0, options, sizeof(options));
		CHECK_REASON("icmp6-echo", "echo request answered", 0, &frame);
		CHECK(harness_get(0, &got));
		CHECK(memcmp(got.bytes, mac, 6) == 0);
		CHECK(memcmp(got.bytes + 6, &port_at(0)->mac, 6) == 0);
		CHECK(frame_icmp6_ok(&got));
		CHECK_EQUAL(frame_l3(&got)[7], 64);
		CHECK(memcmp(frame_l3(&got) + 8, source, 16) == 0);
		CHECK(memcmp(frame_l3(&got) + 24, frame_l3(&frame) + 8, 16) == 0);
		CHECK_EQUAL(got.length, 14 + 40 + sizeof(request) - extended);
		CHECK_EQUAL(frame_l3(&got)[40], 129);
		CHECK(memcmp(frame_l3(&got) + 44, request + 4, sizeof(request) - extended - 4) ==
			0);
	}
	CHECK_EQUAL(harness_flush(), 0);
}

static void echo(void)
{
	check_echo(A, ROUTER_0, ROUTER_0, MAC_A);
	check_echo(A, "2001:db8:0:2::1", "2001:db8:0:2::1", MAC_A);
	check_echo("fe80::9", LINK_LOCAL_0, LINK_LOCAL_0, MAC_9);
	check_echo("fe80::9", ROUTER_0, ROUTER_0, MAC_9);
	check_echo("fe80::9", "ff02::1", LINK_LOCAL_0, MAC_9);
	check_echo(A, "ff02::2", ROUTER_0, MAC_A);
}

static void local_reasons(void)
{
	uint8_t request[12] = {128};
	struct frame frame;

	frame_icmp6(&frame, 0, A, ROUTER_0, 64, request, sizeof(request));
	frame_l3(&frame)[42] ^= 1;
	CHECK_REASON("ip6-local", "bad icmp6 checksum", 0, &frame);
	frame_icmp6(&frame, 0, A, ROUTER_0, 64, request, 4);
	CHECK_REASON("icmp6-echo", "shorter than an echo request", 0, &frame);
	frame_icmp6(&frame, 0, "::", ROUTER_0, 64, request, sizeof(request));
	CHECK_REASON("icmp6-echo", "source is unspecified", 0, &frame);
	request[0] = 133;
	frame_icmp6(&frame, 0, "fe80::9", "ff02::2", 255, request, 8);
	CHECK_REASON("ip6-local", "icmp6 message that asks for no answer", 0, &frame);
	frame_icmp6(&frame, 0, A, ROUTER_0, 64, request, 3);
	CHECK_REASON("ip6-local", "shorter than an icmp6 header", 0, &frame);
	frame_l3(&frame)[6] = 59;
	CHECK_REASON("ip6-local", "no next header", 0, &frame);
	frame_ip6(&frame, 0, A, LINK_LOCAL_1, 64, 4);
	CHECK_REASON("ip6-local", "link-local address of another interface", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void disabled(void)
{
	struct frame frame;

	frame_ip6(&frame, 1, A, BEHIND, 64, 4);
	CHECK_REASON("ethernet-input", "ip6 disabled on the interface", 1, &frame);
	frame_ip6(&frame, 0, A, "ff02::1", 64, 4);
	CHECK_REASON("ip6-local", "no such port", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void only_link_local(void)
{
	struct frame frame;

	frame_ip6(&frame, 0, A, "3fff::1", 64, 4);
	no_error("interface has no address", &frame);
	check_echo("fe80::9", "ff02::1", LINK_LOCAL_0, MAC_9);
}

static const struct harness_case cases[] = {
	{"RFC 8200 3: hop limit down, nothing else", forwards, .cli = cli},
	{"RFC 8200 4: extension headers pass", extension_headers_pass, .cli = cli},
	{"vectors of all kinds", vectors_of_all_kinds, .cli = cli},
	{"drop reasons of ip6-input", input_reasons, .cli = cli},
	{"RFC 4291: destinations that are not forwarded", special_destinations, .cli = cli},
	{"RFC 4443 3: errors", errors, .cli = cli},
	{"RFC 8200 4.2 to 4.5: errors about extension headers", extension_header_errors,
		.cli = cli},
	{"RFC 4443 2.4 e: errors that must not be sent", errors_that_must_not_be_sent, .cli = cli},
	{"RFC 4443 2.4 f: rate limit", rate_limit, .cli = cli},
	{"RFC 4443 4: echo", echo, .cli = cli},
	{"drop reasons of ip6-local and icmp6-echo", local_reasons, .cli = cli},
	{"an interface without IPv6", disabled,
		.cli = "set int state e0 up\nset int state e1 up\n"
		       "set int ip address e0 2001:db8:0:1::1/64\n"},
	{"an interface with nothing but its link-local address", only_link_local,
		.cli = "set int state e0 up\nenable ip6 interface e0\n"
		       "ip neighbor e0 fe80::9 50:7c:6f:20:30:79\n"},
};
HARNESS_MAIN(cases)
