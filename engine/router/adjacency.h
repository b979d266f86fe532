/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An adjacency is what a lookup finds: how a packet continues, in one cache line. The fib's
 * next hop is its index. The fast path reads it without a lock: who changes one writes the
 * rewrite first and then, with release, the kind.
 */
#ifndef LINERATE_ADJACENCY_H
#define LINERATE_ADJACENCY_H

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_spinlock.h>
#include <rte_vect.h>
#include <stdbool.h>
#include <stdint.h>

/* Held while any of the router's tables changes; lookups take no lock. */
extern rte_spinlock_t router_lock;

#define ADJACENCY_LABELS_MAX 8
#define ADJACENCY_NONE UINT32_MAX
#define NEIGHBOR_NONE UINT32_MAX

/* Also the edge that such a packet takes out of each node that has ADJACENCY_NEXTS. */
enum adjacency_kind {
	ADJACENCY_DROP,             /* counted in ip4-lookup or ip6-lookup under `reason` */
	ADJACENCY_UNREACHABLE,      /* no route: an ICMP error is sent */
	ADJACENCY_REWRITE,          /* IPv4 to a neighbour with a known MAC address */
	ADJACENCY_ARP,              /* to a neighbour whose MAC address is not known (yet) */
	ADJACENCY_LOCAL,            /* for the router itself */
	ADJACENCY_MPLS_OUTPUT,      /* `labels` in place of the outermost one, none: pop */
	ADJACENCY_MPLS_DISPOSITION, /* the last label goes, IPv4 to a neighbour */
	ADJACENCY_MPLS_IP4,         /* the last label goes, IPv4 is looked up */
	ADJACENCY_MPLS_AGAIN,       /* the outermost label goes, the next is looked up */
	ADJACENCY_LOAD_BALANCE,     /* one of several paths, `buckets` has their adjacencies */
	ADJACENCY_MPLS_IMPOSITION,  /* IPv4 that gets `labels` on its way to a neighbour */
	ADJACENCY_UNREACHABLE6,     /* the same for IPv6 */
	ADJACENCY_REWRITE6,
	ADJACENCY_ND,
	ADJACENCY_LOCAL6,
	ADJACENCY_KINDS,
};

#define ADJACENCY_NEXTS \
	[ADJACENCY_DROP] = "drop", [ADJACENCY_UNREACHABLE] = "icmp4-error", \
	[ADJACENCY_REWRITE] = "ip4-rewrite", [ADJACENCY_ARP] = "ip4-arp", \
	[ADJACENCY_LOCAL] = "ip4-local", [ADJACENCY_MPLS_OUTPUT] = "mpls-output", \
	[ADJACENCY_MPLS_DISPOSITION] = "mpls-disposition", \
	[ADJACENCY_MPLS_IP4] = "mpls-disposition", [ADJACENCY_MPLS_AGAIN] = "drop", \
	[ADJACENCY_LOAD_BALANCE] = "ip4-load-balance", \
	[ADJACENCY_MPLS_IMPOSITION] = "ip4-mpls-label-imposition", \
	[ADJACENCY_UNREACHABLE6] = "icmp6-error", [ADJACENCY_REWRITE6] = "ip6-rewrite", \
	[ADJACENCY_ND] = "ip6-nd", [ADJACENCY_LOCAL6] = "ip6-local"

/* Nodes that have ADJACENCY_NEXTS and write the rewrite themselves have an edge to each
 * interface's port-tx or vlan-output too: this one, for its edge out of interface-output. */
#define ADJACENCY_TX_EDGE(output_edge) ((rte_edge_t)(ADJACENCY_KINDS - 1 + (output_edge)))

struct adjacency {
	/* 2 bytes that are overwritten, destination, source, ethertype: one 16-byte store that
	 * ends where layer 3 starts. */
	uint8_t rewrite[16];
	uint8_t kind;     /* enum adjacency_kind */
	uint8_t resolved; /* its kind as soon as the neighbour's MAC address is known */
	uint8_t reason;   /* ADJACENCY_DROP: enum ip4_lookup_reason or ip6_lookup_reason */
	uint8_t nb_labels;
	uint16_t interface; /* goes out there: its index */
	uint16_t mtu;       /* of what follows the Ethernet header, labels included */
	uint32_t address;   /* of an IPv4 next hop, host order; 0: the packet's own destination */
	uint32_t neighbor;
	union {
		uint32_t labels[ADJACENCY_LABELS_MAX]; /* outermost first, host order, TTL, TC 0 */
		const uint32_t *buckets;               /* ADJACENCY_LOAD_BALANCE: load_balance.h */
	};
} __rte_cache_aligned;
_Static_assert(sizeof(struct adjacency) == RTE_CACHE_LINE_SIZE, "one line an adjacency");

extern struct adjacency *adjacencies;

typedef xmm_t adjacency_store __attribute__((aligned(1), may_alias));

/* Writes the Ethernet header; there are always 2 bytes of headroom before it. */
static __rte_always_inline void adjacency_rewrite(const struct adjacency *adjacency, uint8_t *frame)
{
	*(adjacency_store *)(frame - 2) = *(const adjacency_store *)adjacency->rewrite;
}

static __rte_always_inline uint8_t adjacency_kind(const struct adjacency *adjacency)
{
	return __atomic_load_n(&adjacency->kind, __ATOMIC_ACQUIRE);
}

/* Packets with this adjacency are IPv4, whose sender can get an ICMP error when they are
 * dropped. */
static inline bool adjacency_of_ip4(const struct adjacency *adjacency)
{
	return adjacency->resolved == ADJACENCY_REWRITE ||
	       adjacency->resolved == ADJACENCY_MPLS_IMPOSITION;
}

int adjacencies_create(uint32_t max);
/* A copy of `what`; ADJACENCY_NONE when there are too many. */
uint32_t adjacency_add(const struct adjacency *what);
/* One that has the neighbour, the resolved kind and the labels of `what`, made when new. */
uint32_t adjacency_of_neighbor(uint32_t first, const struct adjacency *what);
/* Sets the MTU of all adjacencies that go out of the interface. */
void adjacencies_set_mtu(uint16_t interface, uint16_t mtu);
/* All adjacencies of the neighbour whose first is `first`: the MAC address is known now, or
 * not any more (`dst` NULL). */
void adjacency_resolve(
	uint32_t first, const struct rte_ether_addr *dst, const struct rte_ether_addr *src);

#endif
