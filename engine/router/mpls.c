/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpls.h"

#define UNIFORM_MASK (MPLS_TC_MASK | MPLS_TTL_MASK)
#define PIPE_TTL 255

struct mpls_model mpls_model = {.imposed_mask = UNIFORM_MASK};

void mpls_set_pipe(bool pipe)
{
	mpls_model = (struct mpls_model){
		.pipe = pipe,
		.imposed_mask = pipe ? 0 : UNIFORM_MASK,
		.imposed_bits = pipe ? PIPE_TTL : 0,
	};
}

/* Bytes up to the packet beneath the stack; 0 when the stack has no bottom. */
static uint32_t stack_bytes(const uint8_t *l3, uint32_t bytes)
{
	for (uint32_t offset = 0; offset + MPLS_LABEL_BYTES <= bytes; offset += MPLS_LABEL_BYTES)
		if (mpls_read(l3 + offset) & MPLS_BOTTOM)
			return offset + MPLS_LABEL_BYTES;
	return 0;
}

bool mpls_uncover_ip4(struct rte_mbuf *mbuf)
{
	uint32_t bytes = packet_l3_bytes(mbuf), stack = stack_bytes(packet_l3(mbuf), bytes);
	const struct rte_ipv4_hdr *ip = RTE_PTR_ADD(packet_l3(mbuf), stack);
	uint16_t header, total;

	if (stack == 0 || bytes - stack < IP4_HEADER_BYTES || ip->version_ihl >> 4 != 4)
		return false;
	header = rte_ipv4_hdr_len(ip);
	total = rte_be_to_cpu_16(ip->total_length);
	if (header < IP4_HEADER_BYTES || total < header || total > bytes - stack ||
		rte_raw_cksum(ip, header) != 0xffff)
		return false;
	packet_pop(mbuf, (uint16_t)stack);
	packet_set_l3_bytes(mbuf, total);
	return true;
}
