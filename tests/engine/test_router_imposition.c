/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels put on IPv4 routes, labels taken off, and the TTL in both models of RFC 3443. */
#include "harness.h"

#include <netinet/ip_icmp.h>
#include <rte_ip.h>

#define HOST_A RTE_IPV4(16, 0, 0, 1)
#define HOST_B RTE_IPV4(48, 0, 0, 9)
#define BOTTOM 0x100u
#define ENTRY(label, tc, bottom, ttl) ((label) << 12 | (tc) << 9 | (bottom) | (ttl))

/* The same as CLI text, and as a string in JSON. */
#define COMMANDS(newline) \
	"set int state e0 up" newline "set int state e1 up" newline \
	"set int ip address e0 100.64.1.1/24" newline \
	"set int ip address e1 100.64.2.1/24" newline \
	"ip route add 16.0.0.0/24 via 100.64.1.2" newline \
	"ip neighbor e0 100.64.1.2 50:7c:6f:20:30:70" newline \
	"ip neighbor e1 100.64.2.2 50:7c:6f:20:30:71" newline \
	"set interface mpls e0 enable" newline "set interface mpls e1 enable" newline \
	"ip route add 48.0.0.0/24 via 100.64.2.2 e1 out-labels 100" newline \
	"ip route add 48.0.1.0/24 via 100.64.2.2 out-labels 100 200 300" newline \
	"ip route add 48.0.2.0/24 via 100.64.2.2 out-labels 1 2 3000 4 5 6 7 8" newline \
	"ip route add 48.0.3.0/24 via 100.64.2.2 out-labels 0" newline \
	"ip route add 48.0.4.0/24 via 100.64.2.2 out-labels 3" newline \
	"ip route add 48.0.5.0/24 via 100.64.2.2 out-labels 100 via 100.64.2.2 out-labels " \
	"200" newline "ip route add 48.0.6.0/24 via 100.64.2.9 out-labels 77" newline \
	"ip route add 48.0.7.0/24 via 100.64.2.2" newline \
	"mpls local-label add 20 eos via 100.64.2.2 e1 out-labels 3" newline \
	"mpls local-label add 20 non-eos via 100.64.2.2 e1 out-labels 3" newline \
	"mpls local-label add 21 eos via 100.64.2.2 out-labels 100 101 102" newline \
	"mpls local-label add 22 eos via ip4-lookup-in-table 0" newline \
	"mpls local-label add 22 non-eos via mpls-lookup-in-table 0" newline \
	"mpls local-label add 23 eos via 100.64.2.2 out-labels 99" newline

static const char cli[] = COMMANDS("\n");
static const char pipe_options[] = "{\"mpls_ttl\": \"pipe\", \"cli\": \"" COMMANDS("\\n") "\"}";

static const uint8_t macs[] = {0x50, 0x7c, 0x6f, 0x20, 0x30, 0x71, 0x02, 0, 0, 0, 0x0e, 0x01};

static void to_e1(struct frame *frame, uint16_t ethertype)
{
	memcpy(frame->bytes, macs, sizeof(macs));
	frame->bytes[12] = (uint8_t)(ethertype >> 8);
	frame->bytes[13] = (uint8_t)ethertype;
}

static void sends(const struct frame *frame, const struct frame *wanted)
{
	struct frame got;

	harness_send(0, frame);
	CHECK(harness_get(1, &got));
	CHECK(frame_same(&got, wanted));
	CHECK_EQUAL(harness_flush(), 0);
	CHECK(harness_balanced());
}

static void set_tos(struct frame *frame, unsigned labels, uint8_t tos)
{
	frame_l3(frame)[4 * labels + 1] = tos;
	frame_checksum(frame_l3(frame) + 4 * (size_t)labels);
}

/* An IPv4 packet comes in; that stack and the packet, its TTL less one, go out. */
static void check_imposed(
	uint32_t dst, uint8_t ttl, uint8_t tos, const uint32_t *stack, unsigned labels)
{
	struct frame frame, wanted;

	frame_ip4(&frame, 0, HOST_A, dst, ttl, 30);
	set_tos(&frame, 0, tos);
	frame_mpls(&wanted, 0, stack, labels, HOST_A, dst, (uint8_t)(ttl - 1), 30);
	set_tos(&wanted, labels, tos);
	to_e1(&wanted, 0x8847);
	sends(&frame, &wanted);
}

static void imposition(void)
{
	for (uint32_t ttl = 2; ttl < 256; ttl++) {
		uint32_t tos = ttl * 37 % 256, tc = tos >> 5;

		check_imposed(HOST_B, (uint8_t)ttl, (uint8_t)tos,
			(const uint32_t[]){ENTRY(100, tc, BOTTOM, ttl - 1)}, 1);
		check_imposed(RTE_IPV4(48, 0, 1, 1), (uint8_t)ttl, (uint8_t)tos,
			(const uint32_t[]){ENTRY(100, tc, 0, ttl - 1), ENTRY(200, tc, 0, ttl - 1),
				ENTRY(300, tc, BOTTOM, ttl - 1)},
			3);
	}
	check_imposed(RTE_IPV4(48, 0, 2, 1), 64, 0xff,
		(const uint32_t[]){ENTRY(1, 7, 0, 63), ENTRY(2, 7, 0, 63), ENTRY(3000, 7, 0, 63),
			ENTRY(4, 7, 0, 63), ENTRY(5, 7, 0, 63), ENTRY(6, 7, 0, 63),
			ENTRY(7, 7, 0, 63), ENTRY(8, 7, BOTTOM, 63)},
		8);
	check_imposed(RTE_IPV4(48, 0, 3, 1), 64, 0, (const uint32_t[]){ENTRY(0, 0, BOTTOM, 63)}, 1);
}

static void imposition_pipe(void)
{
	for (uint32_t ttl = 2; ttl < 256; ttl++)
		check_imposed(RTE_IPV4(48, 0, 1, 1), (uint8_t)ttl, (uint8_t)ttl,
			(const uint32_t[]){ENTRY(100, 0, 0, 255), ENTRY(200, 0, 0, 255),
				ENTRY(300, 0, BOTTOM, 255)},
			3);
}

/* Implicit null is no label at all. */
static void implicit_null(void)
{
	struct frame frame, wanted;

	frame_ip4(&frame, 0, HOST_A, RTE_IPV4(48, 0, 4, 1), 64, 30);
	frame_ip4(&wanted, 0, HOST_A, RTE_IPV4(48, 0, 4, 1), 63, 30);
	to_e1(&wanted, 0x0800);
	sends(&frame, &wanted);
}

/* Two LSPs to the same neighbour share the flows. */
static void two_lsps(void)
{
	unsigned counts[2] = {0};
	struct frame frame, got;

	for (unsigned flow = 0; flow < 512; flow++) {
		frame_ip4(&frame, 0, HOST_A, RTE_IPV4(48, 0, 5, 0) + flow % 256, 64, 30);
		frame_l3(&frame)[21] = (uint8_t)(flow / 256);
		harness_send(0, &frame);
		CHECK(harness_get(1, &got));
		CHECK_EQUAL(got.bytes[13], 0x47);
		counts[frame_l3(&got)[1] == 200 >> 4]++;
	}
	CHECK(counts[0] > 180 && counts[1] > 180);
}

/* RFC 3032 3.2 and 3.4: labels count, and the sender learns how much is left. */
static void imposition_mtu(void)
{
	struct frame frame, got;

	frame_ip4(&frame, 0, HOST_A, RTE_IPV4(48, 0, 1, 1), 64, 1460);
	harness_send(0, &frame);
	CHECK(harness_get(1, &got));
	CHECK_EQUAL(got.length, 1514);
	frame_ip4(&frame, 0, HOST_A, RTE_IPV4(48, 0, 1, 1), 64, 1461);
	harness_send(0, &frame);
	for (unsigned i = 0; i < 2; i++) {
		uint8_t *ip = frame_l3(&got) + 12;

		CHECK(harness_get(1, &got));
		CHECK_EQUAL(got.length, i == 0 ? 14 + 12 + 1484 : 14 + 12 + 20 + 5);
		CHECK_EQUAL(got.bytes[13], 0x47);
		CHECK_EQUAL(ip[8], 63);
		CHECK(frame_checksum_ok(ip));
	}
	CHECK_EQUAL(harness_flush(), 0);
	CHECK(harness_balanced());
	frame_l3(&frame)[6] = 0x40;
	frame_checksum(frame_l3(&frame));
	CHECK_REASON("ip4-mpls-label-imposition", "mtu exceeded, don't fragment set", 0, &frame);
	CHECK(harness_get(0, &got));
	CHECK_EQUAL(frame_l3(&got)[20], ICMP_UNREACH);
	CHECK_EQUAL(frame_l3(&got)[21], ICMP_UNREACH_NEEDFRAG);
	CHECK_EQUAL(frame_l3(&got)[26] << 8 | frame_l3(&got)[27], 1488);
}

static void imposition_expired(void)
{
	struct frame frame, got;

	for (uint8_t ttl = 0; ttl < 2; ttl++) {
		frame_ip4(&frame, 0, HOST_A, HOST_B, ttl, 30);
		CHECK_REASON("ip4-mpls-label-imposition", "ttl expired", 0, &frame);
		CHECK(harness_get(0, &got));
		CHECK_EQUAL(frame_l3(&got)[20], ICMP_TIMXCEED);
	}
	/* To a neighbour that has to be asked for, which does not answer. */
	frame_ip4(&frame, 0, HOST_A, RTE_IPV4(48, 0, 6, 1), 64, 30);
	harness_send(0, &frame);
	CHECK_EQUAL(harness_held(), 1);
	for (unsigned second = 0; second < 4; second++)
		harness_seconds(1.1);
	CHECK(harness_get(0, &got));
	CHECK_EQUAL(frame_l3(&got)[20], ICMP_UNREACH);
	CHECK_EQUAL(harness_held(), 0);
}

/* It answers: the packet goes on with its label. */
static void imposition_resolved(void)
{
	struct frame frame, got;

	frame_ip4(&frame, 0, HOST_A, RTE_IPV4(48, 0, 6, 1), 64, 30);
	harness_send(0, &frame);
	harness_flush();
	frame_arp(&frame, 1, 2, "02:11:22:33:44:55", RTE_IPV4(100, 64, 2, 9),
		RTE_IPV4(100, 64, 2, 1));
	harness_send(1, &frame);
	harness_seconds(0.1);
	CHECK(harness_get(1, &got));
	CHECK_EQUAL(got.bytes[5], 0x55);
	CHECK_EQUAL(frame_l3(&got)[2] << 8 | frame_l3(&got)[3], ((77 << 4 | 1) << 8 | 63) & 0xffff);
	CHECK(frame_checksum_ok(frame_l3(&got) + 4));
}

static void check_ip4(const uint32_t *in, unsigned nb_in, uint8_t ttl, uint8_t wanted_ttl)
{
	struct frame frame, wanted;
	uint32_t dst = RTE_IPV4(48, 0, 7, 1);

	frame_mpls(&frame, 0, in, nb_in, HOST_A, dst, ttl, 50);
	frame_ip4(&wanted, 0, HOST_A, dst, wanted_ttl, 50);
	to_e1(&wanted, 0x0800);
	sends(&frame, &wanted);
}

static void check_labels(const uint32_t *in, unsigned nb_in, const uint32_t *out, unsigned nb_out)
{
	struct frame frame, wanted;

	frame_mpls(&frame, 0, in, nb_in, HOST_A, HOST_B, 33, 50);
	frame_mpls(&wanted, 0, out, nb_out, HOST_A, HOST_B, 33, 50);
	to_e1(&wanted, 0x8847);
	sends(&frame, &wanted);
}

/* RFC 3443 3.2, 3.3: what is beneath keeps its TTL; only who looks it up takes one off. */
static void pipe_model(void)
{
	for (uint32_t ttl = 2; ttl < 256; ttl++) {
		check_ip4((const uint32_t[]){ENTRY(20, 3, BOTTOM, ttl)}, 1, 33, 33);
		check_ip4((const uint32_t[]){ENTRY(22, 3, BOTTOM, ttl)}, 1, 33, 32);
		check_ip4((const uint32_t[]){ENTRY(22, 3, 0, ttl), ENTRY(0, 0, BOTTOM, 9)}, 2, 33,
			32);
		check_labels((const uint32_t[]){ENTRY(20, 0, 0, ttl), ENTRY(99, 7, BOTTOM, 2)}, 2,
			(const uint32_t[]){ENTRY(99, 7, BOTTOM, 2)}, 1);
		check_labels((const uint32_t[]){ENTRY(23, 5, BOTTOM, ttl)}, 1,
			(const uint32_t[]){ENTRY(99, 5, BOTTOM, ttl - 1)}, 1);
		check_labels((const uint32_t[]){ENTRY(21, 5, BOTTOM, ttl)}, 1,
			(const uint32_t[]){ENTRY(100, 0, 0, 255), ENTRY(101, 0, 0, 255),
				ENTRY(102, 5, BOTTOM, ttl - 1)},
			3);
		check_labels((const uint32_t[]){ENTRY(22, 0, 0, 1), ENTRY(23, 2, BOTTOM, ttl)}, 2,
			(const uint32_t[]){ENTRY(99, 2, BOTTOM, ttl - 1)}, 1);
	}
}

/* An IPv6 packet of `bytes` bytes of payload beneath the label 20. */
static void frame_labelled_ip6(
	struct frame *frame, const uint32_t *stack, unsigned labels, uint8_t ttl, unsigned payload)
{
	uint8_t *ip;

	frame_mpls(frame, 0, stack, labels, HOST_A, HOST_B, 9, 0);
	ip = frame_l3(frame) + 4 * (size_t)labels;
	memset(ip, 0, 40 + payload);
	ip[0] = 0x60;
	ip[4] = (uint8_t)(payload >> 8);
	ip[5] = (uint8_t)payload;
	ip[6] = 59;
	ip[7] = ttl;
	ip[8] = 0x20;
	ip[24] = 0x20;
	frame->length = (unsigned)(ip - frame->bytes) + 40 + payload;
}

static void ip6_beneath(uint8_t ttl_out)
{
	const uint32_t stack[] = {ENTRY(20, 0, BOTTOM, 60)};
	struct frame frame, wanted;

	for (unsigned padding = 0; padding < 4; padding++) {
		frame_labelled_ip6(&wanted, stack, 0, ttl_out, 12);
		to_e1(&wanted, 0x86dd);
		frame_labelled_ip6(&frame, stack, 1, 33, 12);
		frame.length += padding;
		sends(&frame, &wanted);
	}
	frame_labelled_ip6(&frame, stack, 1, 33, 12);
	frame.length--;
	CHECK_REASON("mpls-disposition", "bad length", 0, &frame);
	frame.length = 14 + 4 + 39;
	CHECK_REASON("mpls-disposition", "no ip packet beneath the last label", 0, &frame);
	frame_labelled_ip6(&frame, stack, 1, 33, 1460);
	harness_send(0, &frame);
	CHECK_EQUAL(harness_flush(), 1);
	frame_labelled_ip6(&frame, stack, 1, 33, 1461);
	CHECK_REASON("mpls-disposition", "mtu exceeded", 0, &frame);
}

static void ip6_uniform(void)
{
	ip6_beneath(59);
}

static void ip6_pipe(void)
{
	ip6_beneath(33);
}

/* RFC 3032 2.3.2: the sender gets an ICMP error, wherever in the stack the TTL expired. */
static void expired_labels(void)
{
	const uint32_t swap[] = {ENTRY(23, 0, BOTTOM, 1)}, pop[] = {ENTRY(20, 0, BOTTOM, 1)};
	const uint32_t two[] = {ENTRY(20, 0, 0, 1), ENTRY(55, 0, BOTTOM, 3)};
	const struct {
		const char *node;
		const uint32_t *stack;
		unsigned labels;
	} rows[] = {
		{"mpls-output", swap, 1}, {"mpls-disposition", pop, 1}, {"mpls-output", two, 2}};
	struct frame frame, got;

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		frame_mpls(&frame, 0, rows[i].stack, rows[i].labels, HOST_A, HOST_B, 33, 50);
		CHECK_REASON(rows[i].node, "ttl expired", 0, &frame);
		CHECK(harness_get(0, &got));
		CHECK(frame_checksum_ok(frame_l3(&got)));
		CHECK_EQUAL(frame_l3(&got)[20], ICMP_TIMXCEED);
		/* From the interface that it came in on; it quotes the packet as it came. */
		CHECK(memcmp(frame_l3(&got) + 12, "\x64\x40\x01\x01\x10\0\0\1", 8) == 0);
		CHECK(memcmp(frame_l3(&got) + 28, frame_l3(&frame) + (size_t)rows[i].labels * 4,
			      78) == 0);
		/* No error is sent about broken packets. */
		frame_l3(&frame)[4 * rows[i].labels + 10] ^= 1;
		CHECK_REASON(rows[i].node, "ttl expired", 0, &frame);
		CHECK_EQUAL(harness_flush(), 0);
	}
}

static void too_long_labels(void)
{
	const uint32_t stack[] = {ENTRY(21, 0, BOTTOM, 9)};
	struct frame frame, got;

	frame_mpls(&frame, 0, stack, 1, HOST_A, HOST_B, 33, 1461);
	CHECK_REASON("mpls-output", "mtu exceeded", 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
	frame_l3(&frame)[10] = 0x40;
	frame_checksum(frame_l3(&frame) + 4);
	CHECK_REASON("mpls-output", "mtu exceeded", 0, &frame);
	CHECK(harness_get(0, &got));
	CHECK_EQUAL(frame_l3(&got)[21], ICMP_UNREACH_NEEDFRAG);
	CHECK_EQUAL(frame_l3(&got)[26] << 8 | frame_l3(&got)[27], 1488);
}

static const struct harness_case cases[] = {
	{"RFC 3443 3.1: imposition, uniform", imposition, .cli = cli},
	{"RFC 3443 3.3: imposition, pipe", imposition_pipe,
		HARNESS_MODE(2, "router", pipe_options)},
	{"RFC 3032 2.1: implicit null", implicit_null, .cli = cli},
	{"two LSPs to one neighbour", two_lsps, .cli = cli},
	{"RFC 3032 3.4: MTU with labels", imposition_mtu, .cli = cli},
	{"TTL and neighbour errors of labelled routes", imposition_expired, .cli = cli},
	{"a packet waits for its labelled neighbour", imposition_resolved, .cli = cli},
	{"RFC 3443 3.2, 3.3: pipe", pipe_model, HARNESS_MODE(2, "router", pipe_options)},
	{"IPv6 beneath the last label, uniform", ip6_uniform, .cli = cli},
	{"IPv6 beneath the last label, pipe", ip6_pipe, HARNESS_MODE(2, "router", pipe_options)},
	{"RFC 3032 2.3.2: TTL of a label expires", expired_labels, .cli = cli},
	{"RFC 3032 3.4: labelled packet too long", too_long_labels, .cli = cli},
};
HARNESS_MAIN(cases)
