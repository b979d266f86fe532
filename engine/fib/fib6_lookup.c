/* SPDX-License-Identifier: BSD-3-Clause */
/* Many IPv6 lookups at once, as the machine does them best. */
#include "fib6.h"

#include <rte_common.h>
#include <rte_cpuflags.h>

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

#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw")))
#define LANES 16

/* So many addresses go one step after the other together: with each step all their loads, of
 * which most miss the cache, are under way at once. */
#define TOGETHER 256
#define BLOCKS (TOGETHER / LANES)
/* Steps taken together: up to /48, where nearly all prefixes end. */
#define STEPS 3

/* Addresses' bits 0 to 31 and 32 to 63 in host order, and the words so far. */
struct lookups {
	__m512i bits_0[BLOCKS], bits_32[BLOCKS], words[BLOCKS];
};

AVX512 static inline void load_block(
	struct lookups *lookups, const uint8_t *const *addresses, unsigned block)
{
	const __m512i even =
		_mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
	const __m512i odd =
		_mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
	uint64_t upper[LANES] __rte_aligned(64);
	__m512i a, b;

	for (unsigned i = 0; i < LANES; i++) {
		memcpy(&upper[i], addresses[i], sizeof(upper[i]));
		upper[i] = rte_be_to_cpu_64(upper[i]);
	}
	a = _mm512_load_si512(upper);
	b = _mm512_load_si512(upper + LANES / 2);
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

/* What goes on beyond the common steps does so alone. */
AVX512 static inline void finish_block(
	const uint8_t *const *addresses, uint32_t *next_hops, __m512i word)
{
	__mmask16 grouped = _mm512_movepi32_mask(word);
	uint32_t words[LANES] __rte_aligned(64);

	_mm512_storeu_si512(
		next_hops, _mm512_and_si512(word, _mm512_set1_epi32((int)FIB6_NEXT_HOP)));
	if (likely(grouped == 0))
		return;
	_mm512_store_si512(words, word);
	for (; grouped != 0; grouped &= (__mmask16)(grouped - 1)) {
		unsigned lane = (unsigned)__builtin_ctz(grouped);

		next_hops[lane] =
			fib6_descend(addresses[lane], words[lane], FIB6_FIRST_BITS / 8 + STEPS) &
			FIB6_NEXT_HOP;
	}
}

AVX512 static inline void lookup_blocks(
	const uint8_t *const *addresses, uint32_t *next_hops, unsigned blocks)
{
	struct lookups lookups;
	unsigned i;

	for (i = 0; i < blocks; i++)
		load_block(&lookups, addresses + LANES * i, i);
	for (i = 0; i < blocks; i++)
		lookups.words[i] = descend(lookups.words[i], lookups.bits_0[i]);
	for (i = 0; i < blocks; i++)
		lookups.words[i] =
			descend(lookups.words[i], _mm512_srli_epi32(lookups.bits_32[i], 24));
	for (i = 0; i < blocks; i++)
		lookups.words[i] =
			descend(lookups.words[i], _mm512_srli_epi32(lookups.bits_32[i], 16));
	for (i = 0; i < blocks; i++)
		finish_block(addresses + LANES * i, next_hops + LANES * i, lookups.words[i]);
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
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0;
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
