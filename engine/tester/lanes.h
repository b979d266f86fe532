/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops over a burst that the compiler turns into vectors. They run on to the next LANES_STEP, so
 * that none has a rest of single frames: what they make beyond the burst is never read.
 */
#ifndef LINERATE_LANES_H
#define LINERATE_LANES_H

#include <rte_common.h>
#include <rte_cpuflags.h>
#include <stdbool.h>

#define LANES_STEP 16

static __rte_always_inline unsigned lanes_of(unsigned count)
{
	return (count + LANES_STEP - 1) / LANES_STEP * LANES_STEP;
}

#ifdef RTE_ARCH_X86_64
#define LANES_AVX2 __attribute__((target("avx2")))
#define LANES_AVX512 \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))

static inline bool lanes_avx2_run(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0;
}

static inline bool lanes_avx512_run(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512DQ) > 0 &&
	       rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0;
}
#endif

#endif
