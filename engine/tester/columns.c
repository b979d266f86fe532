/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each step is a loop over the burst that the compiler turns into vectors (lanes.h); the same text
 * is compiled for any CPU, for those with AVX2 and for those with AVX-512.
 */
#include "columns.h"

#include "inet_checksum.h"
#include "mixed.h"

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <string.h>

/* The sums of each frame's checksums. */
struct sums {
	uint32_t l3[STREAM_BURST_MAX], l4[STREAM_BURST_MAX];
};

static __rte_always_inline void sums_start(
	const struct stream *stream, struct sums *sums, unsigned lanes)
{
	uint32_t l3 = stream->l3_base, l4 = stream->l4_base;

	for (unsigned i = 0; i < lanes; i++) {
		sums->l3[i] = l3;
		sums->l4[i] = l4;
	}
}

/* Numbers of the values in turn. */
static __rte_always_inline void draw_in_turn(
	struct modifier *modifier, uint32_t *values, unsigned count, unsigned lanes)
{
	uint32_t first = modifier->next, last = modifier->last, left = last - first;

	if (likely(last >= STREAM_BURST_MAX - 1)) {
		for (uint32_t i = 0; i < lanes; i++)
			values[i] = first + i - ((last + 1) & -(uint32_t)(i > left));
		modifier->next = first + count - (count > left ? last + 1 : 0);
		return;
	}
	memset(values, 0, lanes * sizeof(*values));
	for (unsigned i = 0; i < count; i++) {
		values[i] = first;
		first = first == last ? 0 : first + 1;
	}
	modifier->next = first;
}

static __rte_always_inline void draw_random(
	struct modifier *modifier, uint32_t *values, unsigned count, unsigned lanes)
{
	uint32_t first = modifier->next, seed = modifier->seed, min = modifier->min;
	uint64_t above = modifier->max - min;

	for (uint32_t i = 0; i < lanes; i++) {
		/* Two of them, since one alone gives no number twice. */
		uint32_t random = mixed((first + i) ^ seed) + mixed(first + i + seed);

		values[i] = min + (uint32_t)((random * above + random) >> 32);
	}
	modifier->next = first + count;
}

static __rte_always_inline void draw_values(
	struct modifier *modifier, uint32_t *values, unsigned count, unsigned lanes)
{
	uint32_t start = modifier->min, step = modifier->step;

	if (modifier->op == MODIFIER_RANDOM) {
		draw_random(modifier, values, count, lanes);
		return;
	}
	draw_in_turn(modifier, values, count, lanes);
	if (modifier->op == MODIFIER_DECREMENT) {
		start = modifier->max;
		step = -step;
	}
	for (unsigned i = 0; i < lanes; i++)
		values[i] = start + values[i] * step;
}

/* To network order; DPDK's are instructions for one value each. */
static __rte_always_inline uint32_t big32(uint32_t value)
{
	return RTE_BYTE_ORDER == RTE_BIG_ENDIAN ? value : __builtin_bswap32(value);
}

static __rte_always_inline uint16_t big16(uint32_t value)
{
	return RTE_BYTE_ORDER == RTE_BIG_ENDIAN ? (uint16_t)value
						: (uint16_t)(value << 8 | (value >> 8 & 0xff));
}

static __rte_always_inline void put_words(
	struct columns *columns, unsigned at, const uint32_t *values, unsigned lanes)
{
	uint32_t *words = columns->words[columns->nb_words];

	columns->word_at[columns->nb_words++] = (uint16_t)at;
	for (unsigned i = 0; i < lanes; i++)
		words[i] = big32(values[i]);
}

static __rte_always_inline void put_halves(
	struct columns *columns, unsigned at, const uint32_t *values, unsigned lanes)
{
	uint16_t *halves = columns->halves[columns->nb_halves];

	columns->half_at[columns->nb_halves++] = (uint16_t)at;
	for (unsigned i = 0; i < lanes; i++)
		halves[i] = big16(values[i]);
}

/* Each value as two words of a checksum. */
static __rte_always_inline void add_values(uint32_t *sums, const uint32_t *values, unsigned lanes)
{
	for (unsigned i = 0; i < lanes; i++)
		sums[i] += (values[i] & 0xffff) + (values[i] >> 16);
}

static __rte_always_inline void draw_modifier(struct modifier *modifier, struct columns *columns,
	struct sums *sums, unsigned count, unsigned lanes)
{
	bool label = modifier->kind == MODIFIER_LABEL;
	uint32_t values[STREAM_BURST_MAX] __rte_cache_aligned, fixed = modifier->fixed;

	draw_values(modifier, values, count, lanes);
	if (modifier->in_l3_checksum)
		add_values(sums->l3, values, lanes);
	if (modifier->in_l4_checksum)
		add_values(sums->l4, values, lanes);
	if (unlikely(fixed != 0 || label)) {
		unsigned shift = label ? 12 : 0;

		for (unsigned i = 0; i < lanes; i++)
			values[i] = values[i] << shift | fixed;
	}
	if (label || modifier->kind == MODIFIER_U32)
		put_words(columns, modifier->offset, values, lanes);
	else
		put_halves(columns, modifier->offset, values, lanes);
}

static __rte_always_inline void draw_flows(struct flows *flows, struct columns *columns,
	struct sums *sums, unsigned count, unsigned lanes)
{
	struct flow_words words;

	flows_next(flows, &words, count);
	put_words(columns, flows->src_at, words.src, lanes);
	put_words(columns, flows->dst_at, words.dst, lanes);
	add_values(sums->l3, words.src, lanes);
	add_values(sums->l3, words.dst, lanes);
	add_values(sums->l4, words.src, lanes);
	add_values(sums->l4, words.dst, lanes);
	if (flows->ports) {
		put_words(columns, flows->ports_at, words.ports, lanes);
		add_values(sums->l4, words.ports, lanes);
	}
}

/* `zero` stands for a checksum of 0. */
static __rte_always_inline void put_checksums(
	struct columns *columns, unsigned at, uint32_t *sums, unsigned lanes, uint32_t zero)
{
	for (unsigned i = 0; i < lanes; i++) {
		uint32_t checksum = inet_checksum(sums[i]);

		sums[i] = checksum == 0 ? zero : checksum;
	}
	put_halves(columns, at, sums, lanes);
}

static __rte_always_inline void draw_lanes(
	struct stream *stream, struct columns *columns, unsigned count, unsigned lanes)
{
	struct sums sums __rte_cache_aligned;

	columns->nb_words = columns->nb_halves = 0;
	sums_start(stream, &sums, lanes);
	for (unsigned i = 0; i < stream->nb_modifiers; i++)
		draw_modifier(&stream->modifiers[i], columns, &sums, count, lanes);
	if (stream->flows != NULL)
		draw_flows(stream->flows, columns, &sums, count, lanes);
	if (stream->l3_checksum_offset != 0)
		put_checksums(columns, stream->l3_checksum_offset, sums.l3, lanes, 0);
	/* 0 would say that there is no checksum: RFC 768. */
	if (stream->l4_checksum_offset != 0)
		put_checksums(columns, stream->l4_checksum_offset, sums.l4, lanes, 0xffff);
}

/* A single frame, as where streams take turns, is no vector. */
static __rte_always_inline void draw(struct stream *stream, struct columns *columns, unsigned count)
{
	if (count == 1)
		draw_lanes(stream, columns, 1, 1);
	else
		draw_lanes(stream, columns, count, lanes_of(count));
}

void columns_draw_scalar(struct stream *stream, struct columns *columns, unsigned count)
{
	draw(stream, columns, count);
}

#ifdef RTE_ARCH_X86_64
LANES_AVX2 void columns_draw_avx2(struct stream *stream, struct columns *columns, unsigned count)
{
	draw(stream, columns, count);
}

LANES_AVX512 void columns_draw_avx512(
	struct stream *stream, struct columns *columns, unsigned count)
{
	draw(stream, columns, count);
}
#endif

columns_draw_t columns_draw_select(void)
{
#ifdef RTE_ARCH_X86_64
	if (lanes_avx512_run())
		return columns_draw_avx512;
	if (lanes_avx2_run())
		return columns_draw_avx2;
#endif
	return columns_draw_scalar;
}
