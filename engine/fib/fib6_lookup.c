/* SPDX-License-Identifier: BSD-3-Clause */
/* Many IPv6 lookups at once, as the machine does them best. */
#include "fib6.h"

#include <rte_common.h>
#include <rte_cpuflags.h>
#include <rte_prefetch.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

static void lookup_scalar(const uint8_t *const *addresses, uint32_t *next_hops, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		next_hops[i] = fib6_lookup_one(addresses[i]);
}

static bool always(void)
{
	return true;
}

#ifdef __x86_64__

#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
#define LANES 16

/* Addresses that go through a step together: in each step all their loads, most of which miss the
 * cache, are in flight at once. */
#define TOGETHER 256
#define BLOCKS (TOGETHER / LANES)

/* Addresses' bits 0 to 31 and 32 to 63 in host order, and the words so far. */
struct lookups {
	__m512i bits_0[BLOCKS], bits_32[BLOCKS], words[BLOCKS];
};

/* The upper 64 bits of eight addresses, in host order. */
AVX512 static inline __m512i load_upper(const uint8_t *const *addresses)
{
	const __m512i swap = _mm512_broadcast_i32x4(
		_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));

	return _mm512_shuffle_epi8(
		_mm512_i64gather_epi64(_mm512_loadu_si512(addresses), NULL, 1), swap);
}

AVX512 static inline void load_block(
	struct lookups *lookups, const uint8_t *const *addresses, unsigned block)
{
	const __m512i even =
		_mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
	const __m512i odd =
		_mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
	__m512i a = load_upper(addresses), b = load_upper(addresses + LANES / 2);

	lookups->bits_0[block] = _mm512_permutex2var_epi32(a, odd, b);
	lookups->bits_32[block] = _mm512_permutex2var_epi32(a, even, b);
	lookups->words[block] =
		_mm512_i32gather_epi32(_mm512_srli_epi32(lookups->bits_0[block], 8), fib6.first, 4);
}

/* Where a word is a group's number, what the group has for the address's byte. A group's index
 * is signed: see GROUPS_MAX in fib6.c. */
AVX512 static inline __m512i descend(__m512i word, __m512i bits)
{
	__m512i byte = _mm512_and_si512(bits, _mm512_set1_epi32(255));
	/* The shift drops the bit that says that it is a group. */
	__m512i index = _mm512_or_si512(_mm512_slli_epi32(word, 8), byte);

	return _mm512_mask_i32gather_epi32(word, _mm512_movepi32_mask(word), index, fib6.groups, 4);
}

/* Addresses that are not done after the steps that all take: whose they are in next_hops. */
struct rest {
	/* Those that a line decides: its number, and the bits that it compares. */
	unsigned nb_lines, nb_groups;
	uint32_t line_at[TOGETHER + LANES], line[TOGETHER + LANES], bits[TOGETHER + LANES];
	/* Those that a group goes on with: its word, and the address's bits 32 to 63. */
	uint32_t group_at[TOGETHER + LANES], group[TOGETHER + LANES], bits_32[TOGETHER + LANES];
};

/* Puts the chosen lanes behind one another. */
AVX512 static inline void append(uint32_t *list, __mmask16 lanes, __m512i values)
{
	_mm512_storeu_si512(list, _mm512_maskz_compress_epi32(lanes, values));
}

AVX512 static inline void prefetch_lines(__m512i lines)
{
	uint32_t line[LANES] __rte_aligned(64);

	_mm512_store_si512(line, lines);
	for (unsigned i = 0; i < LANES; i++)
		rte_prefetch0(&fib6.lines[line[i]]);
}

/* Notes those lanes whose word is a line's; `bits` are what it compares. */
AVX512 static inline void append_lines(struct rest *rest, __m512i word, __m512i at, __m512i bits)
{
	__mmask16 lanes = _mm512_test_epi32_mask(word, _mm512_set1_epi32(FIB6_LINE));
	__m512i line = _mm512_maskz_and_epi32(lanes, word, _mm512_set1_epi32(FIB6_LINE_NUMBER));

	prefetch_lines(line);
	append(rest->line_at + rest->nb_lines, lanes, at);
	append(rest->line + rest->nb_lines, lanes, line);
	append(rest->bits + rest->nb_lines, lanes, bits);
	rest->nb_lines += (unsigned)__builtin_popcount(lanes);
}

/* Stores the next hops of what is done and notes the rest. */
AVX512 static inline void sort_block(
	struct rest *rest, const struct lookups *lookups, uint32_t *next_hops, unsigned block)
{
	const __m512i lanes =
		_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	__m512i word = lookups->words[block], bits_32 = lookups->bits_32[block];
	__mmask16 grouped = _mm512_movepi32_mask(word);
	__mmask16 at_32 =
		_mm512_test_epi32_mask(word, _mm512_set1_epi32(1 << FIB6_LINE_DEPTH_SHIFT));
	__m512i at = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)(LANES * block)));
	__m512i bits_24 = _mm512_or_si512(
		_mm512_slli_epi32(lookups->bits_0[block], 24), _mm512_srli_epi32(bits_32, 8));

	append_lines(rest, word, at, _mm512_mask_mov_epi32(bits_24, at_32, bits_32));
	append(rest->group_at + rest->nb_groups, grouped, at);
	append(rest->group + rest->nb_groups, grouped, word);
	append(rest->bits_32 + rest->nb_groups, grouped, bits_32);
	rest->nb_groups += (unsigned)__builtin_popcount(grouped);
	_mm512_storeu_si512(next_hops + (size_t)LANES * block,
		_mm512_and_si512(word, _mm512_set1_epi32((int)FIB6_NEXT_HOP)));
}

/* Continues in groups beyond /40 one address at a time, where nearly all have reached a line. */
AVX512 static inline void descend_alone(const struct rest *rest, unsigned first, __m512i word,
	const uint8_t *const *addresses, uint32_t *next_hops)
{
	__mmask16 grouped = _mm512_movepi32_mask(word);
	uint32_t words[LANES] __rte_aligned(64);

	if (likely(grouped == 0))
		return;
	_mm512_store_si512(words, word);
	for (; grouped != 0; grouped &= (__mmask16)(grouped - 1)) {
		unsigned lane = (unsigned)__builtin_ctz(grouped), at = rest->group_at[first + lane];

		next_hops[at] = fib6_descend(addresses[at], words[lane], 40 / 8);
	}
}

/* The next step of those in groups: from /32 to /40. */
AVX512 static inline void descend_groups(
	struct rest *rest, const uint8_t *const *addresses, uint32_t *next_hops)
{
	for (unsigned i = 0; i < rest->nb_groups; i += LANES) {
		unsigned count = RTE_MIN(rest->nb_groups - i, (unsigned)LANES);
		__mmask16 lanes = (__mmask16)((1u << count) - 1);
		__m512i bits_32 = _mm512_loadu_si512(rest->bits_32 + i);
		__m512i at = _mm512_loadu_si512(rest->group_at + i);
		__m512i word = _mm512_maskz_loadu_epi32(lanes, rest->group + i);

		word = descend(word, _mm512_srli_epi32(bits_32, 24));
		_mm512_mask_i32scatter_epi32(next_hops, lanes, at,
			_mm512_and_si512(word, _mm512_set1_epi32((int)FIB6_NEXT_HOP)), 4);
		append_lines(rest, word, at, _mm512_slli_epi32(bits_32, 8));
		descend_alone(rest, i, word, addresses, next_hops);
	}
}

/* All entries at once. The first that matches has the longest prefix; the last always does. */
AVX512 static inline void match_lines(const struct rest *rest, uint32_t *next_hops)
{
	for (unsigned i = 0; i < rest->nb_lines; i++) {
		const struct fib6_line *line = &fib6.lines[rest->line[i]];
		__m256i words = _mm256_load_si256((const __m256i *)line->words);
		__m256i differ = _mm256_xor_si256(_mm256_load_si256((const __m256i *)line->keys),
			_mm256_set1_epi32((int)rest->bits[i]));
		/* A count of 32 or more leaves nothing. */
		__m256i left =
			_mm256_srlv_epi32(differ, _mm256_srli_epi32(words, FIB6_LENGTH_SHIFT));
		unsigned first = (unsigned)__builtin_ctz(_mm256_testn_epi32_mask(left, left));

		next_hops[rest->line_at[i]] = line->words[first] & FIB6_NEXT_HOP;
	}
}

AVX512 static inline void lookup_blocks(
	const uint8_t *const *addresses, uint32_t *next_hops, unsigned blocks)
{
	struct lookups lookups;
	struct rest rest;
	unsigned i;

	rest.nb_lines = rest.nb_groups = 0;
	for (i = 0; i < blocks; i++)
		load_block(&lookups, addresses + (size_t)LANES * i, i);
	for (i = 0; i < blocks; i++) {
		lookups.words[i] = descend(lookups.words[i], lookups.bits_0[i]);
		sort_block(&rest, &lookups, next_hops, i);
	}
	descend_groups(&rest, addresses, next_hops);
	match_lines(&rest, next_hops);
}

AVX512 static void lookup_avx512(
	const uint8_t *const *addresses, uint32_t *next_hops, unsigned count)
{
	while (count >= LANES) {
		unsigned blocks = RTE_MIN(count / LANES, (unsigned)BLOCKS);

		lookup_blocks(addresses, next_hops, blocks);
		addresses += (size_t)LANES * blocks;
		next_hops += (size_t)LANES * blocks;
		count -= LANES * blocks;
	}
	lookup_scalar(addresses, next_hops, count);
}

static bool has_avx512(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512DQ) > 0 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0;
}

const struct fib6_lookup_way fib6_lookup_ways[] = {
	{"scalar", lookup_scalar, always},
	{"avx512", lookup_avx512, has_avx512},
};

#else

const struct fib6_lookup_way fib6_lookup_ways[] = {
	{"scalar", lookup_scalar, always},
};

#endif

const unsigned nb_fib6_lookup_ways = RTE_DIM(fib6_lookup_ways);
