/* SPDX-License-Identifier: BSD-3-Clause */
/* An mbuf as a driver hands it out: 32 bytes of its first cache line, in two wide stores. */
#ifndef LINERATE_FRESH_H
#define LINERATE_FRESH_H

#include <rte_mbuf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* data_off, refcnt, nb_segs and port of a fresh mbuf of the pool; 8 bytes that never change. */
static inline uint64_t fresh_rearm(struct rte_mempool *pool, uint16_t port)
{
	const struct rte_pktmbuf_pool_private *private_data = rte_mempool_get_priv(pool);
	struct rte_mbuf mbuf = {
		.data_off = RTE_MIN(RTE_PKTMBUF_HEADROOM, private_data->mbuf_data_room_size),
		.nb_segs = 1,
		.port = port,
	};
	uint64_t rearm;

	rte_mbuf_refcnt_set(&mbuf, 1);
	memcpy(&rearm, RTE_PTR_ADD(&mbuf, offsetof(struct rte_mbuf, rearm_data)), sizeof(rearm));
	return rearm;
}

/* Two words that are stored as one. */
typedef uint64_t fresh_pair __attribute__((vector_size(16), aligned(1), may_alias));

static __rte_always_inline void fresh_mbuf(
	struct rte_mbuf *mbuf, uint64_t rearm, uint64_t ol_flags, uint16_t length, uint32_t hash)
{
	fresh_pair *first = RTE_PTR_ADD(mbuf, offsetof(struct rte_mbuf, rearm_data));
	fresh_pair *second = RTE_PTR_ADD(mbuf, offsetof(struct rte_mbuf, rx_descriptor_fields1));

	*first = (fresh_pair){rearm, ol_flags};
	/* packet_type, pkt_len, data_len, vlan_tci, hash.rss */
	*second = (fresh_pair){(uint64_t)length << 32, (uint64_t)hash << 32 | length};
}

static inline void *fresh_data(const struct rte_mbuf *mbuf)
{
	return RTE_PTR_ADD(mbuf->buf_addr, RTE_PKTMBUF_HEADROOM);
}

#endif
