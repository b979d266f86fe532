/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch's table: full, and read while others learn. */
#include "core/clock.h"
#include "modes/mac_table.h"
#include "test.h"
#include "eal.h"

#include <pthread.h>
#include <rte_memory.h>

#define STATIONS 4096u
#define KEYS 512u
#define LOOKUPS 300000u

static uint64_t key_of(unsigned number)
{
	return MAC_TABLE_KEY(0x02ull | (uint64_t)number << 24, number % 7);
}

static void pass_time(unsigned milliseconds)
{
	clock_advance(milliseconds * (rte_get_tsc_hz() / 1000));
}

static void holds_many(void)
{
	unsigned known = 0;

	CHECK_EQUAL(mac_table_create(STATIONS, 1000), 0);
	for (unsigned i = 0; i < STATIONS * 3 / 4; i++)
		mac_table_learn(key_of(i), i % 61);
	for (unsigned i = 0; i < STATIONS * 3 / 4; i++) {
		uint32_t port = mac_table_lookup(key_of(i), mac_table.now);

		CHECK(port == i % 61 || port == MAC_TABLE_UNKNOWN);
		known += port != MAC_TABLE_UNKNOWN;
	}
	/* Two buckets to choose from: three quarters full, few find no place. */
	CHECK(known > STATIONS * 3 / 4 * 97 / 100);
	for (unsigned i = STATIONS; i < 8 * STATIONS; i++)
		mac_table_learn(key_of(i), 1);
	CHECK_EQUAL(mac_table_lookup(key_of(0), mac_table.now), 0);
	/* Expired entries make room. */
	pass_time(2000);
	mac_table_tick();
	CHECK_EQUAL(mac_table_lookup(key_of(0), mac_table.now), MAC_TABLE_UNKNOWN);
	mac_table_learn(key_of(9 * STATIONS), 3);
	CHECK_EQUAL(mac_table_lookup(key_of(9 * STATIONS), mac_table.now), 3);
}

static bool stop;

static void *learn(void *argument)
{
	unsigned number = (unsigned)(uintptr_t)argument;

	for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); number = (number * 5 + 1) % KEYS) {
		mac_table_learn(key_of(number), number % 61);
		if (number % 64 == 0) {
			pass_time(number % 3 * 400);
			mac_table_tick();
		}
	}
	return NULL;
}

/* Each station is always on the same port: a reader sees that one or none. */
static void read_while_learning(void)
{
	pthread_t learners[2];
	unsigned known = 0;

	CHECK_EQUAL(mac_table_create(64, 1000), 0);
	for (uintptr_t i = 0; i < 2; i++)
		CHECK_EQUAL(pthread_create(&learners[i], NULL, learn, (void *)(7 * i)), 0);
	/* On a busy machine until the learners have run, too. */
	for (unsigned i = 0; i < LOOKUPS || known == 0; i++) {
		uint32_t now = __atomic_load_n(&mac_table.now, __ATOMIC_RELAXED);
		uint32_t port = mac_table_lookup(key_of(i % KEYS), now);

		CHECK(port == i % KEYS % 61 || port == MAC_TABLE_UNKNOWN);
		known += port != MAC_TABLE_UNKNOWN;
		mac_table_seen(key_of(i % KEYS), i % KEYS % 61, now);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(learners[i], NULL);
}

int main(void)
{
	static const struct test_case cases[] = {
		{"a table that is full", holds_many},
		{"lookups while two threads learn", read_while_learning},
	};

	if (!eal_start("64", "--lcores=0@0"))
		return EXIT_FAILURE;
	clock_advance(0);
	return TEST_RUN(cases);
}
