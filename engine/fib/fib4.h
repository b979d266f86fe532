/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv4 forwarding table: rte_fib's DIR24-8 with 4-byte next hops, looked up with AVX-512
 * where the machine has it. Addresses are in host order; a next hop is an adjacency's index.
 */
#ifndef LINERATE_FIB4_H
#define LINERATE_FIB4_H

#include <rte_fib.h>
#include <stdbool.h>
#include <stdint.h>

extern struct rte_fib *fib4;

/* `routes` prefixes at most; what has no route gets `default_next_hop`. Returns 0 or -errno
 * after saying why. */
int fib4_create(unsigned routes, uint32_t default_next_hop);
/* One writer at a time; readers need not wait. Each returns 0 or -errno. */
int fib4_add(uint32_t prefix, uint8_t length, uint32_t next_hop);
int fib4_delete(uint32_t prefix, uint8_t length);
/* Whether exactly this prefix is there, and its next hop. */
bool fib4_find(uint32_t prefix, uint8_t length, uint32_t *next_hop);

static inline void fib4_lookup(uint32_t *addresses, uint64_t *next_hops, unsigned count)
{
	(void)rte_fib_lookup_bulk(fib4, addresses, next_hops, (int)count);
}

static inline uint32_t fib4_lookup_one(uint32_t address)
{
	uint64_t next_hop = 0;

	fib4_lookup(&address, &next_hop, 1);
	return (uint32_t)next_hop;
}

#endif
