/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of addresses, client ports, and which addresses are anybody's. */
#include "tester/connection_ranges.h"
#include "any.h"
#include "test.h"

#include <rte_common.h>
#include <sys/mman.h>

#define ROUNDS 3000

static struct connection_ports ports_of(uint32_t ports, uint32_t connections)
{
	struct connection_ports made = {.range = {1024, 1024 + ports - 1}};

	CHECK_EQUAL(connection_ports_create(&made, connections), 0);
	return made;
}

static struct connection_pool clients_of(
	uint32_t min, uint32_t clients, const struct connection_ports *ports)
{
	struct connection_pool pool = {.addresses = {min, min + clients - 1}};

	connection_pool_seed(&pool, min);
	CHECK_EQUAL(connection_pool_create(&pool, ports->range), 0);
	return pool;
}

static bool take(
	struct connection_ports *ports, struct connection_pool *pool, struct connection_ends *ends)
{
	ends->client = connection_pool_address(pool);
	return connection_ports_take(ports, pool, ends);
}

static void a_small_pool_is_used_up(void)
{
	struct connection_ports ports = ports_of(4, 12);
	struct connection_pool pool = clients_of(100, 3, &ports);
	bool seen[3][4] = {{false}};
	struct connection_ends ends;

	for (unsigned i = 0; i < 12; i++) {
		CHECK(take(&ports, &pool, &ends));
		CHECK(!seen[ends.client - 100][ends.port - 1024]);
		seen[ends.client - 100][ends.port - 1024] = true;
	}
	CHECK(!take(&ports, &pool, &ends));
	connection_ports_give_back(&ports, &pool, 101, 1026);
	CHECK(take(&ports, &pool, &ends));
	CHECK_EQUAL(ends.client, 101);
	CHECK_EQUAL(ends.port, 1026);
	CHECK(!take(&ports, &pool, &ends));
	connection_pool_free(&pool);
	connection_ports_free(&ports);
}

/*
 * Against a model: no address has a port twice, though its pools overlap, and what was given back
 * can be had again.
 */
static void ports_are_given_once(void)
{
	enum { CLIENTS = 6, PORTS = 50, LIVING = 200 };
	const uint32_t first = UINT32_MAX - 5;
	static bool used[CLIENTS][PORTS];
	struct connection_ports ports = ports_of(PORTS, LIVING);
	struct connection_pool pools[2] = {
		clients_of(first, 4, &ports), clients_of(first + 2, 4, &ports)};
	struct living {
		struct connection_ends ends;
		unsigned pool;
	} living[LIVING];
	unsigned count = 0;

	pools[0].random = true;
	for (unsigned i = 0; i < 100 * ROUNDS; i++) {
		if (count < LIVING && (any() % 3 != 0 || count == 0)) {
			struct living *one = &living[count];

			one->pool = any() % 2;
			if (!take(&ports, &pools[one->pool], &one->ends))
				continue;
			CHECK(!used[one->ends.client - first][one->ends.port - 1024]);
			used[one->ends.client - first][one->ends.port - 1024] = true;
			count++;
		} else {
			struct living *one = &living[any() % count];

			used[one->ends.client - first][one->ends.port - 1024] = false;
			connection_ports_give_back(
				&ports, &pools[one->pool], one->ends.client, one->ends.port);
			*one = living[--count];
		}
		if (ports.nb_used != count)
			break;
	}
	CHECK_EQUAL(ports.nb_used, count);
	CHECK_EQUAL(pools[0].nb_used + pools[1].nb_used, count);
	connection_ports_clear(&ports);
	CHECK_EQUAL(ports.nb_used, 0);
	for (unsigned i = 0; i < 2; i++)
		connection_pool_free(&pools[i]);
	connection_ports_free(&ports);
}

static void a_pool_in_turn_covers_itself(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t size = 1 + any() % 100, min = i % 2 ? any() % 1000 : UINT32_MAX - size + 1;
		struct connection_pool pool = {.addresses = {min, min + size - 1}};

		for (uint32_t turn = 0; turn < 2 * size; turn++)
			CHECK_EQUAL(connection_pool_address(&pool), min + turn % size);
	}
}

/* Pools at random stay within their range, and draw other sequences than one another. */
static void pools_at_random_differ(void)
{
	struct connection_pool pools[2] = {
		{.addresses = {10, 109}, .random = true}, {.addresses = {10, 109}, .random = true}};
	unsigned same = 0, seen[100] = {0};

	for (unsigned i = 0; i < 2; i++)
		connection_pool_seed(&pools[i], i);
	for (unsigned i = 0; i < 10 * ROUNDS; i++) {
		uint32_t first = connection_pool_address(&pools[0]);
		uint32_t second = connection_pool_address(&pools[1]);

		CHECK(first - 10 < 100 && second - 10 < 100);
		seen[(first - 10) % 100]++;
		same += first == second;
	}
	/* One of a hundred, give or take ten standard deviations. */
	CHECK(same > 130 && same < 470);
	for (unsigned i = 0; i < 100; i++)
		CHECK(seen[i] > 130 && seen[i] < 470);
}

/* Against asking each range. */
static void merged_ranges_hold_what_each_holds(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct connection_range given[8], merged[8];
		struct connection_ranges ranges = {.ranges = merged, .count = any() % 9};
		uint32_t base = i % 3 == 0 ? UINT32_MAX - 63 : any() % 2 ? 0 : 1u << 31;

		for (unsigned r = 0; r < ranges.count; r++) {
			given[r].min = base + any() % 60;
			given[r].max = given[r].min + any() % 4;
		}
		memcpy(merged, given, sizeof(given));
		unsigned count = ranges.count;
		connection_ranges_merge(&ranges);
		CHECK(ranges.count <= count);
		for (uint32_t at = base - 2; at != base + 64; at++) {
			bool held = false;

			for (unsigned r = 0; r < count; r++)
				held |= at >= given[r].min && at <= given[r].max;
			CHECK_EQUAL(connection_ranges_hold(&ranges, at), held);
		}
		for (unsigned r = 1; r < ranges.count; r++)
			CHECK(merged[r].min > merged[r - 1].max + 1);
	}
}

/* The kernel clears no page while packets wait. */
static void tables_are_there_before_traffic(void)
{
	enum { PAGES = 1024 };
	static unsigned char resident[PAGES];
	struct connection_ports ports = ports_of(60000, PAGES * 4096 / sizeof(*ports.used) / 4);
	unsigned missing = 0;

	CHECK(mincore(ports.used, (ports.mask + 1) * sizeof(*ports.used), resident) == 0);
	for (unsigned i = 0; i < (ports.mask + 1) * sizeof(*ports.used) / 4096; i++)
		missing += (resident[i] & 1) == 0;
	CHECK_EQUAL(missing, 0);
	connection_ports_free(&ports);
}

static const struct test_case cases[] = {
	{"a small pool is used up", a_small_pool_is_used_up},
	{"ports are given once", ports_are_given_once},
	{"a pool in turn covers itself", a_pool_in_turn_covers_itself},
	{"pools at random differ", pools_at_random_differ},
	{"merged ranges hold what each holds", merged_ranges_hold_what_each_holds},
	{"tables are there before traffic", tables_are_there_before_traffic},
};
TEST_MAIN(cases)
