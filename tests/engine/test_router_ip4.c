/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 through the router's graph, packet by packet. */
#include "harness.h"

#include <netinet/ip_icmp.h>
#include <rte_ip.h>

#define HOST_A RTE_IPV4(16, 0, 0, 1)
#define HOST_B RTE_IPV4(48, 0, 0, 9)
#define ROUTER_0 RTE_IPV4(100, 64, 1, 1)
#define PEER_0 RTE_IPV4(100, 64, 1, 2)
#define ROUTER_1 RTE_IPV4(100, 64, 2, 1)

static const uint8_t mac_e1[] = {0x02, 0, 0, 0, 0x0e, 0x01};
static const uint8_t mac_peer1[] = {0x50, 0x7c, 0x6f, 0x20, 0x30, 0x71};

/* What the router must make of a packet from e0 to a host behind e1. */
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
	CHECK_REASON("ethernet-input", "vlan tagged", 0, &frame);
	frame_ethernet(&frame, 0, 0x88a8);
	CHECK_REASON("ethernet-input", "vlan tagged", 0, &frame);
	frame_ethernet(&frame, 0, 0x86dd);
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

/* The error that came back quotes the packet and has the sums right. */
static void check_error(
	const struct frame *about, uint32_t source, uint8_t type, uint8_t code, uint16_t mtu)
{
	struct frame got;
	unsigned quoted = RTE_MIN(about->length - 14, 548u);
	uint8_t *ip, *icmp;
	uint32_t total = 0;

	CHECK(harness_get(0, &got));
	ip = frame_l3(&got);
	icmp = ip + 20;
	CHECK_EQUAL(got.length, 14 + 28 + quoted);
	CHECK_EQUAL(ip[2] << 8 | ip[3], 28 + quoted);
	CHECK(frame_checksum_ok(ip));
	CHECK_EQUAL(ip[8], 64);
	CHECK_EQUAL(ip[9], 1);
	CHECK_EQUAL(ip[1], 0xc0);
	CHECK_EQUAL((uint32_t)ip[12] << 24 | RTE_IPV4(0, ip[13], ip[14], ip[15]), source);
	CHECK(memcmp(ip + 16, about->bytes + 14 + 12, 4) == 0);
	CHECK_EQUAL(icmp[0], type);
	CHECK_EQUAL(icmp[1], code);
	CHECK_EQUAL(icmp[4] << 8 | icmp[5], 0);
	CHECK_EQUAL(icmp[6] << 8 | icmp[7], mtu);
	CHECK(memcmp(icmp + 8, about->bytes + 14, quoted) == 0);
	for (unsigned i = 0; i < 8 + quoted; i++)
		total += (uint32_t)icmp[i] << (i % 2 == 0 ? 8 : 0);
	CHECK_EQUAL(total % 0xffff, 0);
	CHECK(!harness_get(0, &got) && !harness_get(1, &got));
}

static void ttl_expired(void)
{
	struct frame frame;

	for (uint8_t ttl = 0; ttl < 2; ttl++) {
		frame_ip4(&frame, 0, HOST_A, HOST_B, ttl, 1000);
		CHECK_REASON("ip4-rewrite", "ttl expired", 0, &frame);
		check_error(&frame, ROUTER_0, ICMP_TIMXCEED, 0, 0);
	}
}

static void unreachable(void)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST_A, RTE_IPV4(9, 9, 9, 9), 64, 100);
	CHECK_REASON("ip4-lookup", "no route", 0, &frame);
	check_error(&frame, ROUTER_0, ICMP_UNREACH, ICMP_UNREACH_NET, 0);
	/* For the router: with any TTL, to any of its addresses. */
	frame_ip4(&frame, 0, HOST_A, ROUTER_1, 0, 100);
	CHECK_REASON("ip4-local", "no such port", 0, &frame);
	check_error(&frame, ROUTER_0, ICMP_UNREACH, ICMP_UNREACH_PORT, 0);
	frame_l3(&frame)[9] = 89;
	frame_checksum(frame_l3(&frame));
	CHECK_REASON("ip4-local", "no such protocol", 0, &frame);
	check_error(&frame, ROUTER_0, ICMP_UNREACH, ICMP_UNREACH_PROTOCOL, 0);
	frame_l3(&frame)[6] = 0x20;
	frame_checksum(frame_l3(&frame));
	CHECK_REASON("ip4-local", "fragment for the router itself", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void mtu(void)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 1473);
	CHECK_REASON("ip4-rewrite", "mtu exceeded, fragmentation not supported", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
	frame_l3(&frame)[6] = 0x40;
	frame_checksum(frame_l3(&frame));
	CHECK_REASON("ip4-rewrite", "mtu exceeded, don't fragment set", 0, &frame);
	check_error(&frame, ROUTER_0, ICMP_UNREACH, ICMP_UNREACH_NEEDFRAG, 1500);
}

static void check_no_error(const char *reason, struct frame *frame)
{
	frame_checksum(frame_l3(frame));
	CHECK_REASON("icmp4-error", reason, 0, frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void errors_that_must_not_be_sent(void)
{
	static const uint8_t errors[] = {3, 4, 5, 11, 12};
	static const uint32_t senders[] = {0, RTE_IPV4(127, 0, 0, 1), RTE_IPV4(224, 0, 0, 1),
		RTE_IPV4(255, 255, 255, 255), RTE_IPV4(250, 0, 0, 1), RTE_IPV4(100, 64, 1, 3)};
	struct frame frame;

	for (unsigned i = 0; i < sizeof(errors); i++) {
		frame_ip4(&frame, 0, HOST_A, HOST_B, 1, 8);
		frame_l3(&frame)[9] = 1;
		frame_l3(&frame)[20] = errors[i];
		check_no_error("about an icmp error", &frame);
	}
	frame_ip4(&frame, 0, HOST_A, HOST_B, 1, 8);
	frame_l3(&frame)[9] = 1;
	frame_l3(&frame)[3] = 20;
	check_no_error("about an icmp error", &frame);
	frame_ip4(&frame, 0, HOST_A, HOST_B, 1, 8);
	frame_l3(&frame)[7] = 1;
	check_no_error("about a fragment that is not the first", &frame);
	for (unsigned i = 0; i < RTE_DIM(senders); i++) {
		frame_ip4(&frame, 0, senders[i], HOST_B, 1, 8);
		check_no_error("source is no unicast address", &frame);
	}
	frame_ip4(&frame, 0, ROUTER_1, HOST_B, 1, 8);
	check_no_error("source is the router itself", &frame);
}

/* An echo request that runs out of TTL is answered: it is no error. */
static void errors_about_echo(void)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST_A, HOST_B, 1, 8);
	frame_l3(&frame)[9] = 1;
	frame_l3(&frame)[20] = ICMP_ECHO;
	frame_checksum(frame_l3(&frame));
	CHECK_REASON("ip4-rewrite", "ttl expired", 0, &frame);
	check_error(&frame, ROUTER_0, ICMP_TIMXCEED, 0, 0);
}

static void rate_limit(void)
{
	struct frame frame;
	uint64_t limited;
	unsigned answers;

	frame_ip4(&frame, 0, HOST_A, HOST_B, 1, 8);
	for (unsigned i = 0; i < 2000; i++)
		harness_put(0, &frame);
	harness_walk();
	answers = harness_flush();
	limited = harness_reason("icmp4-error", "rate limited");
	CHECK(answers >= 128 && answers < 1000);
	CHECK_EQUAL(answers + limited, 2000);
	CHECK_EQUAL(harness_reason("ip4-rewrite", "ttl expired"), 2000);
	CHECK_EQUAL(harness_originated(), 2000);
	CHECK(harness_balanced());
}

static void fill_echo(struct frame *frame, uint32_t source, uint32_t target, unsigned payload)
{
	uint8_t *icmp;
	uint32_t total = 0;

	frame_ip4(frame, 0, source, target, 1, payload);
	frame_l3(frame)[9] = 1;
	frame_checksum(frame_l3(frame));
	icmp = frame_l3(frame) + 20;
	icmp[0] = ICMP_ECHO;
	icmp[1] = icmp[2] = icmp[3] = 0;
	for (unsigned i = 0; i < 8 + payload; i++)
		total += (uint32_t)icmp[i] << (i % 2 == 0 ? 8 : 0);
	total = 0xffff - total % 0xffff;
	icmp[2] = (uint8_t)(total >> 8);
	icmp[3] = (uint8_t)total;
}

static void echo(void)
{
	struct frame frame, wanted, got;

	for (unsigned payload = 0; payload < 1472; payload += 13) {
		uint8_t *ip = frame_l3(&wanted);
		uint32_t sum;

		fill_echo(&frame, HOST_A, ROUTER_1, payload);
		wanted = frame;
		memcpy(wanted.bytes, frame.bytes + 6, 6);
		memcpy(wanted.bytes + 6, frame.bytes, 6);
		memcpy(ip + 12, frame_l3(&frame) + 16, 4);
		memcpy(ip + 16, frame_l3(&frame) + 12, 4);
		ip[8] = 64;
		ip[20] = ICMP_ECHOREPLY;
		sum = (uint32_t)(ip[22] << 8 | ip[23]) + 0x800;
		sum = (sum & 0xffff) + (sum >> 16);
		ip[22] = (uint8_t)(sum >> 8);
		ip[23] = (uint8_t)sum;
		frame_checksum(ip);
		CHECK_REASON("icmp4-echo", "echo request answered", 0, &frame);
		CHECK(harness_get(0, &got));
		CHECK(frame_same(&got, &wanted));
	}
}

static void echo_reasons(void)
{
	struct frame frame;

	fill_echo(&frame, HOST_A, ROUTER_0, 32);
	frame_l3(&frame)[30] ^= 1;
	CHECK_REASON("icmp4-echo", "bad icmp checksum", 0, &frame);
	fill_echo(&frame, RTE_IPV4(224u, 1, 1, 1), ROUTER_0, 32);
	CHECK_REASON("icmp4-echo", "source is no unicast address", 0, &frame);
	fill_echo(&frame, HOST_A, ROUTER_0, 32);
	frame_l3(&frame)[20] = ICMP_ECHOREPLY;
	CHECK_REASON("ip4-local", "icmp message that asks for no answer", 0, &frame);
	frame_l3(&frame)[3] = 27;
	frame_checksum(frame_l3(&frame));
	CHECK_REASON("ip4-local", "shorter than an icmp header", 0, &frame);
	/* From the router to itself: answered, and the answer is taken. */
	fill_echo(&frame, ROUTER_0, ROUTER_0, 32);
	CHECK_REASON("icmp4-echo", "echo request answered", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
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

static const char no_address[] = "set int state e0 up\n"
				 "ip route add 16.0.0.0/24 via 1.1.1.1 e0\n"
				 "ip neighbor e0 1.1.1.1 50:7c:6f:20:30:70\n";

static void error_without_address(void)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 4);
	CHECK_REASON("icmp4-error", "interface has no address", 0, &frame);
}

HARNESS_CASE(byte_for_byte, harness_router_cli)
HARNESS_CASE(mixed_vectors, harness_router_cli)
HARNESS_CASE(padding_is_taken_off, harness_router_cli)
HARNESS_CASE(ethernet_reasons, harness_router_cli)
HARNESS_CASE(input_reasons, harness_router_cli)
HARNESS_CASE(options, harness_router_cli)
HARNESS_CASE(lookup_reasons, harness_router_cli)
HARNESS_CASE(ttl_expired, harness_router_cli)
HARNESS_CASE(unreachable, harness_router_cli)
HARNESS_CASE(mtu, harness_router_cli)
HARNESS_CASE(errors_that_must_not_be_sent, harness_router_cli)
HARNESS_CASE(errors_about_echo, harness_router_cli)
HARNESS_CASE(rate_limit, harness_router_cli)
HARNESS_CASE(echo, harness_router_cli)
HARNESS_CASE(echo_reasons, harness_router_cli)
HARNESS_CASE(output_reasons, harness_router_cli)
HARNESS_CASE(interfaces_down, one_down)
HARNESS_CASE(error_without_address, no_address)

int main(void)
{
	static const struct test_case cases[] = {
		{"forwarded byte for byte", byte_for_byte_case},
		{"vectors in which packets part", mixed_vectors_case},
		{"Ethernet padding is taken off", padding_is_taken_off_case},
		{"drop reasons of ethernet-input", ethernet_reasons_case},
		{"drop reasons of ip4-input", input_reasons_case},
		{"options", options_case},
		{"drop reasons of ip4-lookup", lookup_reasons_case},
		{"RFC 1812 5.3.1: TTL", ttl_expired_case},
		{"RFC 1812 5.2.7.1: unreachable", unreachable_case},
		{"MTU and don't fragment", mtu_case},
		{"RFC 1812 4.3.2.7: no ICMP errors", errors_that_must_not_be_sent_case},
		{"ICMP errors about echo requests", errors_about_echo_case},
		{"RFC 1812 4.3.2.8: rate limit", rate_limit_case},
		{"RFC 1812 4.3.3.6: echo", echo_case},
		{"drop reasons of icmp4-echo and ip4-local", echo_reasons_case},
		{"tx ring full", output_reasons_case},
		{"interface down", interfaces_down_case},
		{"interface without address", error_without_address_case},
		{0},
	};

	return test_run(cases);
}
