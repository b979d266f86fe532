/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frees a vector. Neighbours from one pool without other references, of one segment, go back in one
 * call; rte_pktmbuf_free_bulk() would read the second cache line of each.
 */
#ifndef LINERATE_FREE_H
#define LINERATE_FREE_H

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <string.h>

/* refcnt and nb_segs of the word that data_off, refcnt, nb_segs and port share; both 1. */
#define FREE_PLAIN_MASK rte_cpu_to_le_64(0x0000ffffffff0000ull)
#define FREE_PLAIN_WORD rte_cpu_to_le_64(0x0000000100010000ull)

/* That word. */
static __rte_always_inline uint64_t free_rearm(const struct rte_mbuf *mbuf)
{
	uint64_t word;

	memcpy(&word, RTE_PTR_ADD(mbuf, offsetof(struct rte_mbuf, rearm_data)), sizeof(word));
	return word;
}

static __rte_always_inline uint64_t free_odd(const struct rte_mbuf *mbuf)
{
	return ((free_rearm(mbuf) ^ FREE_PLAIN_WORD) & FREE_PLAIN_MASK) |
	       (mbuf->ol_flags & (RTE_MBUF_F_EXTERNAL | RTE_MBUF_F_INDIRECT));
}

static inline void free_mbufs(struct rte_mbuf **mbufs, unsigned count)
{
	for (unsigned first = 0, end = 0; first < count; first = end) {
		struct rte_mempool *pool = mbufs[first]->pool;
		uint64_t odd = 0;

		for (; end < count && mbufs[end]->pool == pool; end++)
			odd |= free_odd(mbufs[end]);
		if (likely(odd == 0))
			rte_mempool_put_bulk(pool, (void **)&mbufs[first], end - first);
		else
			rte_pktmbuf_free_bulk(&mbufs[first], end - first);
	}
}

#endif
