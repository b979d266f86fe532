/* SPDX-License-Identifier: BSD-3-Clause */
/* The usual swap, for the nodes that do it while the label is at hand. */
#ifndef LINERATE_MPLS_SWAP_H
#define LINERATE_MPLS_SWAP_H

#include "router/adjacency.h"
#include "router/interface.h"
#include "router/packet.h"

/* Swaps the label as mpls-output does; false when the packet needs more than that. */
static __rte_always_inline bool swap_usual(const struct rte_mbuf *mbuf, uint8_t *l3, uint32_t entry,
	const struct adjacency *adjacency, rte_edge_t output_edge)
{
	if (unlikely((adjacency_kind(adjacency) != ADJACENCY_MPLS_OUTPUT) |
		     (adjacency->nb_labels != 1) | ((entry & MPLS_TTL_MASK) <= 1) |
		     (mbuf->data_len > adjacency->mtu + RTE_ETHER_HDR_LEN) |
		     (output_edge == INTERFACE_EDGE_DOWN)))
		return false;
	mpls_write(l3, adjacency->labels[0] | ((entry & (MPLS_TC_MASK | MPLS_TTL_MASK)) - 1));
	adjacency_rewrite(adjacency, l3 - RTE_ETHER_HDR_LEN);
	return true;
}

#endif
