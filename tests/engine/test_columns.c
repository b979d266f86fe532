/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that modifiers write: in their turn, whatever the CPU and the size of bursts. */
#include "tester/columns.h"
#include "stream_text.h"
#include "test.h"

#include <rte_byteorder.h>
#include <rte_ip.h>

#define FRAME(modifiers, layers) \
	"{\"frame_bytes\": 100, \"modifiers\": [" modifiers "], \"layers\": [" layers "]}"
#define IP4_UDP \
	"{\"ethernet\": {}}, {\"ipv4\": {\"src\": \"16.0.0.1\", \"dst\": \"48.0.0.1\"}}, " \
	"{\"udp\": {}}"
#define FIELD(name, op, min, max, more) \
	"{\"field\": \"" name "\", \"op\": \"" op "\", \"min\": " min ", \"max\": " max more "}"

static struct stream *made(const char *text)
{
	unsigned mistakes;
	struct stream *stream = stream_of_text(text, &mistakes);

	if (stream == NULL) {
		fprintf(stderr, "%s: no stream\n", text);
		exit(EXIT_FAILURE);
	}
	return stream;
}

static const char *const texts[] = {
	FRAME(FIELD("ipv4.src", "increment", "\"16.0.0.1\"", "\"16.0.0.254\"", ""), IP4_UDP),
	FRAME(FIELD("ipv4.src", "increment", "\"0.0.0.0\"", "\"255.255.255.255\"", ""), IP4_UDP),
	FRAME(FIELD("ipv4.dst", "decrement", "\"0.0.0.0\"", "\"255.255.255.255\"",
		      ", \"step\": 4000000000"),
		IP4_UDP),
	FRAME(FIELD("udp.src", "increment", "7", "70", "") ", " FIELD(
		      "udp.dst", "decrement", "7", "71", ", \"step\": 3"),
		IP4_UDP),
	FRAME(FIELD("udp.src", "decrement", "0", "65535", ", \"step\": 7") ", " FIELD(
		      "ipv4.dst", "random", "\"48.0.0.1\"", "\"48.0.0.9\"", ""),
		IP4_UDP),
	FRAME(FIELD("ipv4.dst", "random", "\"0.0.0.0\"", "\"255.255.255.255\"", "") ", " FIELD(
		      "udp.dst", "random", "5", "5", ""),
		IP4_UDP),
	FRAME(FIELD("vlan.id", "increment", "1", "4094", ""),
		"{\"ethernet\": {}}, {\"vlan\": {\"id\": 3, \"priority\": 5}}, {\"ipv4\": {}}, "
		"{\"tcp\": {}}"),
	FRAME(FIELD("mpls.label", "decrement", "16", "1048575", ", \"step\": 5"),
		"{\"ethernet\": {}}, {\"mpls\": {\"label\": 3, \"ttl\": 77}}, {\"ipv4\": {}}, "
		"{\"udp\": {}}"),
	FRAME(FIELD("ipv6.dst", "increment", "\"2001:db8::1\"", "\"2001:db8::99\"", ""),
		"{\"ethernet\": {}}, {\"ipv6\": {}}, {\"udp\": {}}"),
	"{\"frame_bytes\": 100, \"flows\": {\"count\": 9999, \"order\": \"zipf\"}, \"modifiers\": "
	"[" FIELD("vlan.id", "increment", "1", "9",
		"") "], \"layers\": [{\"ethernet\": {}}, "
		    "{\"vlan\": {\"id\": 3, \"priority\": 5}}, {\"ipv4\": {}}, {\"udp\": {}}]}",
};

static void check_same(const struct columns *one, const struct columns *other, unsigned count)
{
	CHECK_EQUAL(one->nb_words, other->nb_words);
	CHECK_EQUAL(one->nb_halves, other->nb_halves);
	for (unsigned k = 0; k < one->nb_words; k++) {
		CHECK_EQUAL(one->word_at[k], other->word_at[k]);
		CHECK(memcmp(one->words[k], other->words[k], count * sizeof(uint32_t)) == 0);
	}
	for (unsigned k = 0; k < one->nb_halves; k++) {
		CHECK_EQUAL(one->half_at[k], other->half_at[k]);
		CHECK(memcmp(one->halves[k], other->halves[k], count * sizeof(uint16_t)) == 0);
	}
}

static void compare(columns_draw_t draw)
{
	for (unsigned t = 0; t < RTE_DIM(texts); t++) {
		struct stream *one = made(texts[t]), *other = made(texts[t]);

		for (unsigned round = 0; round < 5000; round++) {
			struct columns columns, others;
			unsigned count = round * 7 % STREAM_BURST_MAX + 1;

			columns_draw_scalar(one, &columns, count);
			draw(other, &others, count);
			check_same(&columns, &others, count);
		}
		stream_free(one);
		stream_free(other);
	}
}

static void each_cpu_draws_the_same(void)
{
#ifdef RTE_ARCH_X86_64
	if (lanes_avx2_run())
		compare(columns_draw_avx2);
	if (lanes_avx512_run())
		compare(columns_draw_avx512);
#endif
}

/* The value that comes after, by the words of the documentation. */
static uint32_t next_value(const struct modifier *modifier, uint32_t value)
{
	if (modifier->op == MODIFIER_INCREMENT)
		return modifier->max - value < modifier->step ? modifier->min
							      : value + modifier->step;
	return value - modifier->min < modifier->step ? modifier->max : value - modifier->step;
}

static uint32_t read_field(const struct modifier *modifier, const uint8_t *frame)
{
	uint32_t word;
	uint16_t half;

	memcpy(&word, frame + modifier->offset, sizeof(word));
	memcpy(&half, frame + modifier->offset, sizeof(half));
	switch (modifier->kind) {
	case MODIFIER_U16:
		return rte_be_to_cpu_16(half);
	case MODIFIER_U32:
		return rte_be_to_cpu_32(word);
	case MODIFIER_LABEL:
		return rte_be_to_cpu_32(word) >> 12;
	case MODIFIER_VLAN:
		return rte_be_to_cpu_16(half) & 0xfff;
	}
	return 0;
}

/* Bits beside the field are the template's. */
static void check_rest(const struct stream *stream, const uint8_t *frame)
{
	const struct modifier *modifier = &stream->modifiers[0];

	if (modifier->kind == MODIFIER_LABEL) {
		CHECK_EQUAL(frame[modifier->offset + 2] & 0xf,
			stream->header[modifier->offset + 2] & 0xf);
		CHECK_EQUAL(frame[modifier->offset + 3], 77);
	} else if (modifier->kind == MODIFIER_VLAN)
		CHECK_EQUAL(frame[modifier->offset] >> 4, 5 << 1);
}

static void check_checksums(const struct stream *stream, const uint8_t *frame)
{
	const uint8_t *ip = frame + stream->l3_offset, *l4 = frame + stream->l4_offset;

	if (stream->l3_checksum_offset != 0) {
		CHECK_EQUAL(rte_raw_cksum(ip, 20), 0xffff);
		CHECK(rte_ipv4_udptcp_cksum_verify((const struct rte_ipv4_hdr *)ip, l4) == 0);
	} else
		CHECK(rte_ipv6_udptcp_cksum_verify((const struct rte_ipv6_hdr *)ip, l4) == 0);
}

struct burst {
	uint8_t data[STREAM_BURST_MAX][128];
	struct rte_mbuf storage[STREAM_BURST_MAX], *mbufs[STREAM_BURST_MAX];
};

static void burst_start(struct burst *burst)
{
	memset(burst, 0, sizeof(*burst));
	for (unsigned i = 0; i < STREAM_BURST_MAX; i++) {
		burst->storage[i].buf_addr = burst->data[i];
		burst->mbufs[i] = &burst->storage[i];
	}
}

/* In bursts of all sizes; `wanted` are the values that are due. */
static void check_burst(struct stream *stream, struct burst *burst, unsigned count,
	uint32_t wanted[STREAM_MODIFIERS_MAX])
{
	stream_fill(stream, burst->mbufs, count);
	for (unsigned i = 0; i < count; i++) {
		const uint8_t *frame = burst->data[i];

		check_rest(stream, frame);
		check_checksums(stream, frame);
		for (unsigned k = 0; k < stream->nb_modifiers; k++) {
			const struct modifier *modifier = &stream->modifiers[k];
			uint32_t value = read_field(modifier, frame);

			CHECK(value >= modifier->min && value <= modifier->max);
			if (modifier->op == MODIFIER_RANDOM)
				continue;
			CHECK_EQUAL(value, wanted[k]);
			wanted[k] = next_value(modifier, wanted[k]);
		}
	}
}

static void frames_are_right(void)
{
	static struct burst burst;

	for (unsigned t = 0; t < RTE_DIM(texts); t++) {
		struct stream *stream = made(texts[t]);
		uint32_t wanted[STREAM_MODIFIERS_MAX] = {0};

		burst_start(&burst);
		for (unsigned k = 0; k < stream->nb_modifiers; k++)
			wanted[k] = stream->modifiers[k].op == MODIFIER_DECREMENT
					    ? stream->modifiers[k].max
					    : stream->modifiers[k].min;
		for (unsigned round = 0; round < 500; round++)
			check_burst(stream, &burst, round * 7 % STREAM_BURST_MAX + 1, wanted);
		CHECK_EQUAL(stream->sent, stream->next_sequence);
		stream_free(stream);
	}
}

/* Each value of a small range as often as the others, and of a large one few come twice. */
static void random_values_are_spread(void)
{
	struct stream *stream = made(texts[4]);
	struct columns columns;
	unsigned seen[9] = {0};

	for (unsigned round = 0; round < 9000; round++) {
		columns_draw_scalar(stream, &columns, STREAM_BURST_MAX);
		for (unsigned i = 0; i < STREAM_BURST_MAX; i++)
			seen[rte_be_to_cpu_32(columns.words[0][i]) - RTE_IPV4(48, 0, 0, 1)]++;
	}
	/* 64,000 each: five standard deviations. */
	for (unsigned i = 0; i < RTE_DIM(seen); i++)
		CHECK(seen[i] > 62700 && seen[i] < 65300);
	stream_free(stream);
}

static int by_value(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void random_values_are_independent(void)
{
	static uint32_t values[1 << 18];
	struct stream *stream = made(texts[5]);
	struct columns columns;
	unsigned twice = 0;

	for (unsigned i = 0; i < RTE_DIM(values); i += STREAM_BURST_MAX) {
		columns_draw_scalar(stream, &columns, STREAM_BURST_MAX);
		memcpy(&values[i], columns.words[0], sizeof(columns.words[0]));
	}
	qsort(values, RTE_DIM(values), sizeof(values[0]), by_value);
	for (unsigned i = 1; i < RTE_DIM(values); i++)
		twice += values[i] == values[i - 1];
	/* n^2 / 2^33 = 8 pairs, as of independent draws. */
	CHECK(twice > 0 && twice < 30);
	stream_free(stream);
}

static const struct test_case cases[] = {
	{"each CPU draws the same", each_cpu_draws_the_same},
	{"frames are right", frames_are_right},
	{"random values are spread", random_values_are_spread},
	{"random values are independent", random_values_are_independent},
};
TEST_MAIN(cases)
