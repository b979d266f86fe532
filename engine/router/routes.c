/* SPDX-License-Identifier: BSD-3-Clause */
#include "routes.h"

#include "fib/fib4.h"
#include "fib/mpls_table.h"
#include "load_balance.h"
#include "neighbor.h"
#include "packet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Special prefixes and, for each address: subnet, host, network and broadcast address. */
#define OWN_ROUTES_MAX (8 + 4 * INTERFACES_MAX * INTERFACE_ADDRESSES_MAX)

/* A prefix that the router has of itself; a static route may hide it if `special`. */
struct own_route {
	uint32_t prefix;
	uint8_t length;
	bool special;
	uint32_t adjacency;
};

static struct own_route own_routes[OWN_ROUTES_MAX];
static unsigned nb_own_routes;

static const struct own_route special_routes[] = {
	{RTE_IPV4(0, 0, 0, 0), 8, true, LOOKUP_THIS_NETWORK},
	{RTE_IPV4(127, 0, 0, 0), 8, true, LOOKUP_LOOPBACK},
	{RTE_IPV4(224, 0, 0, 0), 4, true, LOOKUP_MULTICAST},
	{RTE_IPV4(240, 0, 0, 0), 4, true, LOOKUP_RESERVED},
	{RTE_IPV4(255, 255, 255, 255), 32, true, LOOKUP_LIMITED_BROADCAST},
};

static bool special_route_is(uint32_t prefix, uint8_t length)
{
	for (unsigned i = 0; i < RTE_DIM(special_routes); i++)
		if (special_routes[i].prefix == prefix && special_routes[i].length == length)
			return true;
	return false;
}

/* Millions of routes are none of these: that is known at once. */
static struct own_route *own_route_find(uint32_t prefix, uint8_t length)
{
	if (!interfaces_have(prefix, length) && !special_route_is(prefix, length))
		return NULL;
	for (unsigned i = 0; i < nb_own_routes; i++)
		if (own_routes[i].prefix == prefix && own_routes[i].length == length)
			return &own_routes[i];
	return NULL;
}

/* The first to claim a prefix has it: two addresses of an interface may share a subnet. */
static int own_route_add(uint32_t prefix, uint8_t length, bool special, uint32_t adjacency)
{
	if (own_route_find(prefix, length) != NULL)
		return 0;
	if (nb_own_routes == OWN_ROUTES_MAX)
		return -ENOSPC;
	own_routes[nb_own_routes++] = (struct own_route){prefix, length, special, adjacency};
	return fib4_add(prefix, length, adjacency);
}

int routes_create_fixed(void)
{
	static const uint8_t kinds[] = {
		[ADJACENCY_INDEX_NO_ROUTE] = ADJACENCY_UNREACHABLE,
		[ADJACENCY_INDEX_LOCAL] = ADJACENCY_LOCAL,
		[ADJACENCY_INDEX_MPLS_IP4] = ADJACENCY_MPLS_IP4,
		[ADJACENCY_INDEX_MPLS_AGAIN] = ADJACENCY_MPLS_AGAIN,
	};
	struct adjacency adjacency = {.neighbor = NEIGHBOR_NONE};

	for (unsigned i = 0; i < RTE_DIM(kinds); i++) {
		adjacency.kind = adjacency.resolved = kinds[i];
		if (adjacency_add(&adjacency) != i)
			return -ENOMEM;
	}
	adjacency.kind = adjacency.resolved = ADJACENCY_DROP;
	for (unsigned reason = 0; reason < LOOKUP_REASONS; reason++) {
		adjacency.reason = (uint8_t)reason;
		if (adjacency_add(&adjacency) != ADJACENCY_INDEX_REASONS + reason)
			return -ENOMEM;
	}
	return 0;
}

/* A packet to a host on the subnet whose neighbour is not known yet: ask for it by ARP. */
static uint32_t glean_adjacency(const struct interface *interface)
{
	const struct adjacency glean = {
		.kind = ADJACENCY_ARP,
		.resolved = ADJACENCY_REWRITE,
		.interface = interface->index,
		.mtu = interface->mtu,
		.neighbor = NEIGHBOR_NONE,
	};

	return adjacency_add(&glean);
}

/* The adjacency of the path; labels that it writes are the last of the stack if `bottom`. */
static uint32_t path_adjacency(const struct route_path *path, uint8_t kind, bool bottom)
{
	const struct neighbor *neighbor = neighbor_get(path->interface, path->via);
	struct adjacency adjacency;

	if (neighbor == NULL)
		return ADJACENCY_NONE;
	adjacency = adjacencies[neighbor->adjacency];
	adjacency.resolved = kind;
	adjacency.nb_labels = path->nb_labels;
	for (unsigned i = 0; i < path->nb_labels; i++)
		adjacency.labels[i] = path->labels[i] << MPLS_LABEL_SHIFT;
	if (bottom && path->nb_labels > 0)
		adjacency.labels[path->nb_labels - 1] |= MPLS_BOTTOM;
	return adjacency_of_neighbor(neighbor->adjacency, &adjacency);
}

static int add_path(
	struct load_balance_paths *paths, const struct route_path *path, uint8_t kind, bool bottom)
{
	uint32_t adjacency = path_adjacency(path, kind, bottom);

	if (adjacency == ADJACENCY_NONE)
		return -ENOSPC;
	return load_balance_paths_add(paths, adjacency, RTE_MAX(path->weight, 1));
}

static bool path_is(const struct route_path *path, const struct adjacency *adjacency)
{
	if (!address_same(neighbor_address(adjacency->neighbor), &path->via) ||
		(path->interface != NULL && path->interface->index != adjacency->interface))
		return false;
	if (path->nb_labels != 0 && path->nb_labels != adjacency->nb_labels)
		return false;
	for (unsigned i = 0; i < path->nb_labels; i++)
		if (path->labels[i] != adjacency->labels[i] >> MPLS_LABEL_SHIFT)
			return false;
	return true;
}

/* Returns whether there was such a path; there may be several, with other labels. */
static bool remove_path(struct load_balance_paths *paths, const struct route_path *path)
{
	unsigned kept = 0, count = paths->count;

	for (unsigned i = 0; i < count; i++)
		if (!path_is(path, &adjacencies[paths->paths[i].adjacency]))
			paths->paths[kept++] = paths->paths[i];
	paths->count = kept;
	return kept != count;
}

static int create_connected(const struct interface *interface)
{
	const uint32_t broadcast = ADJACENCY_INDEX_REASONS + LOOKUP_DIRECTED_BROADCAST;
	uint32_t glean = glean_adjacency(interface);
	int rc = glean == ADJACENCY_NONE ? -ENOMEM : 0;

	for (unsigned i = 0; i < interface->nb_addresses && rc == 0; i++) {
		const struct interface_address *own = &interface->addresses[i];
		uint32_t mask = prefix_mask(own->length);

		rc = own_route_add(own->address, 32, false, ADJACENCY_INDEX_LOCAL);
		if (rc == 0)
			rc = own_route_add(own->address & mask, own->length, false, glean);
		if (own->length >= 31)
			continue;
		if (rc == 0)
			rc = own_route_add(own->address & mask, 32, false, broadcast);
		if (rc == 0)
			rc = own_route_add(own->address | ~mask, 32, false, broadcast);
	}
	return rc;
}

/* As many own routes as the interfaces' addresses can lead to. */
static unsigned own_routes_needed(void)
{
	unsigned count = RTE_DIM(special_routes);

	for (unsigned i = 0; i < INTERFACES_MAX; i++)
		count += 4 * interfaces[i].nb_addresses;
	return count;
}

int routes_create(unsigned prefixes)
{
	int rc = fib4_create(prefixes + own_routes_needed(), ADJACENCY_INDEX_NO_ROUTE);

	if (rc == 0)
		rc = mpls_table_create();
	for (unsigned i = 0; i < RTE_DIM(special_routes) && rc == 0; i++)
		rc = own_route_add(special_routes[i].prefix, special_routes[i].length, true,
			ADJACENCY_INDEX_REASONS + special_routes[i].adjacency);
	for (unsigned i = 0; i < INTERFACES_MAX && rc == 0; i++)
		if (interfaces[i].port != NULL)
			rc = create_connected(&interfaces[i]);
	if (rc != 0) {
		fprintf(stderr, "routes: cannot be set up: %s\n", strerror(-rc));
		return rc;
	}
	/* RFC 3032 and 4182: explicit null says to look at what is beneath it. */
	label_add_lookup(0, true);
	label_add_lookup(0, false);
	return 0;
}

/* Adjacency of a prefix without a static route; ADJACENCY_NONE for none. */
static uint32_t implied_adjacency(uint32_t prefix, uint8_t length)
{
	const struct own_route *own = own_route_find(prefix, length);
	const struct interface *interface = length == 32 ? interface_of(prefix) : NULL;
	const struct neighbor *neighbor =
		interface != NULL ? neighbor_find(interface, address_ip4(prefix)) : NULL;

	if (own != NULL)
		return own->adjacency;
	return neighbor != NULL ? neighbor->adjacency : ADJACENCY_NONE;
}

/* Adjacency of the static route to the prefix; ADJACENCY_NONE when there is none. */
static uint32_t static_adjacency(uint32_t prefix, uint8_t length)
{
	uint32_t adjacency;

	if (!fib4_find(prefix, length, &adjacency) ||
		adjacency == implied_adjacency(prefix, length))
		return ADJACENCY_NONE;
	return adjacency;
}

static int route_delete_locked(uint32_t prefix, uint8_t length)
{
	uint32_t before = static_adjacency(prefix, length);
	uint32_t implied = implied_adjacency(prefix, length);
	int rc;

	if (before == ADJACENCY_NONE)
		return -ENOENT;
	if (implied != ADJACENCY_NONE)
		rc = fib4_add(prefix, length, implied);
	else
		rc = fib4_delete(prefix, length);
	if (rc == 0)
		load_balance_release(before);
	return rc;
}

static int route_set_paths(
	uint32_t prefix, uint8_t length, uint32_t before, const struct load_balance_paths *paths)
{
	uint32_t adjacency;
	int rc;

	if (paths->count == 0)
		return route_delete_locked(prefix, length);
	adjacency = load_balance_get(paths, before);
	if (adjacency == ADJACENCY_NONE)
		return -ENOSPC;
	rc = fib4_add(prefix, length, adjacency);
	load_balance_release(rc == 0 ? before : adjacency);
	return rc;
}

static bool prefix_is_own(uint32_t prefix, uint8_t length)
{
	const struct own_route *own = own_route_find(prefix, length);

	return own != NULL && !own->special;
}

/* Adds the path to `paths`, which the route has then. */
static int route_add_path(uint32_t prefix, uint8_t length, uint32_t before,
	struct load_balance_paths *paths, const struct route_path *path)
{
	int rc = add_path(paths, path,
		path->nb_labels == 0 ? ADJACENCY_REWRITE : ADJACENCY_MPLS_IMPOSITION, true);

	return rc == 0 ? route_set_paths(prefix, length, before, paths) : rc;
}

int route_add(uint32_t prefix, uint8_t length, const struct route_path *path)
{
	struct load_balance_paths paths;
	uint32_t before;
	int rc = -EEXIST;

	prefix &= prefix_mask(length);
	rte_spinlock_lock(&router_lock);
	if (!prefix_is_own(prefix, length)) {
		before = static_adjacency(prefix, length);
		load_balance_paths_of(before, &paths);
		rc = route_add_path(prefix, length, before, &paths, path);
	}
	rte_spinlock_unlock(&router_lock);
	return rc;
}

int route_replace(uint32_t prefix, uint8_t length, const struct route_path *path)
{
	struct load_balance_paths paths = {.count = 0};
	int rc = -EEXIST;

	prefix &= prefix_mask(length);
	rte_spinlock_lock(&router_lock);
	if (!prefix_is_own(prefix, length))
		rc = route_add_path(prefix, length, static_adjacency(prefix, length), &paths, path);
	rte_spinlock_unlock(&router_lock);
	return rc;
}

int route_delete_path(uint32_t prefix, uint8_t length, const struct route_path *path)
{
	struct load_balance_paths paths;
	uint32_t before;
	int rc = -ENOENT;

	prefix &= prefix_mask(length);
	rte_spinlock_lock(&router_lock);
	before = static_adjacency(prefix, length);
	load_balance_paths_of(before, &paths);
	if (remove_path(&paths, path))
		rc = route_set_paths(prefix, length, before, &paths);
	rte_spinlock_unlock(&router_lock);
	return rc;
}

int route_delete(uint32_t prefix, uint8_t length)
{
	int rc;

	rte_spinlock_lock(&router_lock);
	rc = route_delete_locked(prefix & prefix_mask(length), length);
	rte_spinlock_unlock(&router_lock);
	return rc;
}

/* A host route for the neighbour, unless the prefix has a route of its own. */
static void add_neighbor(const struct interface *interface, const struct neighbor *neighbor)
{
	uint32_t address = neighbor->address.ip4, next_hop;

	if (interface_on_subnet(interface, address) && !fib4_find(address, 32, &next_hop))
		(void)fib4_add(address, 32, neighbor->adjacency);
}

static void delete_neighbor(const struct neighbor *neighbor)
{
	uint32_t address = neighbor->address.ip4, next_hop;

	if (fib4_find(address, 32, &next_hop) && next_hop == neighbor->adjacency)
		(void)fib4_delete(address, 32);
}
NEIGHBOR_ROUTES_REGISTER(ADDRESS_IP4, add_neighbor, delete_neighbor)

static int label_set_paths(
	uint32_t label, bool bottom, uint32_t before, const struct load_balance_paths *paths)
{
	uint32_t adjacency = paths->count == 0 ? MPLS_TABLE_NONE : load_balance_get(paths, before);

	if (adjacency == ADJACENCY_NONE)
		return -ENOSPC;
	mpls_table_set(label, bottom, adjacency);
	load_balance_release(before);
	return 0;
}

int label_add(uint32_t label, bool bottom, const struct route_path *path)
{
	uint8_t kind =
		bottom && path->nb_labels == 0 ? ADJACENCY_MPLS_DISPOSITION : ADJACENCY_MPLS_OUTPUT;
	struct load_balance_paths paths;
	uint32_t before;
	int rc;

	rte_spinlock_lock(&router_lock);
	before = mpls_table_get(label, bottom);
	load_balance_paths_of(before, &paths);
	rc = add_path(&paths, path, kind, bottom);
	if (rc == 0)
		rc = label_set_paths(label, bottom, before, &paths);
	rte_spinlock_unlock(&router_lock);
	return rc;
}

int label_delete_path(uint32_t label, bool bottom, const struct route_path *path)
{
	struct load_balance_paths paths;
	uint32_t before;
	int rc = -ENOENT;

	rte_spinlock_lock(&router_lock);
	before = mpls_table_get(label, bottom);
	load_balance_paths_of(before, &paths);
	if (remove_path(&paths, path))
		rc = label_set_paths(label, bottom, before, &paths);
	rte_spinlock_unlock(&router_lock);
	return rc;
}

void label_add_lookup(uint32_t label, bool bottom)
{
	uint32_t before;

	rte_spinlock_lock(&router_lock);
	before = mpls_table_get(label, bottom);
	mpls_table_set(
		label, bottom, bottom ? ADJACENCY_INDEX_MPLS_IP4 : ADJACENCY_INDEX_MPLS_AGAIN);
	load_balance_release(before);
	rte_spinlock_unlock(&router_lock);
}

int label_delete(uint32_t label, bool bottom)
{
	uint32_t before;

	rte_spinlock_lock(&router_lock);
	before = mpls_table_get(label, bottom);
	mpls_table_set(label, bottom, MPLS_TABLE_NONE);
	load_balance_release(before);
	rte_spinlock_unlock(&router_lock);
	return before == MPLS_TABLE_NONE ? -ENOENT : 0;
}
