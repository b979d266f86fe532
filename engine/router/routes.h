/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the router knows: prefixes and labels, each with the adjacency that it leads to. All
 * changes are made under router_lock; lookups take no lock.
 */
#ifndef LINERATE_ROUTES_H
#define LINERATE_ROUTES_H

#include "adjacency.h"
#include "interface.h"

#include <rte_spinlock.h>
#include <stdbool.h>
#include <stdint.h>

/* Why ip4-lookup drops: node/ip4_lookup.c has the words. */
enum ip4_lookup_reason {
	LOOKUP_NO_ROUTE,
	LOOKUP_THIS_NETWORK,
	LOOKUP_LOOPBACK,
	LOOKUP_MULTICAST,
	LOOKUP_RESERVED,
	LOOKUP_LIMITED_BROADCAST,
	LOOKUP_DIRECTED_BROADCAST,
	LOOKUP_REASONS,
};

/* The first adjacencies, made by routes_create(). */
enum {
	ADJACENCY_INDEX_NO_ROUTE,
	ADJACENCY_INDEX_LOCAL,
	ADJACENCY_INDEX_MPLS_IP4,
	ADJACENCY_INDEX_MPLS_AGAIN,
	ADJACENCY_INDEX_REASONS, /* one a reason */
};

extern rte_spinlock_t router_lock;

/* Tables, special prefixes, and what the interfaces' addresses imply, with room for that many
 * more prefixes. Returns 0 or -errno after saying why. */
int routes_create(unsigned prefixes);

/* Static routes. Each returns 0 or -errno: -EEXIST the prefix is one of an interface's own,
 * -ENOENT no such route, -ENOSPC table full. */
int route_add(uint32_t prefix, uint8_t length, struct interface *interface, uint32_t via);
int route_delete(uint32_t prefix, uint8_t length);

/* A label's next hop; `nb_labels` 0 takes the label off. */
int label_add(uint32_t label, bool bottom, struct interface *interface, uint32_t via,
	const uint32_t *labels, unsigned nb_labels);
/* The label is taken off and what is beneath is looked up. */
void label_add_lookup(uint32_t label, bool bottom);
int label_delete(uint32_t label, bool bottom);

/* For neighbours, router_lock held: a host route unless a route of its own is there. */
void route_add_neighbor(const struct interface *interface, uint32_t address, uint32_t adjacency);
void route_delete_neighbor(uint32_t address, uint32_t adjacency);

#endif
