/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The routing tables: prefixes and labels, each with its adjacency. All changes are made under
 * router_lock; lookups take no lock.
 */
#ifndef LINERATE_ROUTES_H
#define LINERATE_ROUTES_H

#include "core/ip_address.h"
#include "adjacency.h"
#include "interface.h"

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

/* The first adjacencies, made by routes_create_fixed(). */
enum {
	ADJACENCY_INDEX_NO_ROUTE,
	ADJACENCY_INDEX_LOCAL,
	ADJACENCY_INDEX_MPLS_IP4,
	ADJACENCY_INDEX_MPLS_AGAIN,
	ADJACENCY_INDEX_REASONS, /* one a reason */
};

/* The adjacencies above. Returns 0 or -errno. */
int routes_create_fixed(void);
/* Tables, special prefixes, and what the interfaces' addresses imply, with room for that many
 * more prefixes. Returns 0 or -errno after saying why. */
int routes_create(unsigned prefixes);

/* One of the ways to a prefix, or of a label. */
struct route_path {
	const struct interface *interface; /* to delete: NULL is any */
	struct ip_address via;
	uint16_t weight; /* 0: 1 */
	/* On a prefix: pushed; in place of a label: 0 takes it off. To delete: 0 is any. */
	uint8_t nb_labels;
	const uint32_t *labels;
};

/* Static routes. A path is added to those that the route has, or its weight set. Each returns 0
 * or -errno: -EEXIST the prefix is one of an interface's own, -ENOENT no such route or path,
 * -ENOSPC table full. */
int route_add(uint32_t prefix, uint8_t length, const struct route_path *path);
/* The path in place of all that the route had, at once. */
int route_replace(uint32_t prefix, uint8_t length, const struct route_path *path);
/* The last path takes the route with it. */
int route_delete_path(uint32_t prefix, uint8_t length, const struct route_path *path);
int route_delete(uint32_t prefix, uint8_t length);

/* The same for labels; a path takes the place of a lookup. */
int label_add(uint32_t label, bool bottom, const struct route_path *path);
int label_delete_path(uint32_t label, bool bottom, const struct route_path *path);
/* The label is taken off and what is beneath is looked up. */
void label_add_lookup(uint32_t label, bool bottom);
int label_delete(uint32_t label, bool bottom);

#endif
