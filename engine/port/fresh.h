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

static inline void fresh_mbuf(
	struct rte_mbuf *mbuf, uint64_t rearm, uint64_t ol_flags, uint16_t length, uint32_t hash)
{
	const uint64_t first[2] = {rearm, ol_flags};
	/* packet_type, pkt_len, data_len, vlan_tci, hash.rss */
	const uint64_t second[2] = {(uint64_t)length << 32, (uint64_t)hash << 32 | length};

	memcpy(RTE_PTR_ADD(mbuf, offsetof(struct rte_mbuf, rearm_data)), first, sizeof(first));
	memcpy(RTE_PTR_ADD(mbuf, offsetof(struct rte_mbuf, rx_descriptor_fields1)), second,
		sizeof(second));
}

static inline void *fresh_data(const struct rte_mbuf *mbuf)
{
	return RTE_PTR_ADD(mbuf->buf_addr, RTE_PKTMBUF_HEADROOM);
}

#endif
