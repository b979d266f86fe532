/* SPDX-License-Identifier: BSD-3-Clause */
#include "routes6.h"

#include "fib/fib6.h"
#include "neighbor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Per interface with IPv6: its link-local address and that one's group; per address: subnet, host,
 * and group. */
#define OWN_ROUTES_FIXED 16
#define OWN_ROUTES_INTERFACE 2
#define OWN_ROUTES_ADDRESS 3
#define OWN_ROUTES_MAX \
	(OWN_ROUTES_FIXED + \
		RTE_DIM(interfaces) * \
			(OWN_ROUTES_INTERFACE + OWN_ROUTES_ADDRESS * INTERFACE_ADDRESSES_MAX))

/* A prefix that the router has of itself; a static route may hide it if `special`. */
struct own_route6 {
	uint8_t prefix[IP6_BYTES];
	uint8_t length;
	bool special;
	uint32_t adjacency;
};

static struct own_route6 own_routes[OWN_ROUTES_MAX];
static unsigned nb_own_routes;

static const struct own_route6 special_routes[] = {
	{{0}, 128, true, ADJACENCY_INDEX_REASONS6 + LOOKUP6_UNSPECIFIED},
	{{[15] = 1}, 128, true, ADJACENCY_INDEX_REASONS6 + LOOKUP6_LOOPBACK},
	{{[10] = 0xff, [11] = 0xff}, 96, true, ADJACENCY_INDEX_REASONS6 + LOOKUP6_IP4_MAPPED},
	/* RFC 4291 2.5.6: routers must not forward them. */
	{{0xfe, 0x80}, 10, false, ADJACENCY_INDEX_REASONS6 + LOOKUP6_LINK_LOCAL},
	{{0xff}, 8, true, ADJACENCY_INDEX_REASONS6 + LOOKUP6_MULTICAST},
	/* All nodes and all routers of the interface and of the link. */
	{{0xff, 1, [15] = 1}, 128, true, ADJACENCY_INDEX_LOCAL6},
	{{0xff, 1, [15] = 2}, 128, true, ADJACENCY_INDEX_LOCAL6},
	{{0xff, 2, [15] = 1}, 128, true, ADJACENCY_INDEX_LOCAL6},
	{{0xff, 2, [15] = 2}, 128, true, ADJACENCY_INDEX_LOCAL6},
};
_Static_assert(RTE_DIM(special_routes) <= OWN_ROUTES_FIXED, "room for special routes");

static struct own_route6 *own_route_find(const uint8_t *prefix, uint8_t length)
{
	for (unsigned i = 0; i < nb_own_routes; i++)
		if (own_routes[i].length == length && ip6_same(own_routes[i].prefix, prefix))
			return &own_routes[i];
	return NULL;
}

/* The first to claim a prefix has it: two addresses of an interface may share a subnet. */
static int own_route_add(const uint8_t *prefix, uint8_t length, bool special, uint32_t adjacency)
{
	struct own_route6 route = {.length = length, .special = special, .adjacency = adjacency};

	memcpy(route.prefix, prefix, IP6_BYTES);
	ip6_mask(route.prefix, length);
	if (own_route_find(route.prefix, length) != NULL)
		return 0;
	if (nb_own_routes == OWN_ROUTES_MAX)
		return -ENOSPC;
	own_routes[nb_own_routes++] = route;
	return fib6_add(route.prefix, length, adjacency);
}

int routes6_create_fixed(void)
{
	struct adjacency adjacency = {.neighbor = NEIGHBOR_NONE};

	adjacency.kind = adjacency.resolved = ADJACENCY_UNREACHABLE6;
	adjacency.reason = LOOKUP6_NO_ROUTE;
	if (adjacency_add(&adjacency) != ADJACENCY_INDEX_NO_ROUTE6)
		return -ENOMEM;
	adjacency.kind = adjacency.resolved = ADJACENCY_LOCAL6;
	if (adjacency_add(&adjacency) != ADJACENCY_INDEX_LOCAL6)
		return -ENOMEM;
	adjacency.kind = adjacency.resolved = ADJACENCY_DROP;
	for (unsigned reason = 0; reason < LOOKUP6_REASONS; reason++) {
		adjacency.reason = (uint8_t)reason;
		if (adjacency_add(&adjacency) != ADJACENCY_INDEX_REASONS6 + reason)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t glean_adjacency(const struct interface *interface)
{
	const struct adjacency glean = {
		.kind = ADJACENCY_ND,
		.resolved = ADJACENCY_REWRITE6,
		.interface = interface->index,
		.mtu = interface->mtu,
		.neighbor = NEIGHBOR_NONE,
	};

	return adjacency_add(&glean);
}

/* The address itself and the group where it is asked for. */
static int create_local(const uint8_t *address)
{
	uint8_t group[IP6_BYTES];
	int rc = own_route_add(address, 128, false, ADJACENCY_INDEX_LOCAL6);

	ip6_solicited_node(address, group);
	return rc != 0 ? rc : own_route_add(group, 128, true, ADJACENCY_INDEX_LOCAL6);
}

static int create_connected(const struct interface *interface)
{
	struct interface6 *own = interface6_of(interface);
	int rc = create_local(own->link_local);

	own->glean = glean_adjacency(interface);
	if (own->glean == ADJACENCY_NONE)
		return -ENOMEM;
	for (unsigned i = 0; i < own->nb_addresses && rc == 0; i++) {
		const struct interface6_address *address = &own->addresses[i];

		rc = create_local(address->address);
		if (rc == 0)
			rc = own_route_add(address->address, address->length, false, own->glean);
	}
	return rc;
}

/* As many own routes as there can be. */
static unsigned own_routes_needed(void)
{
	unsigned count = OWN_ROUTES_FIXED;

	for (unsigned i = 0; i < RTE_DIM(interfaces); i++)
		count += OWN_ROUTES_INTERFACE + OWN_ROUTES_ADDRESS * interface6s[i].nb_addresses;
	return count;
}

int routes6_create(unsigned prefixes)
{
	int rc = fib6_create(prefixes + own_routes_needed(), ADJACENCY_INDEX_NO_ROUTE6);

	nb_own_routes = 0;
	interfaces6_create();
	for (unsigned i = 0; i < RTE_DIM(special_routes) && rc == 0; i++)
		rc = own_route_add(special_routes[i].prefix, special_routes[i].length,
			special_routes[i].special, special_routes[i].adjacency);
	for (unsigned i = 0; i < RTE_DIM(interfaces) && rc == 0; i++)
		if (interface6_enabled[i])
			rc = create_connected(&interfaces[i]);
	if (rc != 0) {
		fprintf(stderr, "routes: IPv6 cannot be set up: %s\n", strerror(-rc));
		return rc;
	}
	/* RFC 3032 and 4182: explicit null says to look at what is beneath it. */
	label_add_lookup(2, true);
	return 0;
}

static int route6_add_locked(const uint8_t *prefix, uint8_t length,
	const struct interface *interface, const uint8_t *via)
{
	const struct own_route6 *own = own_route_find(prefix, length);
	const struct neighbor *neighbor;

	if (own != NULL && !own->special)
		return -EEXIST;
	neighbor = neighbor_get(interface, address_ip6(via));
	return neighbor == NULL ? -ENOSPC : fib6_add(prefix, length, neighbor->adjacency);
}

int route6_add(const uint8_t *prefix, uint8_t length, const struct interface *interface,
	const uint8_t *via)
{
	uint8_t masked[IP6_BYTES];
	int rc;

	memcpy(masked, prefix, sizeof(masked));
	ip6_mask(masked, length);
	rte_spinlock_lock(&router_lock);
	rc = route6_add_locked(masked, length, interface, via);
	rte_spinlock_unlock(&router_lock);
	return rc;
}

static int route6_delete_locked(const uint8_t *prefix, uint8_t length)
{
	const struct own_route6 *own = own_route_find(prefix, length);
	const struct interface *interface = interface6_holding(prefix);
	const struct neighbor *neighbor = length == 128 && interface != NULL
						  ? neighbor_find(interface, address_ip6(prefix))
						  : NULL;
	uint32_t next_hop;

	if (!fib6_find(prefix, length, &next_hop))
		return -ENOENT;
	if (own != NULL)
		return own->adjacency == next_hop ? -ENOENT
						  : fib6_add(prefix, length, own->adjacency);
	if (neighbor != NULL)
		return fib6_add(prefix, length, neighbor->adjacency);
	return fib6_delete(prefix, length);
}

int route6_delete(const uint8_t *prefix, uint8_t length)
{
	uint8_t masked[IP6_BYTES];
	int rc;

	memcpy(masked, prefix, sizeof(masked));
	ip6_mask(masked, length);
	rte_spinlock_lock(&router_lock);
	rc = route6_delete_locked(masked, length);
	rte_spinlock_unlock(&router_lock);
	return rc;
}

/* Link-local neighbours are on every link: the fib has no routes to them. */
static void add_neighbor(const struct interface *interface, const struct neighbor *neighbor)
{
	const uint8_t *address = neighbor->address.ip6;
	uint32_t next_hop;

	if (interface6_holding(address) == interface && !fib6_find(address, 128, &next_hop))
		(void)fib6_add(address, 128, neighbor->adjacency);
}

static void delete_neighbor(const struct neighbor *neighbor)
{
	const uint8_t *address = neighbor->address.ip6;
	uint32_t next_hop;

	if (fib6_find(address, 128, &next_hop) && next_hop == neighbor->adjacency)
		(void)fib6_delete(address, 128);
}
NEIGHBOR_ROUTES_REGISTER(ADDRESS_IP6, add_neighbor, delete_neighbor)
