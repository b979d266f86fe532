/* SPDX-License-Identifier: BSD-3-Clause */
/* The flows of a stream: which come, how often, and that their frames are right. */
#include "tester/flow_ranges.h"
#include "tester/lanes.h"
#include "core/signature.h"
#include "stream_text.h"
#include "test.h"

#include <math.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#define LAYERS(more) \
	"\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {\"src\": \"16.0.0.1\", \"dst\": " \
	"\"48.0.0.1\"}}" more "]"
#define UDP LAYERS(", {\"udp\": {}}")
#define TCP LAYERS(", {\"tcp\": {\"flags\": 18}}")
#define IP6 "\"layers\": [{\"ethernet\": {}}, {\"ipv6\": {}}, {\"udp\": {}}]"
#define FLOWS(more, layers) "{\"frame_bytes\": 100, \"flows\": {" more "}, " layers "}"
/* The ranges when none are given: addresses, addresses, source ports from 1025 on. */
#define ADDRESSES 254u
#define PORTS (65536u - 1025u)

static struct stream *made(const char *text)
{
	unsigned mistakes;
	struct stream *stream = stream_of_text(text, &mistakes);

	CHECK_EQUAL(mistakes, 0);
	if (stream == NULL || stream->flows == NULL) {
		fprintf(stderr, "%s: no stream\n", text);
		exit(EXIT_FAILURE);
	}
	return stream;
}

/* Number of the flow, by the default ranges. */
static uint64_t number_of(const struct flow_words *words, unsigned i)
{
	uint64_t src = words->src[i] - RTE_IPV4(16, 0, 0, 1);
	uint64_t dst = words->dst[i] - RTE_IPV4(48, 0, 0, 1);
	uint64_t port = (words->ports[i] >> 16) - 1025;

	CHECK(src < ADDRESSES && dst < ADDRESSES && port < PORTS &&
		(words->ports[i] & 0xffff) == 12);
	return src + ADDRESSES * (dst + ADDRESSES * port);
}

static void ten_million_in_turn(void)
{
	struct stream *stream = made(FLOWS("\"count\": 10000000", UDP));
	struct flow_words words;
	unsigned wrong = 0;

	/* In bursts of all sizes, and round once. */
	for (uint64_t next = 0, burst = 1; next < 10100000; next += burst) {
		burst = burst % FLOWS_BURST + 1;
		flows_next(stream->flows, &words, (unsigned)burst);
		for (unsigned i = 0; i < burst; i++)
			wrong += number_of(&words, i) != (next + i) % 10000000;
	}
	CHECK_EQUAL(wrong, 0);
	stream_free(stream);
}

static void few_in_turn(void)
{
	struct stream *stream = made(FLOWS("\"count\": 3", UDP));
	struct flow_words words;

	flows_next(stream->flows, &words, 50);
	for (unsigned i = 0; i < 50; i++)
		CHECK_EQUAL(number_of(&words, i), i % 3);
	flows_next(stream->flows, &words, 1);
	CHECK_EQUAL(number_of(&words, 0), 50 % 3);
	stream_free(stream);
}

/* Chi-square by its normal approximation: how many standard deviations off. */
static double chi_square(const uint32_t *seen, const double *expected, unsigned cells)
{
	double sum = 0;

	for (unsigned i = 0; i < cells; i++)
		sum += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
	return (sum - (cells - 1)) / sqrt(2.0 * (cells - 1));
}

#define DRAWS 2000000u
#define CELLS 4096u
static uint32_t seen[CELLS];
static double expected[CELLS];

static void uniform_is_uniform(void)
{
	static const char *const texts[] = {
		FLOWS("\"count\": 1000, \"order\": \"uniform\"", UDP),
		FLOWS("\"count\": 1000, \"order\": \"uniform\", \"seed\": 2", UDP),
		FLOWS("\"count\": 10000000, \"order\": \"uniform\"", UDP),
	};

	for (unsigned t = 0; t < RTE_DIM(texts); t++) {
		struct stream *stream = made(texts[t]);
		struct flow_words words;
		uint32_t share = stream->flows->count / 1000;

		memset(seen, 0, sizeof(seen));
		for (unsigned n = 0; n < DRAWS; n += FLOWS_BURST) {
			flows_next(stream->flows, &words, FLOWS_BURST);
			for (unsigned i = 0; i < FLOWS_BURST; i++)
				seen[number_of(&words, i) / share]++;
		}
		for (unsigned i = 0; i < 1000; i++)
			expected[i] = DRAWS / 1000.0;
		CHECK(chi_square(seen, expected, 1000) < 5);
		stream_free(stream);
	}
}

/* The first flows one by one, the others in stretches that do not end where groups do. */
static unsigned zipf_cell(uint64_t rank)
{
	return rank < 300 ? (unsigned)rank : 300 + (unsigned)((rank - 300) / 7001);
}

static void zipf_is_zipf(void)
{
	static const struct {
		const char *text;
		double s;
	} cases[] = {
		{FLOWS("\"count\": 1000000, \"order\": \"zipf\"", UDP), 1.0},
		{FLOWS("\"count\": 1000000, \"order\": \"zipf\", \"zipf_exponent\": 0.7", UDP),
			0.7},
		{FLOWS("\"count\": 100000, \"order\": \"zipf\", \"zipf_exponent\": 1.3", UDP), 1.3},
		{FLOWS("\"count\": 700, \"order\": \"zipf\", \"zipf_exponent\": 0", UDP), 0.0},
		{FLOWS("\"count\": 5, \"order\": \"zipf\", \"seed\": 9", UDP), 1.0},
		{FLOWS("\"count\": 1, \"order\": \"zipf\"", UDP), 1.0},
	};

	for (unsigned c = 0; c < RTE_DIM(cases); c++) {
		struct stream *stream = made(cases[c].text);
		uint32_t count = stream->flows->count;
		unsigned cells = zipf_cell(count - 1) + 1;
		struct flow_words words;
		double total = 0;

		memset(seen, 0, sizeof(seen));
		memset(expected, 0, sizeof(expected));
		for (uint32_t rank = 0; rank < count; rank++)
			total += pow(rank + 1.0, -cases[c].s);
		for (uint32_t rank = 0; rank < count; rank++)
			expected[zipf_cell(rank)] += DRAWS * pow(rank + 1.0, -cases[c].s) / total;
		for (unsigned n = 0; n < DRAWS; n += FLOWS_BURST) {
			flows_next(stream->flows, &words, FLOWS_BURST);
			for (unsigned i = 0; i < FLOWS_BURST; i++)
				seen[zipf_cell(number_of(&words, i))]++;
		}
		if (cells > 1)
			CHECK(chi_square(seen, expected, cells) < 5);
		else
			CHECK_EQUAL(seen[0], DRAWS);
		stream_free(stream);
	}
}

/* A test that could not fail would say nothing: 6 % more of half the flows are found. */
static void a_wrong_distribution_is_seen(void)
{
	for (unsigned i = 0; i < 1000; i++) {
		expected[i] = DRAWS / 1000.0;
		seen[i] = (uint32_t)(expected[i] * (i < 500 ? 1.06 : 0.94));
	}
	CHECK(chi_square(seen, expected, 1000) > 5);
}

static void compare(flows_draw_t draw)
{
	static const char *const texts[] = {
		FLOWS("\"count\": 9999991", UDP),
		FLOWS("\"count\": 7", UDP),
		FLOWS("\"count\": 10000000, \"order\": \"uniform\"", TCP),
		FLOWS("\"count\": 1000000, \"order\": \"zipf\", \"mirror\": true", UDP),
		FLOWS("\"count\": 1000, \"new_per_s\": 300, \"order\": \"uniform\"", UDP),
		FLOWS("\"count\": 5", LAYERS()),
	};

	for (unsigned t = 0; t < RTE_DIM(texts); t++) {
		struct stream *one = made(texts[t]), *other = made(texts[t]);

		CHECK(flows_set_rate(one->flows, 1000) && flows_set_rate(other->flows, 1000));
		for (unsigned round = 0; round < 5000; round++) {
			struct flow_words words = {0}, others = {0};
			unsigned count = round % FLOWS_BURST + 1;

			flows_draw_scalar(one->flows, &words, count);
			draw(other->flows, &others, count);
			CHECK(memcmp(&words, &others, sizeof(words)) == 0);
		}
		stream_free(one);
		stream_free(other);
	}
}

static void each_cpu_draws_the_same(void)
{
#ifdef RTE_ARCH_X86_64
	if (lanes_avx2_run())
		compare(flows_draw_avx2);
	if (lanes_avx512_run())
		compare(flows_draw_avx512);
#endif
}

/* One frame; its checksums are verified by DPDK. */
struct frame {
	uint8_t data[256];
	struct rte_mbuf mbuf;
};

static void fill(struct stream *stream, struct frame *frame)
{
	struct rte_mbuf *mbuf = &frame->mbuf;

	frame->mbuf.buf_addr = frame->data;
	stream_fill(stream, &mbuf, 1);
}

static bool checksums_are_right(const struct stream *stream, struct frame *frame)
{
	uint8_t *ip = frame->data + stream->l3_offset, *l4 = frame->data + stream->l4_offset;

	if (stream->l3_checksum_offset != 0) {
		if (rte_ipv4_cksum((struct rte_ipv4_hdr *)ip) != 0xffff &&
			rte_raw_cksum(ip, 20) != 0xffff)
			return false;
		return stream->l4_offset == 0 ||
		       rte_ipv4_udptcp_cksum_verify((struct rte_ipv4_hdr *)ip, l4) == 0;
	}
	return rte_ipv6_udptcp_cksum_verify((struct rte_ipv6_hdr *)ip, l4) == 0;
}

static void frames_are_right(void)
{
	static const char *const texts[] = {
		FLOWS("\"count\": 10000000, \"order\": \"uniform\"", UDP),
		FLOWS("\"count\": 10000000, \"order\": \"uniform\", \"mirror\": true", TCP),
		FLOWS("\"count\": 10000, \"order\": \"zipf\"", IP6),
		FLOWS("\"count\": 10000, \"mirror\": true", IP6),
		FLOWS("\"count\": 10000, \"order\": \"uniform\"", LAYERS()),
		"{\"frame_bytes\": 100, \"signature\": false, \"flows\": {\"count\": 9999}, " TCP
		"}",
		"{\"frame_bytes\": 100, \"flows\": {\"count\": 9999}, \"modifiers\": [{\"field\": "
		"\"ethernet.src\"}], " UDP "}",
		"{\"frame_bytes\": 101, \"flows\": {\"count\": 99999}, \"modifiers\": [{\"field\": "
		"\"mpls.label\"}], \"layers\": [{\"ethernet\": {}}, {\"mpls\": {}}, {\"ipv4\": "
		"{}}, {\"tcp\": {}}]}",
	};

	for (unsigned t = 0; t < RTE_DIM(texts); t++) {
		struct stream *stream = made(texts[t]);
		struct frame frame = {0};

		for (unsigned i = 0; i < 3000; i++) {
			fill(stream, &frame);
			CHECK(checksums_are_right(stream, &frame));
			CHECK(!stream->signature ||
				signature_read(
					frame.data + signature_offset(frame.mbuf.data_len)) ==
					signature_word(0, i));
		}
		stream_free(stream);
	}
}

/* Addresses and ports the other way round, all else alike. */
static void turn_round(const struct stream *stream, uint8_t *frame)
{
	uint8_t old[STREAM_HEADER_MAX], *ip = frame + stream->l3_offset;
	unsigned bytes = ip[0] >> 4 == 4 ? 4 : 16, at = ip[0] >> 4 == 4 ? 12 : 8;

	memcpy(old, ip, 60);
	memcpy(ip + at, old + at + bytes, bytes);
	memcpy(ip + at + bytes, old + at, bytes);
	memcpy(old, frame + stream->l4_offset, 4);
	memcpy(frame + stream->l4_offset, old + 2, 2);
	memcpy(frame + stream->l4_offset + 2, old, 2);
}

#define RANGES "\"src_port\": {\"min\": 5, \"max\": 700}, \"dst_port\": {\"min\": 80, \"max\": 443}"

static void a_mirror_is_the_other_direction(void)
{
	static const char *const texts[][2] = {
		{FLOWS("\"count\": 1000000, \"order\": \"zipf\"", UDP),
			FLOWS("\"count\": 1000000, \"order\": \"zipf\", \"mirror\": true", UDP)},
		{FLOWS("\"count\": 5000, " RANGES, IP6),
			FLOWS("\"count\": 5000, \"mirror\": true, " RANGES, IP6)},
		{FLOWS("\"count\": 500000, \"order\": \"uniform\", " RANGES, TCP),
			FLOWS("\"count\": 500000, \"order\": \"uniform\", \"mirror\": "
			      "true, " RANGES,
				TCP)},
	};

	for (unsigned t = 0; t < RTE_DIM(texts); t++) {
		struct stream *one = made(texts[t][0]), *other = made(texts[t][1]);
		struct frame ahead = {0}, back = {0};
		unsigned differ = 0;

		for (unsigned i = 0; i < 3000; i++) {
			fill(one, &ahead);
			fill(other, &back);
			differ += memcmp(ahead.data, back.data, 100) != 0;
			turn_round(other, back.data);
			CHECK(memcmp(ahead.data, back.data, 96) == 0);
			turn_round(other, back.data);
		}
		CHECK_EQUAL(differ, 3000);
		stream_free(one);
		stream_free(other);
	}
}

/* 100 places, a new flow each fourth frame; each place keeps its flow for 400 frames. */
static void new_flows_come_at_their_rate(void)
{
	struct stream *stream = made(FLOWS("\"count\": 100, \"new_per_s\": 250", UDP));
	static uint8_t known[100000];
	unsigned flows = 0;

	CHECK(flows_set_rate(stream->flows, 1000));
	memset(known, 0, sizeof(known));
	for (unsigned n = 0; n < 100000; n += 50) {
		struct flow_words words;

		flows_next(stream->flows, &words, 50);
		for (unsigned i = 0; i < 50; i++) {
			uint64_t number = number_of(&words, i), oldest = n / 4;

			/* One of the 100 youngest, and each in its position. */
			CHECK_EQUAL(number % 100, (n + i) % 100);
			CHECK(number + 13 >= oldest && number < oldest + 100 + 13);
			if (number < sizeof(known) && !known[number]++)
				flows++;
		}
	}
	CHECK(flows >= 100 + 25000 - 100 && flows <= 100 + 25000);
	stream_free(stream);
}

static void new_flows_need_a_rate(void)
{
	struct stream *stream = made(FLOWS("\"count\": 100, \"new_per_s\": 250", UDP));

	CHECK(!flows_set_rate(stream->flows, INFINITY));
	CHECK(!flows_set_rate(stream->flows, 249));
	CHECK(flows_set_rate(stream->flows, 250));
	stream_free(stream);
	stream = made(FLOWS("\"count\": 100", UDP));
	CHECK(flows_set_rate(stream->flows, INFINITY));
	stream_free(stream);
}

/* So few that all have been before: they come again, and none that is not in the ranges. */
static void flows_come_again_when_ranges_are_used_up(void)
{
	struct stream *stream = made(FLOWS("\"count\": 10, \"new_per_s\": 1000, \"src\": {\"min\": "
					   "\"16.0.0.1\", \"max\": \"16.0.0.5\"}, \"dst\": "
					   "{\"min\": \"48.0.0.1\", \"max\": \"48.0.0.7\"}, "
					   "\"src_port\": {\"max\": 1025}",
		UDP));
	struct flow_words words;

	CHECK(flows_set_rate(stream->flows, 1000));
	CHECK_EQUAL(stream->flows->renewal.generations, 3);
	for (unsigned n = 0; n < 1000; n++) {
		flows_next(stream->flows, &words, 33);
		for (unsigned i = 0; i < 33; i++)
			CHECK(words.src[i] - RTE_IPV4(16, 0, 0, 1) < 5 &&
				words.dst[i] - RTE_IPV4(48, 0, 0, 1) < 6);
	}
	stream_free(stream);
}

static void mistakes_are_found(void)
{
	static const char *const texts[] = {
		FLOWS("\"count\": 0", UDP),
		FLOWS("\"count\": 10000001, \"order\": \"uniform\"", UDP),
		FLOWS("\"count\": 64517", LAYERS()),
		FLOWS("\"count\": 10, \"src_port\": {\"max\": 9}", LAYERS()),
		FLOWS("\"order\": \"random\"", UDP),
		FLOWS("\"zipf_exponent\": 1", UDP),
		FLOWS("\"order\": \"zipf\", \"zipf_exponent\": 4.1", UDP),
		FLOWS("\"src\": {\"min\": \"16.0.0.9\"}, \"dst\": {\"max\": \"16.0.0.9\"}", UDP),
		FLOWS("\"src\": {\"min\": \"0.0.0.0\", \"max\": \"255.0.0.0\"}", UDP),
		FLOWS("\"src\": {\"max\": \"2001:db8::9:0:1\"}", IP6),
		FLOWS("\"dst_port\": {\"max\": 65536}", UDP),
		FLOWS("\"dst_port\": {\"most\": 65535}", UDP),
		FLOWS("\"nonsense\": 1", UDP),
		FLOWS("\"count\": 1", "\"layers\": [{\"ethernet\": {}}]"),
		FLOWS("\"count\": 1", "\"modifiers\": [{\"field\": \"udp.src\"}], " UDP),
		FLOWS("\"count\": 1", "\"modifiers\": [{\"field\": \"ipv4.dst\"}], " UDP),
		FLOWS("\"new_per_s\": 10, \"src\": {\"max\": \"16.0.0.1\"}, \"dst\": {\"max\": "
		      "\"48.0.0.1\"}, \"src_port\": {\"max\": 1025}",
			UDP),
		"{\"flows\": 7, " UDP "}",
	};

	for (unsigned i = 0; i < RTE_DIM(texts); i++) {
		unsigned mistakes;
		struct stream *stream = stream_of_text(texts[i], &mistakes);

		CHECK(stream == NULL);
		CHECK(mistakes >= 1 && mistakes < 1000);
		stream_free(stream);
	}
}

static const struct test_case cases[] = {
	{"ten million in turn", ten_million_in_turn},
	{"few in turn", few_in_turn},
	{"uniform is uniform", uniform_is_uniform},
	{"Zipf is Zipf", zipf_is_zipf},
	{"a wrong distribution is seen", a_wrong_distribution_is_seen},
	{"each CPU draws the same", each_cpu_draws_the_same},
	{"frames are right", frames_are_right},
	{"a mirror is the other direction", a_mirror_is_the_other_direction},
	{"new flows come at their rate", new_flows_come_at_their_rate},
	{"new flows need a rate", new_flows_need_a_rate},
	{"flows come again when ranges are used up", flows_come_again_when_ranges_are_used_up},
	{"mistakes are found", mistakes_are_found},
};
TEST_MAIN(cases)
