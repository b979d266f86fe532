/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes and labels with several paths, and labels on routes. */
#include "node/error_bucket.h"
#include "harness.h"

#include "router/cli.h"
#include "router/load_balance.h"
#include "router/router.h"

#include <netinet/ip_icmp.h>
#include <rte_ip.h>

#define HOST_A RTE_IPV4(16, 0, 0, 1)
#define HOST_B RTE_IPV4(48, 0, 0, 9)
#define FLOWS 1024
#define BOTTOM 0x100u
#define ENTRY(label, tc, bottom, ttl) ((label) << 12 | (tc) << 9 | (bottom) | (ttl))

static const char cli[] = "set int state e0 up\n"
			  "set int state e1 up\n"
			  "set int state e2 up\n"
			  "set int ip address e0 100.64.1.1/24\n"
			  "set int ip address e1 100.64.2.1/24\n"
			  "set int ip address e2 100.64.3.1/24\n"
			  "ip neighbor e0 100.64.1.2 50:7c:6f:20:30:70\n"
			  "ip neighbor e1 100.64.2.2 50:7c:6f:20:30:71\n"
			  "ip neighbor e2 100.64.3.2 50:7c:6f:20:30:72\n"
			  "ip route add 16.0.0.0/8 via 100.64.1.2\n"
			  "ip route add 48.0.0.0/8 via 100.64.1.2 e0 via 100.64.2.2 weight 2 "
			  "via 100.64.3.2 e2\n"
			  "set interface mpls e0 enable\n"
			  "mpls local-label add 18 eos via 100.64.1.2 e0 out-labels 100 "
			  "via 100.64.2.2 e1 out-labels 200\n"
			  "mpls local-label add 18 non-eos via 100.64.1.2 e0 out-labels 100 "
			  "via 100.64.2.2 e1 out-labels 200\n"
			  "mpls local-label add 19 eos via 100.64.1.2 e0 via 100.64.2.2 e1\n";

static const char *apply(void *context, const struct router_order *order)
{
	(void)context;
	return router_apply(order) == 0 ? NULL : "refused";
}

/* Carries the commands out while the router runs. */
static bool command(const char *text)
{
	return cli_parse("test", text, strlen(text), apply, NULL, stderr) == 0;
}

static void put_flow(unsigned flow, uint32_t dst, uint8_t mark)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST_A, dst, 64, 4);
	frame_l3(&frame)[20] = (uint8_t)(flow >> 8);
	frame_l3(&frame)[21] = (uint8_t)flow;
	frame.bytes[frame.length - 1] = mark;
	harness_put(0, &frame);
}

/* Where each flow went: port, by flow. Returns the packets. */
static unsigned take_flows(uint8_t ways[FLOWS], unsigned counts[3])
{
	struct frame frame;
	unsigned packets = 0;

	memset(counts, 0, 3 * sizeof(*counts));
	for (unsigned port = 0; port < 3; port++)
		while (harness_get(port, &frame)) {
			const uint8_t *l3 = frame_l3(&frame);

			ways[(l3[20] << 8 | l3[21]) % FLOWS] = (uint8_t)port;
			counts[port]++;
			packets++;
		}
	return packets;
}

static unsigned send_flows(uint32_t dst, uint8_t ways[FLOWS], unsigned counts[3])
{
	for (unsigned flow = 0; flow < FLOWS; flow++)
		put_flow(flow, dst, 0);
	harness_walk();
	CHECK(harness_balanced());
	return take_flows(ways, counts);
}

static bool near(unsigned got, unsigned wanted)
{
	return got > wanted * 3 / 4 && got < wanted * 5 / 4;
}

static void by_weight(void)
{
	uint8_t ways[FLOWS], again[FLOWS];
	unsigned counts[3];

	CHECK_EQUAL(send_flows(HOST_B, ways, counts), FLOWS);
	CHECK(near(counts[0], FLOWS / 4) && near(counts[1], FLOWS / 2) &&
		near(counts[2], FLOWS / 4));
	CHECK_EQUAL(send_flows(HOST_B, again, counts), FLOWS);
	CHECK(memcmp(ways, again, sizeof(ways)) == 0);
}

/* Byte for byte as from a route with one path, and in the order in which they came. */
static void as_with_one_path(void)
{
	static const uint8_t headers[3][14] = {
		{0x50, 0x7c, 0x6f, 0x20, 0x30, 0x70, 2, 0, 0, 0, 0x0e, 0, 8, 0},
		{0x50, 0x7c, 0x6f, 0x20, 0x30, 0x71, 2, 0, 0, 0, 0x0e, 1, 8, 0},
		{0x50, 0x7c, 0x6f, 0x20, 0x30, 0x72, 2, 0, 0, 0, 0x0e, 2, 8, 0}};
	struct frame frame, wanted;
	uint8_t last[256];

	memset(last, 0, sizeof(last));
	for (unsigned packet = 0; packet < 2000; packet++)
		put_flow(packet % 13, HOST_B, (uint8_t)(1 + packet / 13));
	harness_walk();
	for (unsigned port = 0; port < 3; port++)
		while (harness_get(port, &frame)) {
			unsigned flow = frame_l3(&frame)[21];
			uint8_t mark = frame.bytes[frame.length - 1];

			frame_ip4(&wanted, 0, HOST_A, HOST_B, 63, 4);
			memcpy(wanted.bytes, headers[port], 14);
			frame_l3(&wanted)[20] = 0;
			frame_l3(&wanted)[21] = (uint8_t)flow;
			wanted.bytes[wanted.length - 1] = mark;
			CHECK(frame_same(&frame, &wanted));
			CHECK_EQUAL(mark, last[flow] + 1);
			last[flow] = mark;
		}
}

/* An interface goes down and comes up: only its flows move, and nothing is lost. */
static void interface_down(void)
{
	uint8_t ways[FLOWS], now[FLOWS];
	unsigned counts[3];

	send_flows(HOST_B, ways, counts);
	CHECK(command("set int state e1 down"));
	CHECK_EQUAL(send_flows(HOST_B, now, counts), FLOWS);
	CHECK_EQUAL(counts[1], 0);
	CHECK(near(counts[0], FLOWS / 2) && near(counts[2], FLOWS / 2));
	for (unsigned flow = 0; flow < FLOWS; flow++)
		CHECK(now[flow] == ways[flow] || ways[flow] == 1);
	memcpy(ways, now, sizeof(ways));
	CHECK(command("set int state e1 up"));
	CHECK_EQUAL(send_flows(HOST_B, now, counts), FLOWS);
	CHECK(near(counts[1], FLOWS / 2));
	for (unsigned flow = 0; flow < FLOWS; flow++)
		CHECK(now[flow] == ways[flow] || now[flow] == 1);
	CHECK(command("set int state e1 down\nset int state e2 down\nset int state e0 down"));
	CHECK(command("set int state e0 up"));
	CHECK_EQUAL(send_flows(HOST_B, now, counts), FLOWS);
	CHECK_EQUAL(counts[0], FLOWS);
}

static void paths_come_and_go(void)
{
	uint8_t ways[FLOWS], now[FLOWS];
	unsigned counts[3];

	send_flows(HOST_B, ways, counts);
	CHECK(command("ip route del 48.0.0.0/8 via 100.64.2.2"));
	CHECK_EQUAL(send_flows(HOST_B, now, counts), FLOWS);
	CHECK_EQUAL(counts[1], 0);
	for (unsigned flow = 0; flow < FLOWS; flow++)
		CHECK(now[flow] == ways[flow] || ways[flow] == 1);
	CHECK(command("ip route del 48.0.0.0/8 via 100.64.1.2 e0"));
	CHECK_EQUAL(send_flows(HOST_B, now, counts), FLOWS);
	CHECK_EQUAL(counts[2], FLOWS);
	CHECK(!command("ip route del 48.0.0.0/8 via 100.64.1.2 e0"));
	CHECK(!command("ip route del 48.0.0.0/8 via 100.64.3.2 e2 out-labels 7"));
	CHECK(command("ip route add 48.0.0.0/8 via 100.64.2.2"));
	CHECK_EQUAL(send_flows(HOST_B, now, counts), FLOWS);
	CHECK(near(counts[1], FLOWS / 2) && near(counts[2], FLOWS / 2));
	CHECK(command("ip route add 48.0.0.0/8 via 100.64.2.2"));
	CHECK_EQUAL(send_flows(HOST_B, ways, counts), FLOWS);
	CHECK(memcmp(ways, now, sizeof(ways)) == 0);
	CHECK(command("ip route del 48.0.0.0/8 via 100.64.2.2 via 100.64.3.2"));
	/* All are dropped; as many of the senders hear of it as may at once. */
	CHECK_EQUAL(send_flows(HOST_B, now, counts), ERRORS_BURST);
	CHECK_EQUAL(harness_reason("ip4-lookup", "no route"), FLOWS);
	CHECK_EQUAL(harness_reason("icmp4-error", "rate limited"), FLOWS - ERRORS_BURST);
	CHECK_EQUAL(load_balances_count(), 3);
}

/* Routes with the same paths share one; who is alone with its paths takes them away. */
static void shared(void)
{
	unsigned before = load_balances_count();
	char text[128];

	for (unsigned i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text),
			"ip route add 20.%u.%u.0/24 via 100.64.1.2 via 100.64.2.2 via 100.64.3.2",
			i / 250, i % 250);
		CHECK(command(text));
	}
	CHECK_EQUAL(load_balances_count(), before + 1);
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "ip route del 20.%u.%u.0/24", i / 250, i % 250);
		CHECK(command(text));
	}
	CHECK_EQUAL(load_balances_count(), before);
	/* More changes than there is room for, one after the other. */
	for (unsigned i = 0; i < 3 * LOAD_BALANCES_MAX; i++) {
		snprintf(text, sizeof(text), "ip route add 48.0.0.0/8 via 100.64.1.2 weight %u",
			1 + i % 255);
		CHECK(command(text));
	}
	CHECK_EQUAL(load_balances_count(), before);
	CHECK(command("ip route del 48.0.0.0/8"));
	CHECK_EQUAL(load_balances_count(), before - 1);
}

/* Too many kinds of path sets: refused, and what was there stays. */
static void no_room(void)
{
	unsigned made = load_balances_count();
	uint8_t ways[FLOWS];
	unsigned counts[3];
	char text[128];

	for (unsigned i = 0; i <= LOAD_BALANCES_MAX; i++) {
		snprintf(text, sizeof(text),
			"ip route add 20.%u.%u.0/24 via 100.64.1.2 weight %u via 100.64.2.2 "
			"weight %u\n",
			i / 250, i % 250, 2 + i % 250, 2 + i / 250);
		made += command(text);
	}
	CHECK_EQUAL(load_balances_count(), LOAD_BALANCES_MAX);
	CHECK(made < LOAD_BALANCES_MAX + 1);
	CHECK_EQUAL(send_flows(HOST_B, ways, counts), FLOWS);
}

/* Paths without a MAC address, and errors, as from a route with one path. */
static void not_the_usual(void)
{
	struct frame frame, got;

	CHECK(command("ip route add 50.0.0.0/8 via 100.64.2.9 via 100.64.3.9"));
	frame_ip4(&frame, 0, HOST_A, RTE_IPV4(50, 0, 0, 1), 64, 4);
	harness_send(0, &frame);
	CHECK_EQUAL(harness_held(), 1);
	CHECK(harness_get(1, &got) || harness_get(2, &got));
	CHECK_EQUAL(got.bytes[13], 6); /* ARP */
	frame_ip4(&frame, 0, HOST_A, HOST_B, 1, 4);
	CHECK_REASON("ip4-rewrite", "ttl expired", 0, &frame);
	CHECK(harness_get(0, &got));
	CHECK_EQUAL(frame_l3(&got)[20], ICMP_TIMXCEED);
}

static unsigned labelled_flow(
	unsigned flow, const uint32_t *stack, unsigned labels, struct frame *got)
{
	struct frame frame;

	frame_mpls(&frame, 0, stack, labels, HOST_A, HOST_B, 33, 20);
	frame_l3(&frame)[4 * labels + 20] = (uint8_t)(flow >> 8);
	frame_l3(&frame)[4 * labels + 21] = (uint8_t)flow;
	harness_send(0, &frame);
	return harness_get(0, got) ? 0 : harness_get(1, got) ? 1 : 2;
}

/* The packet beneath chooses the label's path, whatever the labels are. */
static void label_paths(void)
{
	unsigned counts[3] = {0};
	struct frame got;

	for (unsigned flow = 0; flow < FLOWS; flow++) {
		const uint32_t one[] = {ENTRY(18, 2, BOTTOM, 64)};
		const uint32_t two[] = {ENTRY(18, 2, 0, 64), ENTRY(99 + flow, 0, BOTTOM, 8)};
		unsigned way = labelled_flow(flow, one, 1, &got);
		uint32_t wanted = ENTRY(way == 0 ? 100u : 200u, 2, BOTTOM, 63), entry;

		memcpy(&entry, frame_l3(&got), sizeof(entry));
		CHECK_EQUAL(rte_be_to_cpu_32(entry), wanted);
		CHECK_EQUAL(got.bytes[5], 0x70 + way);
		counts[way]++;
		CHECK_EQUAL(labelled_flow(flow, two, 2, &got), way);
	}
	CHECK(near(counts[0], FLOWS / 2) && near(counts[1], FLOWS / 2));
	for (unsigned flow = 0; flow < 100; flow++) {
		const uint32_t stack[] = {ENTRY(19, 0, BOTTOM, 64)};

		CHECK(labelled_flow(flow, stack, 1, &got) < 2);
		CHECK_EQUAL(got.bytes[12] << 8 | got.bytes[13], 0x0800);
		CHECK(frame_checksum_ok(frame_l3(&got)));
	}
}

/* RFC 6790: the entropy label, when there is one, and nothing else. */
static void entropy_label(void)
{
	unsigned counts[3] = {0};
	struct frame got;

	for (unsigned flow = 0; flow < FLOWS; flow++) {
		const uint32_t stack[] = {ENTRY(18, 0, 0, 64), ENTRY(7, 0, 0, 64),
			ENTRY(0x12340 + flow, 0, BOTTOM, 0)};
		unsigned way = labelled_flow(1, stack, 3, &got);

		CHECK_EQUAL(labelled_flow(flow, stack, 3, &got), way);
		counts[way]++;
	}
	CHECK(near(counts[0], FLOWS / 2) && near(counts[1], FLOWS / 2));
}

/* RFC 4928: packets that are neither IPv4 nor IPv6 are distinguished by their labels alone. */
static void labels_alone(void)
{
	unsigned counts[3] = {0}, last = 0;
	struct frame frame, got;

	for (unsigned flow = 0; flow < 2 * FLOWS; flow++) {
		const uint32_t stack[] = {ENTRY(18, flow % 8, 0, 64 + flow % 7),
			ENTRY(5000 + flow / 2, 0, BOTTOM, 9)};
		unsigned way;

		frame_mpls(&frame, 0, stack, 2, HOST_A, HOST_B, 33, 20);
		frame_l3(&frame)[8] = 0;
		for (unsigned i = 9; i < 60; i++)
			frame_l3(&frame)[i] = (uint8_t)(flow + i);
		harness_send(0, &frame);
		way = harness_get(0, &got) ? 0 : harness_get(1, &got) ? 1 : 2;
		counts[way]++;
		if (flow % 2 == 1)
			CHECK_EQUAL(way, last);
		last = way;
	}
	CHECK(near(counts[0], FLOWS) && near(counts[1], FLOWS));
}

/* Stacks without a bottom, and frames that end anywhere. */
static void truncated(void)
{
	const uint32_t stack[] = {ENTRY(18, 0, 0, 64), ENTRY(7, 0, 0, 64), ENTRY(50, 0, 0, 1)};
	struct frame frame;

	frame_mpls(&frame, 0, stack, 3, HOST_A, HOST_B, 33, 20);
	for (unsigned length = frame.length; length >= 18; length--) {
		frame.length = length;
		harness_send(0, &frame);
		CHECK(harness_balanced());
		CHECK_EQUAL(harness_flush(), 1);
	}
}

static const struct harness_case cases[] = {
	{"flows by weight, each always the same way", by_weight, .cli = cli, .ports = 3},
	{"packets are as from one path, in their order", as_with_one_path, .cli = cli, .ports = 3},
	{"an interface goes down and comes up", interface_down, .cli = cli, .ports = 3},
	{"paths come and go", paths_come_and_go, .cli = cli, .ports = 3},
	{"routes share what is the same", shared, .cli = cli, .ports = 3},
	{"no room for more", no_room, .cli = cli, .ports = 3},
	{"unresolved neighbours and errors", not_the_usual, .cli = cli, .ports = 3},
	{"a label with two paths", label_paths, .cli = cli, .ports = 3},
	{"RFC 6790: entropy label", entropy_label, .cli = cli, .ports = 3},
	{"RFC 4928: no IP beneath the labels", labels_alone, .cli = cli, .ports = 3},
	{"truncated label stacks", truncated, .cli = cli, .ports = 3},
};
HARNESS_MAIN(cases)
