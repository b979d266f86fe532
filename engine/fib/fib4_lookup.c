/* SPDX-License-Identifier: BSD-3-Clause */
/* Many lookups at once, as the machine does them best. */
#include "fib4.h"

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_cpuflags.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

static void lookup_scalar(const uint32_t *addresses, uint32_t *next_hops, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		next_hops[i] = fib4_lookup_one(addresses[i]);
}

static bool always(void)
{
	return true;
}

#ifdef __x86_64__

/* A group's word is gathered by a signed index of 32 bits: see GROUPS_MAX in fib4.c. */
__attribute__((target("avx2"))) static inline __m256i lookup_8(__m256i address)
{
	const __m256i value = _mm256_set1_epi32(FIB4_VALUE), byte = _mm256_set1_epi32(255);
	__m256i word =
		_mm256_i32gather_epi32((const int *)fib4.first, _mm256_srli_epi32(address, 8), 4);
	int grouped = _mm256_movemask_ps(_mm256_castsi256_ps(word));
	__m256i index;

	if (grouped == 0)
		return _mm256_and_si256(word, value);
	index = _mm256_or_si256(_mm256_slli_epi32(_mm256_and_si256(word, value), 8),
		_mm256_and_si256(address, byte));
	word = _mm256_mask_i32gather_epi32(word, (const int *)fib4.groups, index, word, 4);
	return _mm256_and_si256(word, value);
}

__attribute__((target("avx2"))) static void lookup_avx2(
	const uint32_t *addresses, uint32_t *next_hops, unsigned count)
{
	unsigned i = 0;

	for (; i + 8 <= count; i += 8)
		_mm256_storeu_si256((__m256i *)(next_hops + i),
			lookup_8(_mm256_loadu_si256((const __m256i *)(addresses + i))));
	lookup_scalar(addresses + i, next_hops + i, count - i);
}

static bool has_avx2(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0;
}

#define AVX512 __attribute__((target("avx512f,avx512dq")))

AVX512 static inline __m512i second_level(__m512i address, __m512i word)
{
	const __m512i value = _mm512_set1_epi32(FIB4_VALUE), byte = _mm512_set1_epi32(255);
	__mmask16 grouped = _mm512_movepi32_mask(word);
	__m512i index;

	if (grouped != 0) {
		index = _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(word, value), 8),
			_mm512_and_si512(address, byte));
		word = _mm512_mask_i32gather_epi32(word, grouped, index, fib4.groups, 4);
	}
	return _mm512_and_si512(word, value);
}

/* Two at a time, so that more loads are under way. */
AVX512 static void lookup_avx512(const uint32_t *addresses, uint32_t *next_hops, unsigned count)
{
	unsigned i = 0;

	for (; i + 32 <= count; i += 32) {
		__m512i a = _mm512_loadu_si512(addresses + i);
		__m512i b = _mm512_loadu_si512(addresses + i + 16);
		__m512i x = _mm512_i32gather_epi32(_mm512_srli_epi32(a, 8), fib4.first, 4);
		__m512i y = _mm512_i32gather_epi32(_mm512_srli_epi32(b, 8), fib4.first, 4);

		_mm512_storeu_si512(next_hops + i, second_level(a, x));
		_mm512_storeu_si512(next_hops + i + 16, second_level(b, y));
	}
	lookup_scalar(addresses + i, next_hops + i, count - i);
}

static bool has_avx512(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512DQ) > 0;
}

const struct fib4_lookup_way fib4_lookup_ways[FIB4_LOOKUP_WAYS] = {
	{"scalar", lookup_scalar, always},
	{"avx2", lookup_avx2, has_avx2},
	{"avx512", lookup_avx512, has_avx512},
};

#else

const struct fib4_lookup_way fib4_lookup_ways[FIB4_LOOKUP_WAYS] = {
	{"scalar", lookup_scalar, always},
};

#endif
