/* SPDX-License-Identifier: BSD-3-Clause */
/* Templates and their programs: values, fields, checksums, lengths, and mistakes. */
#include "core/signature.h"
#include "stream_text.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>

#define FRAMES 200
#define ROOM 512

/* Ethernet, IPv4 (UDP, 46 bytes), 18 bytes of payload: 60. */
#define HEADERS \
	"020000000e00507c6f20307008004500002e00010000401100001000000130000001" \
	"0401000c001a0000"
#define PAYLOAD "000102030405060708090a0b0c0d0e0f1011"
/* The same to IPv6, 20 bytes of payload: 82. */
#define HEADERS6 \
	"020000000e00507c6f20307086dd60000000001c1140" \
	"20010db8000000000000000000000001" \
	"20010db8000100000000000000000001" \
	"0401000c001c0000"

static uint8_t buffer[ROOM];
static struct rte_mbuf one;

static struct stream *right(const char *text)
{
	unsigned mistakes;
	struct stream *stream = stream_of_text(text, &mistakes);

	CHECK(stream != NULL);
	memset(buffer, 0, sizeof(buffer));
	memset(&one, 0, sizeof(one));
	one.buf_addr = buffer;
	return stream;
}

static const uint8_t *next(struct stream *stream)
{
	struct rte_mbuf *mbuf = &one;

	stream_fill(stream, &mbuf, 1);
	return buffer;
}

static unsigned word(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static unsigned sum_of(const uint8_t *at, unsigned bytes, unsigned sum)
{
	for (unsigned i = 0; i < bytes; i++)
		sum += i % 2 == 0 ? (unsigned)at[i] << 8 : at[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void values_walk(void)
{
	static const unsigned expected[][8] = {
		{5, 7, 9, 5, 7, 9, 5, 7}, {9, 6, 9, 6, 9, 6, 9, 6}, {3, 1, 2, 3, 1, 2, 3, 1},
		{2, 1, 3, 2, 1, 3, 2, 1}, {8, 9, 5, 6, 7, 8, 9, 5},
		{3, 2, 1, 3, 2, 1, 3, 2}, /* a list goes round */
	};
	struct stream *stream = right(
		"{\"template\": \"" HEADERS PAYLOAD "\", \"program\": {\"variables\": ["
		"{\"name\": \"a\", \"bytes\": 1, \"min\": 5, \"max\": 9, \"step\": 2},"
		"{\"name\": \"b\", \"bytes\": 1, \"min\": 5, \"max\": 9, \"step\": 3,"
		" \"op\": \"decrement\"},"
		"{\"name\": \"c\", \"bytes\": 1, \"values\": [3, 1, 2]},"
		"{\"name\": \"d\", \"bytes\": 1, \"values\": [3, 1, 2], \"op\": \"decrement\"},"
		"{\"name\": \"e\", \"bytes\": 1, \"min\": 5, \"max\": 9, \"start\": 8},"
		"{\"name\": \"f\", \"bytes\": 1, \"values\": [3, 1, 2], \"step\": 2}],"
		"\"steps\": ["
		"{\"write\": {\"variable\": \"a\", \"offset\": 42}},"
		"{\"write\": {\"variable\": \"b\", \"offset\": 43}},"
		"{\"write\": {\"variable\": \"c\", \"offset\": 44}},"
		"{\"write\": {\"variable\": \"d\", \"offset\": 45}},"
		"{\"write\": {\"variable\": \"e\", \"offset\": 46}},"
		"{\"write\": {\"variable\": \"f\", \"offset\": 47}}]}}");

	for (unsigned i = 0; i < 8; i++) {
		const uint8_t *frame = next(stream);

		for (unsigned v = 0; v < RTE_DIM(expected); v++)
			CHECK_EQUAL(frame[42 + v], expected[v][i]);
		CHECK_EQUAL(frame[48], 6); /* the template's */
		CHECK_EQUAL(one.data_len, 60);
	}
	stream_free(stream);
}

/* The second goes on when the first begins anew, also across bursts; a tuple likewise. */
static void values_carry(void)
{
	struct stream *stream = right(
		"{\"template\": \"" HEADERS PAYLOAD "\", \"program\": {\"variables\": ["
		"{\"name\": \"a\", \"bytes\": 1, \"min\": 0, \"max\": 2},"
		"{\"name\": \"b\", \"bytes\": 1, \"min\": 0, \"max\": 4, \"carry_from\": \"a\"},"
		"{\"name\": \"c\", \"bytes\": 1, \"min\": 0, \"max\": 9, \"carry_from\": \"b\"}],"
		"\"tuples\": [{\"name\": \"t\", \"ip_min\": \"10.0.0.1\", \"ip_max\": \"10.0.0.5\","
		" \"port_min\": 1025, \"port_max\": 1028, \"flows\": 12}],"
		"\"steps\": ["
		"{\"write\": {\"variable\": \"a\", \"offset\": 42}},"
		"{\"write\": {\"variable\": \"b\", \"offset\": 43}},"
		"{\"write\": {\"variable\": \"c\", \"offset\": 44}},"
		"{\"write\": {\"variable\": \"t.ip\", \"offset\": 26}},"
		"{\"write\": {\"variable\": \"t.port\", \"offset\": 34}}]}}");

	for (unsigned i = 0; i < FRAMES; i++) {
		const uint8_t *frame = next(stream);
		unsigned flow = i % 12;

		CHECK_EQUAL(frame[42], i % 3);
		CHECK_EQUAL(frame[43], i / 3 % 5);
		CHECK_EQUAL(frame[44], i / 15 % 10);
		CHECK_EQUAL(frame[29], 1 + flow % 5);
		CHECK_EQUAL(word(frame + 34), 1025 + flow / 5);
	}
	stream_free(stream);
}

/* A burst of many frames makes the same as many bursts of one. */
static void bursts_do_not_matter(void)
{
	static const char text[] =
		"{\"template\": \"" HEADERS PAYLOAD "\", \"program\": {\"variables\": ["
		"{\"name\": \"r\", \"bytes\": 2, \"op\": \"random\", \"min\": 100, \"max\": 900},"
		"{\"name\": \"l\", \"bytes\": 4, \"op\": \"random\", \"limit\": 7, \"seed\": 5},"
		"{\"name\": \"a\", \"bytes\": 1, \"min\": 0, \"max\": 2},"
		"{\"name\": \"b\", \"bytes\": 1, \"min\": 0, \"max\": 9, \"carry_from\": \"a\"}],"
		"\"steps\": ["
		"{\"write\": {\"variable\": \"r\", \"offset\": 42}},"
		"{\"write\": {\"variable\": \"l\", \"offset\": 44}},"
		"{\"write\": {\"variable\": \"b\", \"offset\": 48}}]}}";
	static uint8_t data[STREAM_BURST_MAX][ROOM];
	struct rte_mbuf mbufs[STREAM_BURST_MAX], *all[STREAM_BURST_MAX];
	struct stream *single = right(text), *many = right(text);

	memset(mbufs, 0, sizeof(mbufs));
	for (unsigned i = 0; i < STREAM_BURST_MAX; i++) {
		mbufs[i].buf_addr = data[i];
		all[i] = &mbufs[i];
	}
	for (unsigned round = 0; round < 3; round++) {
		stream_fill(many, all, STREAM_BURST_MAX);
		for (unsigned i = 0; i < STREAM_BURST_MAX; i++) {
			CHECK(memcmp(next(single), data[i], 60) == 0);
			CHECK(word(data[i] + 42) >= 100 && word(data[i] + 42) <= 900);
			CHECK(i < 7 || memcmp(data[i] + 44, data[i - 7] + 44, 4) == 0);
		}
	}
	CHECK(memcmp(data[0] + 44, data[1] + 44, 4) != 0);
	stream_free(single);
	stream_free(many);
}

static void fields_are_written(void)
{
	struct stream *stream = right(
		"{\"template\": \"" HEADERS PAYLOAD "\", \"program\": {\"variables\": ["
		"{\"name\": \"a\", \"bytes\": 2, \"min\": 4660, \"max\": 4660},"
		"{\"name\": \"w\", \"bytes\": 8, \"min\": 81985529216486895,"
		" \"max\": 81985529216486895}],"
		"\"steps\": ["
		"{\"write\": {\"variable\": \"w\", \"offset\": 42}},"
		"{\"write\": {\"variable\": \"a\", \"offset\": 50, \"order\": \"little\"}},"
		"{\"write\": {\"variable\": \"a\", \"offset\": 52, \"add\": -1}},"
		"{\"write\": {\"variable\": \"a\", \"offset\": 54, \"bytes\": 1, \"shift\": -4}},"
		"{\"write\": {\"variable\": \"a\", \"offset\": 55, \"bytes\": 4, \"shift\": 12,"
		" \"mask\": 4294963200}}]}}");
	static const uint8_t expected[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x34,
		0x12, 0x12, 0x33, 0x23, 0x01, 0x23, 0x4f, 0x10};

	for (unsigned i = 0; i < 3; i++)
		CHECK(memcmp(next(stream) + 42, expected, sizeof(expected)) == 0);
	stream_free(stream);
}

static void checksums_are_right(void)
{
	struct stream *stream = right(
		"{\"template\": \"" HEADERS PAYLOAD PAYLOAD "\", \"signature\": true,"
		"\"program\": {\"variables\": ["
		"{\"name\": \"a\", \"bytes\": 4, \"op\": \"random\"}],"
		"\"steps\": [{\"write\": {\"variable\": \"a\", \"offset\": 26}},"
		"{\"fix_ipv4_checksum\": {\"offset\": 14}}]},"
		"\"checksums\": [{\"l3_offset\": 14, \"l3_bytes\": 20, \"protocol\": \"udp\"}]}");

	/* IPv4 says 46 bytes: 60 of the frame; its signature is behind them. */
	for (unsigned i = 0; i < FRAMES; i++) {
		const uint8_t *frame = next(stream);

		CHECK_EQUAL(sum_of(frame + 14, 20, 0), 0xffff);
		CHECK_EQUAL(sum_of(frame + 34, 26, sum_of(frame + 26, 8, 17 + 26)), 0xffff);
		CHECK_EQUAL(signature_read(frame + signature_offset(78)), signature_word(0, i));
	}
	stream_free(stream);
	stream = right("{\"template\": \"" HEADERS6 PAYLOAD "1213\", \"signature\": true,"
		       "\"checksums\": [{\"l3_bytes\": 40, \"protocol\": \"udp\"}]}");
	for (unsigned i = 0; i < FRAMES; i++) {
		const uint8_t *frame = next(stream);

		CHECK_EQUAL(sum_of(frame + 54, 28, sum_of(frame + 22, 32, 17 + 28)), 0xffff);
		CHECK_EQUAL(signature_read(frame + signature_offset(82)), signature_word(0, i));
	}
	stream_free(stream);
}

/* Frames of each length, signed at their ends; none keeps what another had there. */
static void lengths_vary(void)
{
	struct stream *stream = right(
		"{\"template\": \"" HEADERS PAYLOAD PAYLOAD PAYLOAD "\", \"signature\": true,"
		"\"program\": {\"variables\": ["
		"{\"name\": \"n\", \"bytes\": 2, \"min\": 60, \"max\": 96}],"
		"\"steps\": [{\"write\": {\"variable\": \"n\", \"offset\": 16, \"add\": -14}},"
		"{\"trim\": {\"variable\": \"n\"}}]}}");

	CHECK(stream->mean_bytes == 78 + 4);
	for (unsigned i = 0; i < FRAMES; i++) {
		const uint8_t *frame = next(stream);
		unsigned bytes = 60 + i % 37;

		CHECK_EQUAL(one.data_len, bytes);
		CHECK_EQUAL(word(frame + 16), bytes - 14);
		for (unsigned at = 42; at < signature_offset(bytes); at++)
			CHECK_EQUAL(frame[at], (at - 42) % 18);
		CHECK_EQUAL(signature_read(frame + signature_offset(bytes)), signature_word(0, i));
	}
	stream_free(stream);
}

/* Buffers that go from stream to stream hold what a fresh one would. */
static void reused_buffers_are_clean(void)
{
	static const char *const texts[] = {
		"{\"template\": \"" HEADERS PAYLOAD PAYLOAD PAYLOAD PAYLOAD PAYLOAD PAYLOAD PAYLOAD
			PAYLOAD PAYLOAD PAYLOAD PAYLOAD PAYLOAD "\", \"program\": {"
		"\"variables\": [{\"name\": \"n\", \"bytes\": 2, \"min\": 60, \"max\": 258}],"
		"\"steps\": [{\"trim\": {\"variable\": \"n\"}}]}}",
		"{\"template\": \"" HEADERS "\", \"signature\": true}",
		"{\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {}}, {\"udp\": {}}]}",
		"{\"frame_bytes\": 300, \"layers\": [{\"ethernet\": {}}, {\"ipv6\": {}}]}",
	};
	struct stream *streams[RTE_DIM(texts)], *twins[RTE_DIM(texts)];
	struct rte_mbuf used, fresh, *reused = &used, *other = &fresh;
	static uint8_t used_data[ROOM], fresh_data[ROOM];

	for (unsigned i = 0; i < RTE_DIM(texts); i++) {
		streams[i] = right(texts[i]);
		twins[i] = right(texts[i]);
		streams[i]->id = twins[i]->id = (uint16_t)i;
	}
	memset(&used, 0, sizeof(used));
	used.buf_addr = used_data;
	srand(5);
	for (unsigned round = 0; round < 2000; round++) {
		unsigned pick = (unsigned)rand() % RTE_DIM(texts);

		memset(&fresh, 0, sizeof(fresh));
		memset(fresh_data, 0, sizeof(fresh_data));
		fresh.buf_addr = fresh_data;
		stream_fill(streams[pick], &reused, 1);
		stream_fill(twins[pick], &other, 1);
		CHECK_EQUAL(used.data_len, fresh.data_len);
		CHECK(memcmp(used_data, fresh_data, used.data_len) == 0);
	}
	for (unsigned i = 0; i < RTE_DIM(texts); i++) {
		stream_free(streams[i]);
		stream_free(twins[i]);
	}
}

#define PROGRAM(variables, steps) \
	"{\"template\": \"" HEADERS PAYLOAD "\", \"program\": {\"variables\": [" variables \
	"], \"steps\": [" steps "]}}"
#define A "{\"name\": \"a\", \"bytes\": 2}"

static void mistakes_are_found(void)
{
	static const char *const texts[] = {
		"{\"template\": \"00\"}",
		"{\"template\": \"" HEADERS "0\"}",
		"{\"template\": \"" HEADERS "zz\"}",
		"{\"template\": \"" HEADERS "\", \"layers\": []}",
		"{\"template\": \"" HEADERS "\", \"frame_bytes\": 64}",
		"{\"template\": \"" HEADERS "\", \"checksums\": [{}]}",
		"{\"template\": \"" HEADERS "\", \"checksums\": [5]}",
		"{\"template\": \"" HEADERS "\", \"checksums\": "
		"[{\"protocol\": \"udp\", \"l3_offset\": 50}]}",
		"{\"layers\": [{\"ethernet\": {}}], \"program\": {}}",
		"{\"template\": \"" HEADERS "\", \"bursts\": {}, \"burst\": 4}",
		"{\"template\": \"" HEADERS "\", \"bursts\": {\"frames\": 0}}",
		PROGRAM("{\"bytes\": 2}", ""),
		PROGRAM("{\"name\": \"a\", \"bytes\": 3}", ""),
		PROGRAM("{\"name\": \"a\", \"bytes\": 1, \"max\": 256}", ""),
		PROGRAM("{\"name\": \"a\", \"min\": 5, \"max\": 4}", ""),
		PROGRAM("{\"name\": \"a\", \"max\": 4, \"start\": 5}", ""),
		PROGRAM("{\"name\": \"a\", \"step\": 0}", ""),
		PROGRAM("{\"name\": \"a\", \"values\": []}", ""),
		PROGRAM("{\"name\": \"a\", \"bytes\": 1, \"values\": [256]}", ""),
		PROGRAM("{\"name\": \"a\", \"carry_from\": \"a\"}", ""),
		PROGRAM("{\"name\": \"a\", \"carry_from\": \"b\"}", ""),
		PROGRAM(A "," A, ""),
		PROGRAM(A, "{\"nonsense\": {}}"),
		PROGRAM(A, "{\"write\": {\"variable\": \"b\", \"offset\": 4}}"),
		PROGRAM(A, "{\"write\": {\"variable\": \"\", \"offset\": 4}}"),
		PROGRAM(A, "{\"write\": {\"variable\": \"a\"}}"),
		PROGRAM(A, "{\"write\": {\"variable\": \"a\", \"offset\": 59}}"),
		PROGRAM(A, "{\"write\": {\"variable\": \"a\", \"offset\": 4, \"bytes\": 5}}"),
		PROGRAM(A, "{\"write\": {\"variable\": \"a\", \"offset\": 4, \"add\": 0.5}}"),
		PROGRAM(A, "{\"fix_ipv4_checksum\": {\"offset\": 41}}"),
		PROGRAM(A, "{\"fix_l4_checksum\": {\"protocol\": \"sctp\"}}"),
		PROGRAM(A, "{\"trim\": {\"variable\": \"a\"}}"),
		"{\"template\": \"" HEADERS PAYLOAD "\", \"signature\": true, \"program\": {"
		"\"variables\": [" A "], \"steps\": "
		"[{\"write\": {\"variable\": \"a\", \"offset\": 52}}]}}",
		"{\"template\": \"" HEADERS "\", \"program\": {\"tuples\": [{\"name\": \"t\"}]}}",
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
	{"values walk", values_walk},
	{"values carry", values_carry},
	{"bursts do not matter", bursts_do_not_matter},
	{"fields are written", fields_are_written},
	{"checksums are right", checksums_are_right},
	{"lengths vary", lengths_vary},
	{"reused buffers are clean", reused_buffers_are_clean},
	{"mistakes are found", mistakes_are_found},
};
TEST_MAIN(cases)
