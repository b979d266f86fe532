/* SPDX-License-Identifier: BSD-3-Clause */
/* The fibs find what DPDK's rte_rib finds in a table that is shaped as the Internet's is. */
#include "harness.h"

#include "core/memory.h"
#include "fib/fib4.h"
#include "fib/fib6.h"
#include "fib/rib6_address.h"
#include "core/ip_address.h"

#include <rte_rib.h>
#include <rte_rib6.h>

#define ROUTES 20000u
#define ROUNDS 4u
#define LOOKUPS 50000u
#define NO_ROUTE 7u
#define NEXT_HOPS 500u

static unsigned seed = 2544;

static unsigned any(unsigned below)
{
	return (unsigned)rand_r(&seed) % below;
}

static uint32_t any_next_hop(void)
{
	return 8 + any(NEXT_HOPS);
}

/* Lengths as often as each is in the lists; most routes lie close to others. */
static uint8_t length_of(const uint8_t *lengths, unsigned count)
{
	return lengths[any(count)];
}

/* Keeps the prefix's bits, draws the others: an address that the prefix covers. */
static void fill_host_bits(uint8_t *address, unsigned bytes, uint8_t length)
{
	for (unsigned bit = length; bit < 8 * bytes; bit++)
		if (any(2) == 0)
			address[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
}

static void clear_host_bits(uint8_t *address, unsigned bytes, uint8_t length)
{
	for (unsigned bit = length; bit < 8 * bytes; bit++)
		address[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
}

struct route {
	uint8_t prefix[IP6_BYTES];
	uint8_t length;
};
static struct route routes[ROUTES];

/* A prefix somewhere, or one within or around another; `bytes` is the size of an address. */
static void any_route(unsigned number, unsigned bytes, const uint8_t *lengths, unsigned count)
{
	struct route *route = &routes[number];

	route->length = length_of(lengths, count);
	if (number > 0 && any(4) != 0) {
		const struct route *near = &routes[any(number)];

		memcpy(route->prefix, near->prefix, bytes);
		fill_host_bits(route->prefix, bytes, near->length);
	} else {
		for (unsigned i = 0; i < bytes; i++)
			route->prefix[i] = (uint8_t)any(256);
	}
	clear_host_bits(route->prefix, bytes, route->length);
}

/* An address of a route, the last or first before it, or anywhere. */
static void any_address(uint8_t *address, unsigned bytes)
{
	const struct route *route = &routes[any(ROUTES)];

	memcpy(address, route->prefix, bytes);
	fill_host_bits(address, bytes, route->length);
	if (any(3) == 0)
		address[any(bytes)] ^= (uint8_t)(1 << any(8));
}

static uint32_t host_order(const uint8_t *address)
{
	return (uint32_t)address[0] << 24 | (uint32_t)address[1] << 16 | (uint32_t)address[2] << 8 |
	       address[3];
}

static void change4(struct rte_rib *rib, const struct route *route)
{
	uint32_t prefix = host_order(route->prefix);
	struct rte_rib_node *node = rte_rib_lookup_exact(rib, prefix, route->length);
	uint32_t next_hop = any_next_hop();

	if (node != NULL && any(3) == 0) {
		rte_rib_remove(rib, prefix, route->length);
		CHECK_EQUAL(fib4_delete(prefix, route->length), 0);
		return;
	}
	if (node == NULL)
		node = rte_rib_insert(rib, prefix, route->length);
	CHECK(node != NULL);
	CHECK_EQUAL(rte_rib_set_nh(node, next_hop), 0);
	CHECK_EQUAL(fib4_add(prefix, route->length, next_hop), 0);
}

static uint32_t rib4_find(struct rte_rib *rib, uint32_t address)
{
	struct rte_rib_node *node = rte_rib_lookup(rib, address);
	uint64_t next_hop = NO_ROUTE;

	if (node != NULL)
		(void)rte_rib_get_nh(node, &next_hop);
	return (uint32_t)next_hop;
}

static void compare4(struct rte_rib *rib)
{
	static uint32_t addresses[LOOKUPS], wanted[LOOKUPS], found[LOOKUPS];
	unsigned routed = 0;

	for (unsigned i = 0; i < LOOKUPS; i++) {
		uint8_t address[4];

		any_address(address, sizeof(address));
		addresses[i] = host_order(address);
		wanted[i] = rib4_find(rib, addresses[i]);
		routed += wanted[i] != NO_ROUTE;
		if (fib4_lookup_one(addresses[i]) != wanted[i])
			CHECK_EQUAL(fib4_lookup_one(addresses[i]), wanted[i]);
	}
	CHECK(routed > LOOKUPS / 4 && routed < LOOKUPS);
	for (unsigned way = 0; way < FIB4_LOOKUP_WAYS; way++) {
		if (fib4_lookup_ways[way].present == NULL || !fib4_lookup_ways[way].present())
			continue;
		fib4_lookup_ways[way].lookup(addresses, found, LOOKUPS);
		CHECK(memcmp(found, wanted, sizeof(found)) == 0);
	}
}

static void fib4_is_as_rib(void)
{
	static const uint8_t lengths[] = {8, 12, 16, 16, 18, 19, 20, 20, 21, 22, 22, 22, 23, 23, 24,
		24, 24, 24, 24, 24, 24, 25, 27, 28, 30, 32};
	struct rte_rib_conf conf = {.max_nodes = 2 * ROUTES};
	struct rte_rib *rib = rte_rib_create("wanted4", memory_socket(), &conf);

	CHECK(rib != NULL);
	CHECK_EQUAL(fib4_create(ROUTES, NO_ROUTE), 0);
	for (unsigned i = 0; i < ROUTES; i++)
		any_route(i, 4, lengths, RTE_DIM(lengths));
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < ROUTES; i++)
			change4(rib, &routes[any(ROUTES)]);
		compare4(rib);
	}
	rte_rib_free(rib);
}

static void change6(struct rte_rib6 *rib, const struct route *route)
{
	struct rte_rib6_node *node =
		rte_rib6_lookup_exact(rib, rib6_address(route->prefix), route->length);
	uint32_t next_hop = any_next_hop();

	if (node != NULL && any(3) == 0) {
		rte_rib6_remove(rib, rib6_address(route->prefix), route->length);
		CHECK_EQUAL(fib6_delete(route->prefix, route->length), 0);
		return;
	}
	if (node == NULL)
		node = rte_rib6_insert(rib, rib6_address(route->prefix), route->length);
	CHECK(node != NULL);
	CHECK_EQUAL(rte_rib6_set_nh(node, next_hop), 0);
	CHECK_EQUAL(fib6_add(route->prefix, route->length, next_hop), 0);
}

static uint32_t rib6_find(struct rte_rib6 *rib, const uint8_t *address)
{
	struct rte_rib6_node *node = rte_rib6_lookup(rib, rib6_address(address));
	uint64_t next_hop = NO_ROUTE;

	if (node != NULL)
		(void)rte_rib6_get_nh(node, &next_hop);
	return (uint32_t)next_hop;
}

static void compare6(struct rte_rib6 *rib)
{
	static uint8_t addresses[LOOKUPS][IP6_BYTES];
	static const uint8_t *pointers[LOOKUPS];
	static uint32_t wanted[LOOKUPS], found[LOOKUPS];
	unsigned routed = 0;

	for (unsigned i = 0; i < LOOKUPS; i++) {
		pointers[i] = addresses[i];
		any_address(addresses[i], IP6_BYTES);
		wanted[i] = rib6_find(rib, addresses[i]);
		routed += wanted[i] != NO_ROUTE;
		if (fib6_lookup_one(addresses[i]) != wanted[i])
			CHECK_EQUAL(fib6_lookup_one(addresses[i]), wanted[i]);
	}
	CHECK(routed > LOOKUPS / 4 && routed < LOOKUPS);
	for (unsigned way = 0; way < nb_fib6_lookup_ways; way++) {
		if (!fib6_lookup_ways[way].present())
			continue;
		fib6_lookup_ways[way].lookup(pointers, found, LOOKUPS);
		CHECK(memcmp(found, wanted, sizeof(found)) == 0);
	}
}

static void fib6_is_as_rib(void)
{
	static const uint8_t lengths[] = {19, 20, 24, 28, 29, 29, 32, 32, 32, 32, 36, 40, 40, 44,
		44, 46, 47, 48, 48, 48, 48, 48, 48, 56, 64, 127, 128};
	struct rte_rib6_conf conf = {.max_nodes = 2 * ROUTES};
	struct rte_rib6 *rib = rte_rib6_create("wanted6", memory_socket(), &conf);

	CHECK(rib != NULL);
	CHECK_EQUAL(fib6_create(ROUTES, NO_ROUTE), 0);
	for (unsigned i = 0; i < ROUTES; i++)
		any_route(i, IP6_BYTES, lengths, RTE_DIM(lengths));
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < ROUTES; i++)
			change6(rib, &routes[any(ROUTES)]);
		compare6(rib);
	}
	rte_rib6_free(rib);
}

static const struct harness_case cases[] = {
	{"the IPv4 fib finds what rte_rib finds", fib4_is_as_rib, .cli = harness_router_cli},
	{"the IPv6 fib finds what rte_rib6 finds", fib6_is_as_rib, .cli = harness_router_cli},
};
HARNESS_MAIN(cases)
