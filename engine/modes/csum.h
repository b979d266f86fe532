/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors of frames for csum: plain C, and variants for wider registers that fall back to it. */
#ifndef LINERATE_CSUM_H
#define LINERATE_CSUM_H

#include "core/checksum.h"
#include "mac_rewrite.h"

/*
 * New MAC addresses and checksums for a vector of at most NODE_VECTOR_MAX frames. Returns
 * whether some have no whole Ethernet header; those are left as they are.
 */
typedef bool (*csum_frames_t)(
	struct rte_mbuf **mbufs, uint16_t count, const struct mac_rewrite *rewrite);

bool csum_frames_scalar(struct rte_mbuf **mbufs, uint16_t count, const struct mac_rewrite *rewrite);
#ifdef RTE_ARCH_X86_64
/* Needs AVX-512 F, BW and VL, and BMI2. */
bool csum_frames_avx512(struct rte_mbuf **mbufs, uint16_t count, const struct mac_rewrite *rewrite);
#endif
/* The fastest that this machine has, within EAL's limit for the width of registers. */
csum_frames_t csum_frames_select(void);

#endif
