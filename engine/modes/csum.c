/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * csum: computes the checksums of IPv4, UDP and TCP anew, in software, gives the frame MAC
 * addresses as mac does, and sends it out of the other port of the pair; testpmd's word and
 * meaning. What has no such header, or not all of it, keeps its checksums; so do the upper
 * layer of fragments, UDP without checksum, and what lies behind IPv6 extension headers.
 */
#include "csum.h"

#include "forwarder.h"
#include "peers.h"

#include <rte_cpuflags.h>
#include <rte_vect.h>

static csum_frames_t csum_frames = csum_frames_scalar;

bool csum_frames_scalar(struct rte_mbuf **mbufs, uint16_t count, const struct mac_rewrite *rewrite)
{
	uint64_t first = rewrite->first;
	uint32_t last = rewrite->last;
	bool runts = false;

	for (uint16_t i = 0; i < count; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], uint8_t *);
		unsigned length = mbufs[i]->data_len;

		mac_rewrite_prefetch(mbufs, i, count);
		if (unlikely(length < RTE_ETHER_HDR_LEN)) {
			runts = true;
			continue;
		}
		mac_rewrite(frame, first, last);
		csum_frame(frame, length);
	}
	return runts;
}

csum_frames_t csum_frames_select(void)
{
#ifdef RTE_ARCH_X86_64
	if (rte_vect_get_max_simd_bitwidth() >= RTE_VECT_SIMD_512 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_BMI2) > 0)
		return csum_frames_avx512;
#endif
	return csum_frames_scalar;
}

static uint16_t csum_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	const struct mac_rewrite *rewrite = node_object(node);
	bool runts = false;

	for (uint16_t done = 0; done < count; done += NODE_VECTOR_MAX)
		runts |= csum_frames((struct rte_mbuf **)objs + done,
			RTE_MIN((uint16_t)(count - done), (uint16_t)NODE_VECTOR_MAX), rewrite);
	mac_rewrite_send(graph, node, objs, count, runts);
	return count;
}

static struct node_type csum = {
	.name = "csum",
	.process = csum_process,
	.nexts = {[MAC_REWRITE_DROP] = "drop"},
	.reasons = {[MAC_REWRITE_RUNT] = MAC_REWRITE_RUNT_TEXT},
	.template = true,
};
NODE_REGISTER(csum)

static int csum_create(void)
{
	csum_frames = csum_frames_select();
	return 0;
}

static int csum_entry(struct port *port, struct port *peer, char name[RTE_NODE_NAMESIZE])
{
	uint8_t addresses[2 * RTE_ETHER_ADDR_LEN];

	peers_addresses(peer, addresses);
	return mac_rewrite_clone("csum", port, peer, addresses, name);
}

static struct forwarding_mode csum_mode = {
	.name = "csum",
	.key = "csum",
	.paired = true,
	.parse = peers_parse_only,
	.create = csum_create,
	.entry = csum_entry,
};
FORWARDING_MODE_REGISTER(csum_mode)
