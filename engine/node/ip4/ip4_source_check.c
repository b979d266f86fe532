/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4-source-check: drops packets whose source address cannot be right: one that no host has
 * (martians, RFC 1812 5.3.7), or one that is routed elsewhere than where it came from (reverse path
 * forwarding, RFC 3704 2.2 strict and 2.4 loose; the default route is a route as others). In the
 * path only of interfaces that ask for it. Sends no error: the sender is not known.
 */
#include "core/vector.h"
#include "fib/fib4.h"
#include "router/adjacency.h"
#include "router/interface.h"
#include "router/load_balance.h"
#include "router/packet.h"
#include "router/routes.h"

enum next {
	NEXT_DROP,
	NEXT_LOOKUP,
};

enum reason {
	THIS_NETWORK,
	LOOPBACK,
	MULTICAST,
	RESERVED,
	BROADCAST,
	OWN_ADDRESS,
	NO_ROUTE,
	OTHER_INTERFACE,
	REASONS,
};

#define GOOD REASONS

static enum reason martian(uint32_t source, const struct adjacency *adjacency)
{
	uint8_t kind = adjacency_kind(adjacency);

	if (source >> 24 == 0)
		return THIS_NETWORK;
	if (source >> 24 == 127)
		return LOOPBACK;
	if (source >> 28 == 14)
		return MULTICAST;
	if (source >> 28 == 15)
		return RESERVED;
	if (kind == ADJACENCY_LOCAL)
		return OWN_ADDRESS;
	if (kind == ADJACENCY_DROP && adjacency->reason == LOOKUP_DIRECTED_BROADCAST)
		return BROADCAST;
	return GOOD;
}

static bool is_way(const struct adjacency *adjacency)
{
	uint8_t kind = adjacency_kind(adjacency);

	return kind != ADJACENCY_DROP && kind != ADJACENCY_UNREACHABLE && kind != ADJACENCY_LOCAL;
}

/* Does a packet that takes this adjacency go out of the interface? With several paths, by any. */
static bool leads_to(const struct adjacency *adjacency, const struct interface *interface)
{
	if (adjacency_kind(adjacency) != ADJACENCY_LOAD_BALANCE)
		return is_way(adjacency) && adjacency->interface == interface->index;
	for (unsigned i = 0; i < LOAD_BALANCE_BUCKETS; i++) {
		uint32_t path = __atomic_load_n(&adjacency->buckets[i], __ATOMIC_RELAXED);

		if (adjacencies[path].interface == interface->index)
			return true;
	}
	return false;
}

static enum reason reverse_path(
	const struct adjacency *adjacency, const struct interface *interface)
{
	if (interface->urpf == INTERFACE_URPF_OFF)
		return GOOD;
	if (!is_way(adjacency))
		return NO_ROUTE;
	if (interface->urpf == INTERFACE_URPF_STRICT && !leads_to(adjacency, interface))
		return OTHER_INTERFACE;
	return GOOD;
}

static bool ip4_source_check_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	uint32_t sources[NODE_VECTOR_MAX], found[NODE_VECTOR_MAX];
	rte_edge_t differ = 0;

	for (uint16_t i = 0; i < count; i++)
		sources[i] = rte_be_to_cpu_32(packet_ip4(mbufs[i])->src_addr);
	fib4_lookup(sources, found, count);
	for (uint16_t i = 0; i < count; i++) {
		const struct adjacency *adjacency = &adjacencies[found[i]];
		enum reason reason = GOOD;

		if (interfaces_martians)
			reason = martian(sources[i], adjacency);
		if (reason == GOOD)
			reason = reverse_path(adjacency, &interfaces[mbufs[i]->port]);
		nexts[i] = reason == GOOD ? NEXT_LOOKUP : NEXT_DROP;
		if (reason != GOOD)
			node_state(node)->drops[reason]++;
		differ |= nexts[i] ^ nexts[0];
	}
	return differ == 0;
}

VECTOR_PROCESS(ip4_source_check)

static struct node_type ip4_source_check = {
	.name = "ip4-source-check",
	.process = ip4_source_check_process,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_LOOKUP] = "ip4-lookup"},
	/* Interfaces that ask for it send everything to ip4-input: INTERFACE_MAC_SLOW. */
	.attach = {.next = "ip4-lookup", .parents = {"ip4-input"}, .off = true},
	.reasons = {[THIS_NETWORK] = "source in 0.0.0.0/8",
		[LOOPBACK] = "source in 127.0.0.0/8",
		[MULTICAST] = "multicast source",
		[RESERVED] = "source in 240.0.0.0/4",
		[BROADCAST] = "directed broadcast as source",
		[OWN_ADDRESS] = "own address as source",
		[NO_ROUTE] = "rpf: no route to the source",
		[OTHER_INTERFACE] = "rpf: the source is at another interface"},
};
NODE_REGISTER(ip4_source_check)
