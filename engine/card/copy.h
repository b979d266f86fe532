/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame copies by the card, with registers as wide as the CPU's. */
#ifndef LINERATE_COPY_H
#define LINERATE_COPY_H

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_cpuflags.h>
#include <rte_vect.h>
#include <stdbool.h>
#include <stdint.h>

/* A cache line as one value: one store of 64 bytes, or as many as the registers need. */
typedef uint8_t cache_line __attribute__((vector_size(RTE_CACHE_LINE_SIZE), aligned(1), may_alias));

/* Also compiled for wide registers; the variant is chosen at start. */
#ifdef RTE_ARCH_X86_64
#define COPY_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))

static inline bool copy_avx512_runs(void)
{
	return rte_vect_get_max_simd_bitwidth() >= RTE_VECT_SIMD_512 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0;
}
#endif

/* Copies whole cache lines: both buffers have room for the last. */
static __rte_always_inline void copy_frame(void *to, const void *from, unsigned bytes)
{
	*(cache_line *)to = *(const cache_line *)from;
	for (unsigned at = sizeof(cache_line); unlikely(at < bytes); at += sizeof(cache_line))
		*(cache_line *)RTE_PTR_ADD(to, at) = *(const cache_line *)RTE_PTR_ADD(from, at);
}

#endif
