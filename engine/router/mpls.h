/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TTL and traffic class of labels and the packet beneath: RFC 3443 and RFC 3270. The router has one
 * model for all its LSPs.
 *
 * Uniform: one TTL that all hops count down. Imposed labels have the packet's TTL, after it
 * went down, and its IP precedence as traffic class; what is taken off leaves its TTL beneath.
 * Pipe: the LSP is one hop. Imposed labels have TTL 255 and class 0; what is taken off leaves
 * what is beneath as it is.
 *
 * DSCP is never changed: the class of a label that is taken off goes with it.
 */
#ifndef LINERATE_MPLS_H
#define LINERATE_MPLS_H

#include "packet.h"

struct mpls_model {
	bool pipe;
	/* An imposed label's class and TTL: what of the packet's stays, and what else is set. */
	uint32_t imposed_mask, imposed_bits;
};

extern struct mpls_model mpls_model;

void mpls_set_pipe(bool pipe);

/* The class and TTL of labels put on a packet of this class and (decremented) TTL. */
static __rte_always_inline uint32_t mpls_imposed(uint32_t precedence, uint32_t ttl)
{
	return ((precedence << MPLS_TC_SHIFT | ttl) & mpls_model.imposed_mask) |
	       mpls_model.imposed_bits;
}

/* Pops the labels of a packet that is dropped, and trims the frame's padding, if there is an intact
 * IPv4 packet beneath whose sender can get an ICMP error; false: it is unchanged. */
bool mpls_uncover_ip4(struct rte_mbuf *mbuf);

/* The TTL beneath a label that is taken off. */
static __rte_always_inline uint32_t mpls_ttl_beneath(uint32_t outer, uint32_t inner)
{
	return mpls_model.pipe ? inner : outer;
}

#endif
