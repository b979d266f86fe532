/* SPDX-License-Identifier: BSD-3-Clause */
/* MPLS through the router's graph. */
#include "harness.h"

#include <netinet/ip_icmp.h>
#include <rte_ip.h>

#define HOST_A RTE_IPV4(16, 0, 0, 1)
#define HOST_B RTE_IPV4(48, 0, 0, 9)
#define BOTTOM 0x100u
#define ENTRY(label, tc, bottom, ttl) ((label) << 12 | (tc) << 9 | (bottom) | (ttl))

static const char cli[] = "set int state e0 up\n"
			  "set int state e1 up\n"
			  "set int ip address e0 100.64.1.1/30\n"
			  "set int ip address e1 100.64.2.1/30\n"
			  "ip route add 16.0.0.0/24 via 100.64.1.2\n"
			  "ip route add 48.0.0.0/24 via 100.64.2.2\n"
			  "ip neighbor e0 100.64.1.2 50:7c:6f:20:30:70\n"
			  "ip neighbor e1 100.64.2.2 50:7c:6f:20:30:71\n"
			  "mpls table add 0\n"
			  "set interface mpls e0 enable\n"
			  "mpls local-label add 16 eos via 100.64.2.2 e1 out-labels 17\n"
			  "mpls local-label add 16 non-eos via 100.64.2.2 e1 out-labels 18\n"
			  "mpls local-label add 20 eos via 100.64.2.2 e1\n"
			  "mpls local-label add 20 non-eos via 100.64.2.2 e1\n"
			  "mpls local-label add 21 eos via 100.64.2.2 out-labels 100 101 102\n"
			  "mpls local-label add 21 non-eos via 100.64.2.2 out-labels 100 101\n"
			  "mpls local-label add 22 eos via ip4-lookup-in-table 0\n"
			  "mpls local-label add 22 non-eos via mpls-lookup-in-table 0\n"
			  "mpls local-label add 23 eos via 100.64.2.2 e1 out-labels 3\n"
			  "mpls local-label add 24 eos via 100.64.2.2 e1 out-labels 24\n"
			  "mpls local-label del 24 eos\n"
			  "mpls local-label add 1048575 eos via 100.64.2.2 e1 out-labels 1048574\n";

static const uint8_t header[] = {
	0x50, 0x7c, 0x6f, 0x20, 0x30, 0x71, 0x02, 0, 0, 0, 0x0e, 0x01, 0x88, 0x47};

/* Expected at e1's neighbour: that stack, and the IPv4 packet as it was. */
static void check_labels(const uint32_t *in, unsigned nb_in, const uint32_t *out, unsigned nb_out)
{
	struct frame frame, wanted, got;

	frame_mpls(&frame, 0, in, nb_in, HOST_A, HOST_B, 33, 50);
	frame_mpls(&wanted, 0, out, nb_out, HOST_A, HOST_B, 33, 50);
	memcpy(wanted.bytes, header, sizeof(header));
	harness_send(0, &frame);
	CHECK(harness_get(1, &got));
	CHECK(frame_same(&got, &wanted));
	CHECK(harness_balanced());
}

static void check_ip4(const uint32_t *in, unsigned nb_in, uint8_t ttl)
{
	struct frame frame, wanted, got;

	frame_mpls(&frame, 0, in, nb_in, HOST_A, HOST_B, 33, 50);
	frame_ip4(&wanted, 0, HOST_A, HOST_B, ttl, 50);
	memcpy(wanted.bytes, header, 12);
	harness_send(0, &frame);
	CHECK(harness_get(1, &got));
	CHECK(frame_same(&got, &wanted));
	CHECK(harness_balanced());
}

static void swap(void)
{
	for (uint32_t ttl = 2; ttl < 256; ttl++)
		for (uint32_t tc = 0; tc < 8; tc++) {
			uint32_t in[] = {ENTRY(16, tc, 0, ttl), ENTRY(77, 3, BOTTOM, 9)};
			uint32_t out[] = {ENTRY(18, tc, 0, ttl - 1), ENTRY(77, 3, BOTTOM, 9)};

			check_labels(in, 2, out, 2);
			in[0] |= BOTTOM;
			out[0] = ENTRY(17, tc, BOTTOM, ttl - 1);
			check_labels(in, 1, out, 1);
		}
	check_labels((const uint32_t[]){ENTRY(1048575u, 0, BOTTOM, 64)}, 1,
		(const uint32_t[]){ENTRY(1048574u, 0, BOTTOM, 63)}, 1);
}

static void pop(void)
{
	for (uint32_t ttl = 2; ttl < 256; ttl++) {
		check_ip4((const uint32_t[]){ENTRY(20, 0, BOTTOM, ttl)}, 1, (uint8_t)(ttl - 1));
		check_ip4((const uint32_t[]){ENTRY(23, 5, BOTTOM, ttl)}, 1, (uint8_t)(ttl - 1));
		check_labels((const uint32_t[]){ENTRY(20, 0, 0, ttl), ENTRY(99, 7, BOTTOM, 2)}, 2,
			(const uint32_t[]){ENTRY(99, 7, BOTTOM, ttl - 1)}, 1);
	}
}

static void push(void)
{
	check_labels((const uint32_t[]){ENTRY(21, 6, BOTTOM, 64)}, 1,
		(const uint32_t[]){
			ENTRY(100, 6, 0, 63), ENTRY(101, 6, 0, 63), ENTRY(102, 6, BOTTOM, 63)},
		3);
	check_labels((const uint32_t[]){ENTRY(21, 6, 0, 64), ENTRY(55, 1, BOTTOM, 5)}, 2,
		(const uint32_t[]){
			ENTRY(100, 6, 0, 63), ENTRY(101, 6, 0, 63), ENTRY(55, 1, BOTTOM, 5)},
		3);
}

static void look_beneath(void)
{
	/* One hop takes one off, however many labels are taken off. */
	check_ip4((const uint32_t[]){ENTRY(22, 0, BOTTOM, 64)}, 1, 63);
	check_ip4((const uint32_t[]){ENTRY(0, 0, BOTTOM, 64)}, 1, 63);
	check_ip4(
		(const uint32_t[]){ENTRY(0, 0, 0, 50), ENTRY(22, 0, 0, 7), ENTRY(0, 0, BOTTOM, 9)},
		3, 49);
	check_labels((const uint32_t[]){ENTRY(22, 0, 0, 40), ENTRY(16, 2, BOTTOM, 9)}, 2,
		(const uint32_t[]){ENTRY(17, 2, BOTTOM, 39)}, 1);
	check_ip4((const uint32_t[]){ENTRY(22, 0, 0, 40), ENTRY(20, 2, BOTTOM, 9)}, 2, 39);
}

/* The IPv4 packet beneath expires as such: its sender gets an ICMP error that quotes it with its
 * TTL. */
static void ttl_1_beneath(void)
{
	const uint32_t stack[] = {ENTRY(0, 0, BOTTOM, 1)};
	struct frame frame, got;

	frame_mpls(&frame, 0, stack, 1, HOST_A, HOST_B, 33, 50);
	CHECK_REASON("ip4-rewrite", "ttl expired", 0, &frame);
	CHECK(harness_get(0, &got));
	CHECK_EQUAL(frame_l3(&got)[20], ICMP_TIMXCEED);
	CHECK(frame_checksum_ok(frame_l3(&got)) && frame_checksum_ok(frame_l3(&got) + 28));
	CHECK_EQUAL(harness_flush(), 0);
}

static void check_reason(
	const char *node, const char *reason, const uint32_t *stack, unsigned labels)
{
	struct frame frame;

	frame_mpls(&frame, 0, stack, labels, HOST_A, HOST_B, 33, 50);
	CHECK_REASON(node, reason, 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void reasons(void)
{
	static const uint32_t not_bottom[] = {ENTRY(22, 0, 0, 9)};
	struct frame frame;

	for (uint32_t label = 1; label < 16; label++)
		check_reason("mpls-lookup", "reserved label",
			(const uint32_t[]){ENTRY(label, 0, BOTTOM, 64)}, 1);
	check_reason("mpls-lookup", "no such label", (const uint32_t[]){ENTRY(50, 0, 0, 64)}, 1);
	check_reason(
		"mpls-lookup", "no such label", (const uint32_t[]){ENTRY(24, 0, BOTTOM, 64)}, 1);
	check_reason("mpls-lookup", "no such label", (const uint32_t[]){ENTRY(23, 0, 0, 64)}, 1);
	check_reason("mpls-input", "ttl is zero", (const uint32_t[]){ENTRY(16, 0, BOTTOM, 0)}, 1);
	frame_mpls(&frame, 0, not_bottom, 1, HOST_A, HOST_B, 33, 0);
	frame.length = 18;
	CHECK_REASON("mpls-lookup", "label stack has no bottom", 0, &frame);
	frame_l3(&frame)[1] = 1;
	frame_l3(&frame)[2] = 0x40;
	CHECK_REASON("mpls-output", "label stack has no bottom", 0, &frame);
	for (frame.length = 14; frame.length < 18; frame.length++)
		CHECK_REASON("mpls-input", "shorter than a label", 0, &frame);
	frame_mpls(&frame, 1, not_bottom, 1, HOST_A, HOST_B, 33, 0);
	CHECK_REASON("mpls-input", "mpls disabled on the interface", 1, &frame);
}

static void disposition_reasons(void)
{
	const uint32_t stack[] = {ENTRY(20, 0, BOTTOM, 9)};
	struct frame frame;

	frame_mpls(&frame, 0, stack, 1, HOST_A, HOST_B, 33, 0);
	for (frame.length = 18; frame.length < 38; frame.length++)
		CHECK_REASON("mpls-disposition", "no ip packet beneath the last label", 0, &frame);
	for (; frame.length < 46; frame.length++)
		CHECK_REASON("mpls-disposition", "bad length", 0, &frame);
	frame.bytes[18] = 0x65;
	CHECK_REASON("mpls-disposition", "no ip packet beneath the last label", 0, &frame);
	frame.bytes[18] = 0x44;
	CHECK_REASON("mpls-disposition", "no ip packet beneath the last label", 0, &frame);
	frame.bytes[18] = 0x45;
	frame.bytes[19] ^= 1;
	CHECK_REASON("mpls-disposition", "bad checksum", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void mtu(void)
{
	const uint32_t in[] = {ENTRY(21, 0, BOTTOM, 9)}, large[] = {ENTRY(16, 0, BOTTOM, 9)};
	struct frame frame, got;

	/* 1,500 bytes of labels and IPv4 fit; three labels in place of one do so eight less. */
	frame_mpls(&frame, 0, in, 1, HOST_A, HOST_B, 33, 1460);
	harness_send(0, &frame);
	CHECK(harness_get(1, &got));
	CHECK_EQUAL(got.length, 1514);
	frame_mpls(&frame, 0, in, 1, HOST_A, HOST_B, 33, 1461);
	CHECK_REASON("mpls-output", "mtu exceeded", 0, &frame);
	frame_mpls(&frame, 0, large, 1, HOST_A, HOST_B, 33, 1468);
	harness_send(0, &frame);
	CHECK_EQUAL(harness_flush(), 1);
	frame_mpls(&frame, 0, large, 1, HOST_A, HOST_B, 33, 1469);
	CHECK_REASON("mpls-output", "mtu exceeded", 0, &frame);
}

/* The padding of a short frame does not become part of the packet. */
static void padding(void)
{
	const uint32_t stack[] = {ENTRY(20, 0, BOTTOM, 9)};
	struct frame frame, got;

	frame_mpls(&frame, 0, stack, 1, HOST_A, HOST_B, 33, 0);
	frame.length = 60;
	harness_send(0, &frame);
	CHECK(harness_get(1, &got));
	CHECK_EQUAL(got.length, 42);
}

/* IPv6 beneath: explicit null (RFC 3032 2.1), a lookup, and straight to a neighbour. */
static void ip6_beneath(void)
{
	static const uint32_t labels[] = {2, 18, 20};
	struct frame frame, got, inner;

	for (unsigned i = 0; i < RTE_DIM(labels); i++) {
		const uint32_t entry = rte_cpu_to_be_32(labels[i] << 12 | BOTTOM | 9);

		frame_ip6(&inner, 0, "2001:db8:0:1::2", "2001:db8:48::1", 64, 30);
		frame_ethernet(&frame, 0, 0x8847);
		memcpy(frame.bytes + 14, &entry, sizeof(entry));
		memcpy(frame.bytes + 18, frame_l3(&inner), inner.length - 14);
		frame.length = inner.length + 4;
		harness_send(0, &frame);
		CHECK(harness_get(1, &got));
		frame_l3(&inner)[7] = 8;
		CHECK_EQUAL(got.length, inner.length);
		CHECK(memcmp(got.bytes + 12, inner.bytes + 12, inner.length - 12) == 0);
		CHECK(memcmp(got.bytes, "\x50\x7c\x6f\x20\x30\x71", 6) == 0);
	}
}

static const struct harness_case cases[] = {
	{"RFC 3031 3.18: swap, every TTL and traffic class", swap, .cli = cli},
	{"RFC 3443 3.3: pop, uniform", pop, .cli = cli},
	{"several labels in place of one", push, .cli = cli},
	{"RFC 3032 2.1, RFC 4182: explicit null, and looking beneath", look_beneath, .cli = cli},
	{"TTL 1 is the packet's beneath", ttl_1_beneath, .cli = cli},
	{"drop reasons", reasons, .cli = cli},
	{"drop reasons of mpls-disposition", disposition_reasons, .cli = cli},
	{"MTU", mtu, .cli = cli},
	{"padding", padding, .cli = cli},
	{"IPv6 beneath the last label", ip6_beneath,
		.cli = "set int state e0 up\nset int state e1 up\n"
		       "set int ip address e0 2001:db8:0:1::1/64\n"
		       "set int ip address e1 2001:db8:0:2::1/64\n"
		       "ip route add 2001:db8:48::/48 via 2001:db8:0:2::2\n"
		       "ip neighbor e1 2001:db8:0:2::2 50:7c:6f:20:30:71\n"
		       "set interface mpls e0 enable\n"
		       "mpls local-label add 18 eos via ip6-lookup-in-table 0\n"
		       "mpls local-label add 20 eos via 2001:db8:0:2::2\n"},
};
HARNESS_MAIN(cases)
