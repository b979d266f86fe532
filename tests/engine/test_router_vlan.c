/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN sub-interfaces: tags off and on, who a frame belongs to, ARP and MPLS over them. */
#include "harness.h"

#include "router/interface.h"

#include <rte_ip.h>

static const char cli[] = "set int state e0 up\n"
			  "set int state e1 up\n"
			  "create sub-interfaces e0 100\n"
			  "create sub-interfaces e0 7 dot1q 100 inner-dot1q 9 exact-match\n"
			  "create sub-interfaces e1 100\n"
			  "create sub-interfaces e1 300 dot1ad 300 inner-dot1q 7 exact-match\n"
			  "create sub-interfaces e1 400 dot1ad 100 exact-match\n"
			  "create sub-interfaces e1 500\n"
			  "set int state e0.100 up\n"
			  "set int state e0.7 up\n"
			  "set int state e1.100 up\n"
			  "set int state e1.300 up\n"
			  "set int state e1.400 up\n"
			  "set int ip address e0 10.0.0.1/24\n"
			  "set int ip address e1 10.0.1.1/24\n"
			  "set int ip address e0.100 10.0.2.1/24\n"
			  "set int ip address e0.7 10.0.3.1/24\n"
			  "set int ip address e1.100 10.0.4.1/24\n"
			  "set int ip address e1.300 10.0.5.1/24\n"
			  "set int ip address e1.400 10.0.6.1/24\n"
			  "set int ip address e1.500 10.0.7.1/24\n"
			  "ip neighbor e0 10.0.0.2 50:7c:6f:20:30:00\n"
			  "ip neighbor e1 10.0.1.2 50:7c:6f:20:30:01\n"
			  "ip neighbor e0.100 10.0.2.2 50:7c:6f:20:30:02\n"
			  "ip neighbor e0.7 10.0.3.2 50:7c:6f:20:30:03\n"
			  "ip neighbor e1.100 10.0.4.2 50:7c:6f:20:30:04\n"
			  "ip neighbor e1.300 10.0.5.2 50:7c:6f:20:30:05\n"
			  "ip neighbor e1.400 10.0.6.2 50:7c:6f:20:30:06\n"
			  "ip neighbor e1.500 10.0.7.2 50:7c:6f:20:30:07\n"
			  "set interface mpls e0.100 enable\n"
			  "mpls local-label add 16 eos via 10.0.4.2 e1.100 out-labels 17\n";

/* Network 10.0.N/24 is interface N's: its port, and its tags as type and id. */
static const struct {
	unsigned port, nb_tags;
	uint16_t tags[2][2];
} networks[] = {
	{0, 0, {{0}}},
	{1, 0, {{0}}},
	{0, 1, {{0x8100, 100}}},
	{0, 2, {{0x8100, 100}, {0x8100, 9}}},
	{1, 1, {{0x8100, 100}}},
	{1, 2, {{0x88a8, 300}, {0x8100, 7}}},
	{1, 1, {{0x88a8, 100}}},
	{1, 1, {{0x8100, 500}}},
};
#define NETWORKS_UP 7 /* the last one is down */

/* Puts a tag before the ethertype and the tags that are there. */
static void push_tag(struct frame *frame, uint16_t type, uint16_t tci)
{
	uint8_t *at = frame->bytes + 12;

	memmove(at + 4, at, frame->length - 12);
	at[0] = (uint8_t)(type >> 8);
	at[1] = (uint8_t)type;
	at[2] = (uint8_t)(tci >> 8);
	at[3] = (uint8_t)tci;
	frame->length += 4;
}

static void push_tags(struct frame *frame, unsigned network, uint16_t priority)
{
	for (unsigned i = networks[network].nb_tags; i-- > 0;)
		push_tag(frame, networks[network].tags[i][0],
			priority | networks[network].tags[i][1]);
}

/* A packet from one network to another, as it comes in and as it must go out. */
static void fill(struct frame *frame, struct frame *wanted, unsigned from, unsigned to,
	unsigned payload, uint16_t priority)
{
	frame_ip4(frame, networks[from].port, RTE_IPV4(10, 0, from, 2), RTE_IPV4(10, 0, to, 2), 64,
		payload);
	frame_ip4(wanted, networks[to].port, RTE_IPV4(10, 0, from, 2), RTE_IPV4(10, 0, to, 2), 63,
		payload);
	memcpy(wanted->bytes + 6, wanted->bytes, 6);
	memcpy(wanted->bytes, "\x50\x7c\x6f\x20\x30", 5);
	wanted->bytes[5] = (uint8_t)to;
	push_tags(frame, from, priority);
	push_tags(wanted, to, 0);
}

static void from_each_to_each(void)
{
	struct frame frame, wanted, got;

	for (unsigned from = 0; from < NETWORKS_UP; from++)
		for (unsigned to = 0; to < NETWORKS_UP; to++)
			for (unsigned payload = 0; payload <= 1472; payload += 368) {
				fill(&frame, &wanted, from, to, payload, 0xf000);
				harness_send(networks[from].port, &frame);
				CHECK(harness_get(networks[to].port, &got));
				CHECK(frame_same(&got, &wanted));
				CHECK_EQUAL(harness_flush(), 0);
			}
}

/* Whole vectors of one VLAN, and vectors in which every frame differs from the one before. */
static void vectors(void)
{
	struct frame frame, wanted, got;

	for (unsigned from = 0; from < NETWORKS_UP; from++) {
		for (unsigned i = 0; i < 256; i++) {
			fill(&frame, &wanted, from, 4, i, 0);
			harness_put(networks[from].port, &frame);
		}
		harness_walk();
		for (unsigned i = 0; i < 256; i++) {
			fill(&frame, &wanted, from, 4, i, 0);
			CHECK(harness_get(1, &got));
			CHECK(frame_same(&got, &wanted));
		}
	}
	for (unsigned i = 0; i < 256; i++) {
		fill(&frame, &wanted, i % NETWORKS_UP, 4, i, 0);
		harness_put(networks[i % NETWORKS_UP].port, &frame);
	}
	harness_walk();
	CHECK_EQUAL(harness_flush(), 256);
}

static void priority_tag(void)
{
	struct frame frame, wanted, got;

	fill(&frame, &wanted, 0, 1, 100, 0);
	push_tag(&frame, 0x8100, 0xe000);
	harness_send(0, &frame);
	CHECK(harness_get(1, &got));
	CHECK(frame_same(&got, &wanted));
	push_tag(&frame, 0x8100, 0xe000);
	CHECK_REASON("vlan-input", "unknown vlan", 0, &frame);
	fill(&frame, &wanted, 0, 1, 100, 0);
	push_tag(&frame, 0x88a8, 0xe000);
	CHECK_REASON("vlan-input", "unknown vlan", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void unknown_vlans(void)
{
	static const struct {
		unsigned port, nb_tags;
		uint16_t tags[3][2];
	} rows[] = {
		{0, 1, {{0x8100, 101}}},
		{0, 1, {{0x8100, 4095}}},
		{0, 1, {{0x88a8, 100}}},
		{0, 2, {{0x8100, 100}, {0x8100, 8}}},
		{0, 2, {{0x8100, 101}, {0x8100, 9}}},
		{0, 2, {{0x88a8, 100}, {0x8100, 9}}},
		{0, 2, {{0x8100, 100}, {0x88a8, 9}}},
		{0, 2, {{0x8100, 100}, {0x8100, 0}}},
		{0, 3, {{0x8100, 100}, {0x8100, 9}, {0x8100, 100}}},
		{1, 1, {{0x88a8, 300}}},
		{1, 1, {{0x8100, 300}}},
		{1, 2, {{0x8100, 300}, {0x8100, 7}}},
		{1, 2, {{0x8100, 100}, {0x8100, 9}}},
	};
	struct frame frame;

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		frame_ip4(
			&frame, rows[i].port, RTE_IPV4(10, 0, 0, 2), RTE_IPV4(10, 0, 1, 2), 64, 9);
		for (unsigned t = rows[i].nb_tags; t-- > 0;)
			push_tag(&frame, rows[i].tags[t][0], rows[i].tags[t][1]);
		CHECK_REASON("vlan-input", "unknown vlan", rows[i].port, &frame);
	}
	CHECK_EQUAL(harness_flush(), 0);
}

static void cut_short(void)
{
	struct frame frame, wanted;

	fill(&frame, &wanted, 2, 1, 0, 0);
	for (frame.length = 14; frame.length < 18; frame.length++)
		CHECK_REASON("vlan-input", "shorter than its vlan tags", 0, &frame);
	for (; frame.length < 18 + 20; frame.length++)
		CHECK_REASON("ip4-input", "shorter than an ip4 header", 0, &frame);
	fill(&frame, &wanted, 3, 1, 0, 0);
	for (frame.length = 14; frame.length < 22; frame.length++)
		CHECK_REASON("vlan-input", "shorter than its vlan tags", 0, &frame);
	for (; frame.length < 22 + 20; frame.length++)
		CHECK_REASON("ip4-input", "shorter than an ip4 header", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void for_whom(void)
{
	struct frame frame, wanted, got;

	fill(&frame, &wanted, 2, 1, 0, 0);
	frame.bytes[5] ^= 1;
	CHECK_REASON("ethernet-input", "l3 mac mismatch", 0, &frame);
	memset(frame.bytes, 0xff, 6);
	CHECK_REASON("ethernet-input", "ip4 to a group mac address", 0, &frame);
	fill(&frame, &wanted, 2, 1, 0, 0);
	frame.bytes[16] = 0x86;
	frame.bytes[17] = 0xde;
	CHECK_REASON("ethernet-input", "unknown ethertype", 0, &frame);
	CHECK(!harness_get(1, &got));
}

static void down(void)
{
	struct frame frame, wanted, got;

	frame_ip4(&frame, 1, RTE_IPV4(10, 0, 7, 2), RTE_IPV4(10, 0, 0, 2), 64, 9);
	push_tag(&frame, 0x8100, 500);
	CHECK_REASON("ethernet-input", "interface down", 1, &frame);
	fill(&frame, &wanted, 0, 7, 9, 0);
	CHECK_REASON("interface-output", "interface down", 0, &frame);
	/* A port takes its sub-interfaces with it, and brings back those that were up. */
	interface_set_state(interface_find("e1"), false);
	fill(&frame, &wanted, 4, 0, 9, 0);
	CHECK_REASON("ethernet-input", "interface down", 1, &frame);
	fill(&frame, &wanted, 0, 4, 9, 0);
	CHECK_REASON("interface-output", "interface down", 0, &frame);
	interface_set_state(interface_find("e1"), true);
	harness_send(0, &frame);
	CHECK(harness_get(1, &got));
	CHECK(frame_same(&got, &wanted));
	fill(&frame, &wanted, 0, 7, 9, 0);
	CHECK_REASON("interface-output", "interface down", 0, &frame);
	interface_set_state(interface_find("e1.500"), true);
	harness_send(0, &frame);
	CHECK_EQUAL(harness_flush(), 1);
}

static void arp_answers(void)
{
	struct frame frame, wanted, got;

	for (unsigned network = 0; network < NETWORKS_UP; network++) {
		unsigned port = networks[network].port;

		frame_arp(&frame, port, 1, "50:7c:6f:20:30:99", RTE_IPV4(10, 0, network, 9),
			RTE_IPV4(10, 0, network, 1));
		push_tags(&frame, network, 0x6000);
		CHECK_REASON("arp-input", "request answered", port, &frame);
		frame_arp(&wanted, port, 2, port == 0 ? "02:00:00:00:0e:00" : "02:00:00:00:0e:01",
			RTE_IPV4(10, 0, network, 1), RTE_IPV4(10, 0, network, 9));
		memcpy(wanted.bytes, frame.bytes + 6, 6);
		memcpy(frame_l3(&wanted) + 18, frame.bytes + 6, 6);
		push_tags(&wanted, network, 0);
		CHECK(harness_get(port, &got));
		CHECK(frame_same(&got, &wanted));
	}
	/* The same address in the wrong VLAN. */
	frame_arp(&frame, 0, 1, "50:7c:6f:20:30:99", RTE_IPV4(10, 0, 2, 9), RTE_IPV4(10, 0, 2, 1));
	CHECK_REASON("arp-input", "sender not on the interface's subnet", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

/* The question goes out tagged, and what waited does when the tagged answer is there. */
static void arp_asks(void)
{
	for (unsigned network = 2; network < NETWORKS_UP; network++) {
		unsigned port = networks[network].port;
		struct frame frame, wanted, got;

		frame_ip4(&frame, 0, RTE_IPV4(10, 0, 0, 2), RTE_IPV4(10, 0, network, 66), 64, 50);
		harness_send(0, &frame);
		CHECK_EQUAL(harness_held(), 1);
		frame_arp(&wanted, port, 1, port == 0 ? "02:00:00:00:0e:00" : "02:00:00:00:0e:01",
			RTE_IPV4(10, 0, network, 1), RTE_IPV4(10, 0, network, 66));
		push_tags(&wanted, network, 0);
		CHECK(harness_get(port, &got));
		CHECK(frame_same(&got, &wanted));
		harness_seconds(1.1); /* neighbor-timer asks again */
		CHECK(harness_get(port, &got));
		CHECK(frame_same(&got, &wanted));
		frame_arp(&frame, port, 2, "50:7c:6f:20:30:66", RTE_IPV4(10, 0, network, 66),
			RTE_IPV4(10, 0, network, 1));
		push_tags(&frame, network, 0);
		CHECK_REASON("arp-input", "neighbor learnt", port, &frame);
		harness_seconds(0);
		CHECK_EQUAL(harness_held(), 0);
		frame_ip4(
			&wanted, port, RTE_IPV4(10, 0, 0, 2), RTE_IPV4(10, 0, network, 66), 63, 50);
		memcpy(wanted.bytes + 6, wanted.bytes, 6);
		memcpy(wanted.bytes, "\x50\x7c\x6f\x20\x30\x66", 6);
		push_tags(&wanted, network, 0);
		CHECK(harness_get(port, &got));
		CHECK(frame_same(&got, &wanted));
	}
}

/* Errors come from the sub-interface's own address and go back where the packet came from. */
static void icmp_errors(void)
{
	for (unsigned network = 2; network < NETWORKS_UP; network++) {
		unsigned at = 14 + 4 * networks[network].nb_tags;
		struct frame frame, wanted, got;

		fill(&frame, &wanted, network, 0, 9, 0);
		frame.bytes[at + 8] = 1;
		frame_checksum(frame.bytes + at);
		CHECK_REASON("ip4-rewrite", "ttl expired", networks[network].port, &frame);
		CHECK(harness_get(networks[network].port, &got));
		CHECK(memcmp(got.bytes + 12, frame.bytes + 12, at - 12) == 0);
		CHECK_EQUAL(got.bytes[at + 20], 11);
		CHECK(memcmp(got.bytes + at + 12, (uint8_t[]){10, 0, (uint8_t)network, 1}, 4) == 0);
	}
}

static void mpls(void)
{
	const uint32_t stack = 16 << 12 | 1 << 8 | 64, swapped = 17 << 12 | 1 << 8 | 63;
	struct frame frame, wanted, got;

	frame_mpls(&frame, 0, &stack, 1, RTE_IPV4(1, 1, 1, 1), RTE_IPV4(2, 2, 2, 2), 9, 80);
	frame_mpls(&wanted, 1, &swapped, 1, RTE_IPV4(1, 1, 1, 1), RTE_IPV4(2, 2, 2, 2), 9, 80);
	memcpy(wanted.bytes + 6, wanted.bytes, 6);
	memcpy(wanted.bytes, "\x50\x7c\x6f\x20\x30\x04", 6);
	push_tag(&wanted, 0x8100, 100);
	push_tag(&frame, 0x8100, 100);
	harness_send(0, &frame);
	CHECK(harness_get(1, &got));
	CHECK(frame_same(&got, &wanted));
	frame_mpls(&frame, 0, &stack, 1, RTE_IPV4(1, 1, 1, 1), RTE_IPV4(2, 2, 2, 2), 9, 80);
	CHECK_REASON("mpls-input", "mpls disabled on the interface", 0, &frame);
	push_tags(&frame, 3, 0);
	CHECK_REASON("mpls-input", "mpls disabled on the interface", 0, &frame);
}

static const char sub_interfaces[] =
	"{\"interfaces\": [{\"port\": \"e0\", \"vlan\": 100, \"addresses\": [\"10.0.0.1/24\"]},"
	"{\"port\": \"e0\", \"vlan\": 100, \"inner_vlan\": 7, \"mpls\": true},"
	"{\"port\": \"e0\", \"vlan\": 101, \"inner_vlan\": 7, \"dot1ad\": true, \"up\": false}],"
	"\"neighbors\": [{\"port\": \"e0.100\", \"address\": \"10.0.0.2\","
	"\"mac\": \"50:7c:6f:20:30:70\"}],"
	"\"routes\": [{\"prefix\": \"9.0.0.0/8\", \"via\": \"9.0.0.1\", \"port\": \"e0.101.7\"}]}";

static void in_json(void)
{
	const struct vlan_tags two = {.dot1ad = true, .outer = 101, .inner = 7};
	const struct interface *one, *other;

	one = interface_find("e0.100");
	other = interface_find("e0.101.7");
	CHECK(one != NULL && other != NULL && interface_find("e0.100.7") != NULL);
	CHECK(one->up && !one->mpls && interface_find("e0.100.7")->mpls && !other->up);
	CHECK(one->port == port_at(0) && interface_owns(one, RTE_IPV4(10, 0, 0, 1)));
	CHECK_EQUAL(one->vlan.outer, 100);
	CHECK(one->index >= PORTS_MAX && vlan_find(0, &one->vlan) == one->index);
	CHECK_EQUAL(vlan_find(0, &two), other->index);
	CHECK_EQUAL(vlan_find(1, &two), VLAN_NONE);
}

static const struct harness_case cases[] = {
	{"from each interface to each other", from_each_to_each, .cli = cli},
	{"vectors of one VLAN and of many", vectors, .cli = cli},
	{"IEEE 802.1Q 6.9: a priority alone", priority_tag, .cli = cli},
	{"unknown VLANs", unknown_vlans, .cli = cli},
	{"frames that end within their tags", cut_short, .cli = cli},
	{"what is for the router", for_whom, .cli = cli},
	{"interfaces that are down", down, .cli = cli},
	{"ARP is answered", arp_answers, .cli = cli},
	{"ARP asks", arp_asks, .cli = cli},
	{"ICMP errors", icmp_errors, .cli = cli},
	{"MPLS", mpls, .cli = cli},
	{"sub-interfaces in JSON", in_json, HARNESS_MODE(2, "router", sub_interfaces)},
};
HARNESS_MAIN(cases)
