/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv6 counterpart of routes.h. */
#ifndef LINERATE_ROUTES6_H
#define LINERATE_ROUTES6_H

#include "interface6.h"
#include "routes.h"

/* Why ip6-lookup drops: node/ip6_lookup.c has the words. */
enum ip6_lookup_reason {
	LOOKUP6_NO_ROUTE,
	LOOKUP6_UNSPECIFIED,
	LOOKUP6_LOOPBACK,
	LOOKUP6_IP4_MAPPED,
	LOOKUP6_LINK_LOCAL,
	LOOKUP6_MULTICAST,
	LOOKUP6_REASONS,
};

/* Adjacencies made by routes6_create_fixed(), right after those of routes.h. */
enum {
	ADJACENCY_INDEX_NO_ROUTE6 = ADJACENCY_INDEX_REASONS + LOOKUP_REASONS,
	ADJACENCY_INDEX_LOCAL6,
	ADJACENCY_INDEX_REASONS6, /* one a reason */
};

/* The adjacencies above. Returns 0 or -errno. */
int routes6_create_fixed(void);
/* Reserves room for this number of further prefixes. Returns 0 or -errno after logging why. */
int routes6_create(unsigned prefixes);

/* As route_add() and route_delete(). */
int route6_add(const uint8_t *prefix, uint8_t length, const struct interface *interface,
	const uint8_t *via);
int route6_delete(const uint8_t *prefix, uint8_t length);

#endif
