/* SPDX-License-Identifier: BSD-3-Clause */
/* The router's own messages: ICMP errors, when they may be sent, and echo replies. */
#include "node/error_bucket.h"
#include "harness.h"

#include <netinet/ip_icmp.h>
#include <rte_ip.h>

#define HOST_A RTE_IPV4(16, 0, 0, 1)
#define HOST_B RTE_IPV4(48, 0, 0, 9)
#define ROUTER_0 RTE_IPV4(100, 64, 1, 1)
#define ROUTER_1 RTE_IPV4(100, 64, 2, 1)

/* The received error quotes the packet and has the sums right. `detail` is its second word: an MTU
 * in the lower half, a pointer in the uppermost byte. */
static void check_error(
	const struct frame *about, uint32_t source, uint8_t type, uint8_t code, uint32_t detail)
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
	CHECK_EQUAL(ip[1], 0xc0 | (about->bytes[15] & 0x1c));
	CHECK_EQUAL((uint32_t)ip[12] << 24 | RTE_IPV4(0, ip[13], ip[14], ip[15]), source);
	CHECK(memcmp(ip + 16, about->bytes + 14 + 12, 4) == 0);
	CHECK_EQUAL(icmp[0], type);
	CHECK_EQUAL(icmp[1], code);
	CHECK_EQUAL((uint32_t)icmp[4] << 24 | RTE_IPV4(0, icmp[5], icmp[6], icmp[7]), detail);
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

/* A packet received at e0 from a sender behind e1: the error goes there, from e1's address. */
static void error_goes_another_way(void)
{
	struct frame frame, got;

	frame_ip4(&frame, 0, RTE_IPV4(48, 0, 0, 7), HOST_B, 1, 8);
	frame_l3(&frame)[1] = 0xff;
	frame_checksum(frame_l3(&frame));
	CHECK_REASON("ip4-rewrite", "ttl expired", 0, &frame);
	CHECK(harness_get(1, &got));
	CHECK(memcmp(frame_l3(&got) + 12, "\x64\x40\x02\x01\x30\0\0\x07", 8) == 0);
	CHECK_EQUAL(frame_l3(&got)[1], 0xdc);
	CHECK_EQUAL(harness_flush(), 0);
}

/* An option of that length at byte 21 of the header, where three are left. */
static void malformed_options(void)
{
	static const uint8_t lengths[] = {0, 1, 4, 255};
	struct frame frame;

	for (unsigned i = 0; i < sizeof(lengths); i++) {
		frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 100);
		frame_l3(&frame)[0] = 0x46;
		memcpy(frame_l3(&frame) + 20, "\x01\x07\x00\x00", 4);
		frame_l3(&frame)[22] = lengths[i];
		frame_checksum(frame_l3(&frame));
		CHECK_REASON("ip4-input", "malformed options", 0, &frame);
		check_error(&frame, ROUTER_0, ICMP_PARAMPROB, 0, 21u << 24);
	}
	/* At the header's last byte there is no length. */
	memcpy(frame_l3(&frame) + 20, "\x01\x01\x01\x07", 4);
	frame_checksum(frame_l3(&frame));
	CHECK_REASON("ip4-input", "malformed options", 0, &frame);
	check_error(&frame, ROUTER_0, ICMP_PARAMPROB, 0, 23u << 24);
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
	CHECK_REASON("ip4-frag", "fragmented", 0, &frame);
	CHECK_EQUAL(harness_flush(), 2);
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

static unsigned answers_after(double seconds, const struct frame *frame)
{
	harness_seconds(seconds);
	for (unsigned i = 0; i < 2 * ERRORS_BURST; i++)
		harness_put(0, frame);
	harness_walk();
	return harness_flush();
}

static void rate_limit(void)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST_A, HOST_B, 1, 8);
	for (unsigned i = 0; i < 2000; i++)
		harness_put(0, &frame);
	harness_walk();
	CHECK_EQUAL(harness_flush(), ERRORS_BURST);
	CHECK_EQUAL(harness_reason("icmp4-error", "rate limited"), 2000 - ERRORS_BURST);
	CHECK_EQUAL(harness_reason("ip4-rewrite", "ttl expired"), 2000);
	CHECK_EQUAL(harness_originated(), 2000);
	CHECK_EQUAL(answers_after(0.0496, &frame), ERRORS_PER_SECOND * 49 / 1000);
	/* Tokens saved for a part of a message count on; the burst is the maximum. */
	CHECK_EQUAL(answers_after(0.0506, &frame), ERRORS_PER_SECOND * 51 / 1000);
	CHECK_EQUAL(answers_after(10, &frame), ERRORS_BURST);
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

static const char no_address[] = "set int state e0 up\n"
				 "ip route add 16.0.0.0/24 via 1.1.1.1 e0\n"
				 "ip neighbor e0 1.1.1.1 50:7c:6f:20:30:70\n";

static void error_without_address(void)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 4);
	CHECK_REASON("icmp4-error", "interface has no address", 0, &frame);
}

static const struct harness_case cases[] = {
	{"RFC 1812 5.3.1: TTL", ttl_expired, .cli = harness_router_cli},
	{"RFC 1812 4.3.2.4: source address", error_goes_another_way, .cli = harness_router_cli},
	{"RFC 1812 4.3.3.5: parameter problem", malformed_options, .cli = harness_router_cli},
	{"RFC 1812 5.2.7.1: unreachable", unreachable, .cli = harness_router_cli},
	{"MTU and don't fragment", mtu, .cli = harness_router_cli},
	{"RFC 1812 4.3.2.7: no ICMP errors", errors_that_must_not_be_sent,
		.cli = harness_router_cli},
	{"ICMP errors about echo requests", errors_about_echo, .cli = harness_router_cli},
	{"RFC 1812 4.3.2.8: rate limit", rate_limit, .cli = harness_router_cli},
	{"RFC 1812 4.3.3.6: echo", echo, .cli = harness_router_cli},
	{"drop reasons of icmp4-echo and ip4-local", echo_reasons, .cli = harness_router_cli},
	{"interface without address", error_without_address, .cli = no_address},
};
HARNESS_MAIN(cases)
