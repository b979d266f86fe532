/* SPDX-License-Identifier: BSD-3-Clause */
#include "adjacency.h"

#include "core/memory.h"

#include <errno.h>
#include <rte_byteorder.h>
#include <rte_malloc.h>
#include <string.h>

rte_spinlock_t router_lock = RTE_SPINLOCK_INITIALIZER;
struct adjacency *adjacencies;

static uint32_t nb_adjacencies, max_adjacencies;
/* The next one of the same neighbour. */
static uint32_t *links;

int adjacencies_create(uint32_t max)
{
	adjacencies = rte_zmalloc_socket(
		"adjacencies", max * sizeof(*adjacencies), RTE_CACHE_LINE_SIZE, memory_socket());
	links = rte_zmalloc("adjacency links", max * sizeof(*links), 0);
	if (adjacencies == NULL || links == NULL)
		return -ENOMEM;
	max_adjacencies = max;
	return 0;
}

uint32_t adjacency_add(const struct adjacency *what)
{
	if (nb_adjacencies == max_adjacencies)
		return ADJACENCY_NONE;
	adjacencies[nb_adjacencies] = *what;
	links[nb_adjacencies] = ADJACENCY_NONE;
	return nb_adjacencies++;
}

void adjacencies_set_mtu(uint16_t interface, uint16_t mtu)
{
	for (uint32_t i = 0; i < nb_adjacencies; i++)
		if (adjacencies[i].interface == interface)
			__atomic_store_n(&adjacencies[i].mtu, mtu, __ATOMIC_RELAXED);
}

static bool adjacency_same(const struct adjacency *a, const struct adjacency *b)
{
	return a->resolved == b->resolved && a->nb_labels == b->nb_labels &&
	       memcmp(a->labels, b->labels, sizeof(a->labels)) == 0;
}

static void adjacency_set_ethertype(const struct adjacency *adjacency, uint8_t *rewrite)
{
	bool labelled = adjacency->resolved == ADJACENCY_MPLS_OUTPUT ||
			adjacency->resolved == ADJACENCY_MPLS_IMPOSITION;
	uint16_t ethertype = labelled                                    ? RTE_ETHER_TYPE_MPLS
			     : adjacency->resolved == ADJACENCY_REWRITE6 ? RTE_ETHER_TYPE_IPV6
									 : RTE_ETHER_TYPE_IPV4;

	rewrite[14] = (uint8_t)(ethertype >> 8);
	rewrite[15] = (uint8_t)ethertype;
}

/* The kind of the neighbour's adjacencies while its MAC address is not known: who asks for it. */
static uint8_t adjacency_unresolved(uint32_t first)
{
	return adjacencies[first].resolved == ADJACENCY_REWRITE6 ? ADJACENCY_ND : ADJACENCY_ARP;
}

uint32_t adjacency_of_neighbor(uint32_t first, const struct adjacency *what)
{
	struct adjacency copy = *what;
	uint32_t index;

	for (index = first; index != ADJACENCY_NONE; index = links[index])
		if (adjacency_same(&adjacencies[index], what))
			return index;
	/* The first tells whether the MAC address is known, and which it is. */
	memcpy(copy.rewrite, adjacencies[first].rewrite, sizeof(copy.rewrite));
	adjacency_set_ethertype(what, copy.rewrite);
	copy.kind = adjacencies[first].kind == adjacency_unresolved(first) ? adjacencies[first].kind
									   : what->resolved;
	index = adjacency_add(&copy);
	if (index == ADJACENCY_NONE)
		return index;
	links[index] = links[first];
	links[first] = index;
	return index;
}

void adjacency_resolve(
	uint32_t first, const struct rte_ether_addr *dst, const struct rte_ether_addr *src)
{
	for (uint32_t index = first; index != ADJACENCY_NONE; index = links[index]) {
		struct adjacency *adjacency = &adjacencies[index];
		uint8_t bytes[16] __rte_aligned(16) = {0};

		if (dst == NULL) {
			__atomic_store_n(
				&adjacency->kind, adjacency_unresolved(first), __ATOMIC_RELEASE);
			continue;
		}
		memcpy(bytes + 2, dst, 6);
		memcpy(bytes + 8, src, 6);
		adjacency_set_ethertype(adjacency, bytes);
		/* In one store: a reader sees the old address or the new one. */
		*(volatile xmm_t *)adjacency->rewrite = *(const adjacency_store *)bytes;
		__atomic_store_n(&adjacency->kind, adjacency->resolved, __ATOMIC_RELEASE);
	}
}
