/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables behind the nodes: header arithmetic, fib, routes, adjacencies. */
#include "harness.h"

#include "fib/fib4.h"
#include "fib/mpls_table.h"
#include "router/neighbor.h"
#include "router/packet.h"
#include "router/routes.h"

#include <errno.h>

#define VIA(out, address, ...) \
	(&(const struct route_path){.interface = (out), .via = address_ip4(address), __VA_ARGS__})

static void ttl_arithmetic(void)
{
	struct rte_ipv4_hdr ip, plain;

	for (uint32_t id = 0; id < 65536; id++)
		for (unsigned ttl = 1; ttl < 256; ttl += 6) {
			memset(&ip, 0, sizeof(ip));
			ip.version_ihl = 0x45;
			ip.packet_id = (uint16_t)id;
			ip.time_to_live = (uint8_t)ttl;
			frame_checksum((uint8_t *)&ip);
			plain = ip;
			plain.time_to_live--;
			frame_checksum((uint8_t *)&plain);
			if (!ip4_plain_checksum_ok((const uint8_t *)&ip))
				CHECK(false);
			ip4_decrement_ttl(&ip);
			if (memcmp(&ip, &plain, sizeof(ip)) != 0)
				CHECK(false);
			ip4_set_ttl(&ip, (uint8_t)(ttl * 7));
			if (!ip4_plain_checksum_ok((const uint8_t *)&ip))
				CHECK(false);
		}
	CHECK(true);
}

static void checksum_of_random_headers(void)
{
	unsigned seed = 7;

	for (unsigned i = 0; i < 1000000; i++) {
		uint8_t ip[20];

		for (unsigned b = 0; b < sizeof(ip); b++)
			ip[b] = (uint8_t)(rand_r(&seed) >> 8);
		ip[0] = 0x45;
		if (i % 2 == 0)
			frame_checksum(ip);
		if (ip4_plain_checksum_ok(ip) != frame_checksum_ok(ip))
			CHECK(false);
	}
	CHECK(true);
}

/* A plain longest-prefix search over a list, to compare with. */
#define LIST_MAX 4096
static struct {
	uint32_t prefix, next_hop;
	uint8_t length;
} list[LIST_MAX];
static unsigned nb_list;

static uint32_t list_lookup(uint32_t address)
{
	int best = -1;
	uint32_t next_hop = ADJACENCY_INDEX_NO_ROUTE;

	for (unsigned i = 0; i < nb_list; i++)
		if (prefix_covers(list[i].prefix, list[i].length, address) &&
			list[i].length > best) {
			best = list[i].length;
			next_hop = list[i].next_hop;
		}
	return next_hop;
}

static void list_add(uint32_t prefix, uint8_t length, uint32_t next_hop)
{
	prefix &= prefix_mask(length);
	for (unsigned i = 0; i < nb_list; i++)
		if (list[i].prefix == prefix && list[i].length == length) {
			list[i].next_hop = next_hop;
			return;
		}
	list[nb_list].prefix = prefix;
	list[nb_list].length = length;
	list[nb_list++].next_hop = next_hop;
}

static void compare_with_list(unsigned *seed)
{
	for (unsigned round = 0; round < 40; round++) {
		uint32_t addresses[256];
		uint32_t found[256];

		for (unsigned i = 0; i < 256; i++)
			addresses[i] = RTE_IPV4(50 + (unsigned)rand_r(seed) % 4, 0, 0, 0) |
				       ((uint32_t)rand_r(seed) & 0xffffff);
		/* All lengths of vector: what the SIMD loop leaves over is looked up too. */
		fib4_lookup(addresses, found, 256 - round);
		for (unsigned i = 0; i < 256 - round; i++)
			CHECK_EQUAL(found[i], list_lookup(addresses[i]));
	}
}

static void fib_as_a_list(void)
{
	unsigned seed = 3;

	for (unsigned i = 0; i < LIST_MAX; i++) {
		uint8_t length = (uint8_t)(8 + (unsigned)rand_r(&seed) % 25);
		uint32_t prefix = RTE_IPV4(50 + (unsigned)rand_r(&seed) % 4, 0, 0, 0) |
				  ((uint32_t)rand_r(&seed) & 0xffffff);

		list_add(prefix, length, 1000 + i);
		CHECK_EQUAL(fib4_add(prefix & prefix_mask(length), length, 1000 + i), 0);
	}
	compare_with_list(&seed);
	for (unsigned i = 0; i < LIST_MAX / 2; i++) {
		unsigned index = (unsigned)rand_r(&seed) % nb_list;

		CHECK_EQUAL(fib4_delete(list[index].prefix, list[index].length), 0);
		list[index] = list[--nb_list];
	}
	compare_with_list(&seed);
}

/* Prefixes that hold each other and end where the address space ends, beside those that do not. */
static void fib_to_the_top(void)
{
	unsigned seed = 11;

	list_add(RTE_IPV4(240u, 0, 0, 0), 4, fib4_lookup_one(RTE_IPV4(240u, 0, 0, 1)));
	list_add(UINT32_MAX, 32, fib4_lookup_one(UINT32_MAX));
	list_add(RTE_IPV4(224u, 0, 0, 0), 4, fib4_lookup_one(RTE_IPV4(224u, 0, 0, 1)));
	for (unsigned round = 0; round < 3000; round++) {
		uint8_t length = (uint8_t)((unsigned)rand_r(&seed) % 33);
		uint32_t bit = length == 0 ? 0 : 1u << (32 - length);
		uint32_t prefix = prefix_mask(length) ^ (rand_r(&seed) % 2 == 0 ? bit : 0);
		bool found = false;
		uint32_t next_hop;

		for (unsigned i = 0; i < nb_list && !found; i++) {
			found = list[i].prefix == prefix && list[i].length == length;
			if (found && rand_r(&seed) % 2 == 0) {
				list[i] = list[--nb_list];
				CHECK_EQUAL(fib4_delete(prefix, length), 0);
				CHECK(!fib4_find(prefix, length, &next_hop));
				CHECK(fib4_delete(prefix, length) < 0);
				break;
			}
		}
		if (!found) {
			list_add(prefix, length, 1000 + round);
			CHECK_EQUAL(fib4_add(prefix, length, 1000 + round), 0);
			CHECK(fib4_find(prefix, length, &next_hop) && next_hop == 1000 + round);
		}
		for (unsigned shift = 0; shift < 32; shift++) {
			uint32_t address =
				UINT32_MAX << shift ^ (uint32_t)rand_r(&seed) >> (31 - shift);

			if (address >> 24 == 0 || address >> 24 == 127 || address >> 24 == 16 ||
				address >> 24 == 48 || address >> 24 == 100)
				continue;
			CHECK_EQUAL(fib4_lookup_one(address), list_lookup(address));
		}
		CHECK_EQUAL(fib4_lookup_one(UINT32_MAX), list_lookup(UINT32_MAX));
	}
}

static void static_routes(void)
{
	struct interface *e1 = interface_find("e1");
	uint32_t via = RTE_IPV4(100, 64, 2, 2), adjacency, loopback;

	adjacency = fib4_lookup_one(RTE_IPV4(48, 0, 0, 1));
	CHECK_EQUAL(adjacencies[adjacency].kind, ADJACENCY_REWRITE);
	CHECK_EQUAL(route_delete(RTE_IPV4(48, 0, 0, 77), 24), 0);
	CHECK_EQUAL(route_delete(RTE_IPV4(48, 0, 0, 0), 24), -ENOENT);
	CHECK_EQUAL(fib4_lookup_one(RTE_IPV4(48, 0, 0, 1)), ADJACENCY_INDEX_NO_ROUTE);
	CHECK_EQUAL(route_add(0, 0, VIA(e1, via)), 0);
	CHECK_EQUAL(fib4_lookup_one(RTE_IPV4(48, 0, 0, 1)), adjacency);
	CHECK_EQUAL(adjacencies[fib4_lookup_one(RTE_IPV4(100, 64, 1, 1))].kind, ADJACENCY_LOCAL);
	CHECK_EQUAL(route_delete(0, 0), 0);
	CHECK_EQUAL(route_delete(0, 0), -ENOENT);
	/* Routes implied by an address cannot be deleted; a special prefix is restored. */
	CHECK_EQUAL(route_add(RTE_IPV4(100, 64, 2, 0), 30, VIA(e1, via)), -EEXIST);
	CHECK_EQUAL(route_add(RTE_IPV4(100, 64, 2, 1), 32, VIA(e1, via)), -EEXIST);
	CHECK_EQUAL(route_delete(RTE_IPV4(100, 64, 2, 0), 30), -ENOENT);
	loopback = fib4_lookup_one(RTE_IPV4(127, 0, 0, 1));
	CHECK_EQUAL(route_add(RTE_IPV4(127, 0, 0, 0), 8, VIA(e1, via)), 0);
	CHECK_EQUAL(fib4_lookup_one(RTE_IPV4(127, 0, 0, 1)), adjacency);
	CHECK_EQUAL(route_delete(RTE_IPV4(127, 0, 0, 0), 8), 0);
	CHECK_EQUAL(fib4_lookup_one(RTE_IPV4(127, 0, 0, 1)), loopback);
	CHECK_EQUAL(route_delete(RTE_IPV4(127, 0, 0, 0), 8), -ENOENT);
}

/* A host route of its own hides the neighbour's; without it the neighbour's is back. */
static void routes_of_neighbors(void)
{
	struct interface *e0 = interface_find("e0"), *e1 = interface_find("e1");
	uint32_t host = RTE_IPV4(100, 64, 1, 2), own = fib4_lookup_one(host), other;

	CHECK_EQUAL(adjacencies[own].address, host);
	CHECK_EQUAL(route_add(host, 32, VIA(e1, RTE_IPV4(100, 64, 2, 2))), 0);
	other = fib4_lookup_one(host);
	CHECK(other != own && adjacencies[other].interface == e1->index);
	CHECK_EQUAL(route_delete(host, 32), 0);
	CHECK_EQUAL(fib4_lookup_one(host), own);
	(void)e0;
}

static void adjacencies_follow_the_neighbor(void)
{
	static const uint8_t first[] = {
		0, 0, 0x50, 0x7c, 0x6f, 0x20, 0x30, 0x71, 2, 0, 0, 0, 0x0e, 1};
	const struct interface *e1 = interface_find("e1");
	uint32_t plain = fib4_lookup_one(RTE_IPV4(48, 0, 0, 1)), label = mpls_table_get(16, true);
	struct rte_ether_addr mac = {{2, 1, 2, 3, 4, 5}};

	CHECK_EQUAL((uintptr_t)adjacencies % RTE_CACHE_LINE_SIZE, 0);
	CHECK_EQUAL(adjacencies[plain].kind, ADJACENCY_REWRITE);
	CHECK_EQUAL(adjacencies[label].kind, ADJACENCY_MPLS_OUTPUT);
	CHECK(memcmp(adjacencies[plain].rewrite + 2, first + 2, 12) == 0);
	CHECK(memcmp(adjacencies[plain].rewrite + 14, "\x08\x00", 2) == 0);
	CHECK(memcmp(adjacencies[label].rewrite + 14, "\x88\x47", 2) == 0);
	CHECK_EQUAL(adjacencies[plain].mtu, 1500);
	CHECK_EQUAL(neighbor_set_static(e1, address_ip4(RTE_IPV4(100, 64, 2, 2)), &mac), 0);
	CHECK(memcmp(adjacencies[plain].rewrite + 2, &mac, 6) == 0);
	CHECK(memcmp(adjacencies[label].rewrite + 2, &mac, 6) == 0);
	/* The same again shares the adjacency. */
	CHECK_EQUAL(label_add(99, true,
			    VIA(e1, RTE_IPV4(100, 64, 2, 2), .nb_labels = 1,
				    .labels = (const uint32_t[]){17})),
		0);
	CHECK_EQUAL(mpls_table_get(99, true), label);
	CHECK_EQUAL(label_delete(99, true), 0);
	CHECK_EQUAL(label_delete(99, true), -ENOENT);
}

static const struct harness_case cases[] = {
	{"RFC 1624: checksum when the TTL changes", .run = ttl_arithmetic},
	{"checksum of random headers", .run = checksum_of_random_headers},
	{"the fib finds what a list finds", fib_as_a_list, .cli = harness_router_cli},
	{"prefixes up to the top of the address space", fib_to_the_top, .cli = harness_router_cli},
	{"static routes come and go", static_routes, .cli = harness_router_cli},
	{"host routes of neighbours", routes_of_neighbors, .cli = harness_router_cli},
	{"adjacencies follow their neighbour", adjacencies_follow_the_neighbor,
		.cli = harness_router_cli},
};
HARNESS_MAIN(cases)
