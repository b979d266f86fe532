/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv4 table against a plain search, and read while it is being changed. */
#include "core/rcu.h"
#include "fib/fib4.h"
#include "fib/prefix_table.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define NO_ROUTE 7u
#define OPERATIONS 2000000u

static uint64_t random_state = 88172645463325252ull;

/* Marsaglia's xorshift. */
static uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 20) % below;
}

/*
 * The model knows the prefixes within three /22s, two of them at the ends of the address space,
 * and those that hold one of these.
 */
#define AREAS 3u
#define AREA_LENGTH 22
static const uint32_t areas[AREAS] = {0x00000000u, 0x0a010000u, 0xfffffc00u};
static uint32_t model[AREAS][33][1u << (32 - AREA_LENGTH)]; /* next hop, 0: no such prefix */

static uint32_t mask_of(uint8_t length)
{
	return length == 0 ? 0 : UINT32_MAX << (32 - length);
}

/* A prefix that holds several areas belongs to the first of them. */
static uint32_t *model_place(unsigned area, uint32_t address, uint8_t length)
{
	if (length > AREA_LENGTH)
		return &model[area][length][(address & ~mask_of(AREA_LENGTH)) >> (32 - length)];
	for (unsigned other = 0; other < area; other++)
		if (((areas[other] ^ areas[area]) & mask_of(length)) == 0)
			return &model[other][length][0];
	return &model[area][length][0];
}

static uint32_t model_lookup(unsigned area, uint32_t address)
{
	for (int length = 32; length >= 0; length--) {
		uint32_t next_hop = *model_place(area, address, (uint8_t)length);

		if (next_hop != 0)
			return next_hop;
	}
	return NO_ROUTE;
}

static uint32_t area_address(unsigned area)
{
	return areas[area] | draw(1u << (32 - AREA_LENGTH));
}

/* Long prefixes mostly: the shortest take long to write. */
static uint8_t draw_length(void)
{
	uint32_t chance = draw(20000);

	if (chance == 0)
		return (uint8_t)draw(8);
	return (uint8_t)(chance < 200 ? 8 + draw(14) : 22 + draw(11));
}

static void compare_area(unsigned area)
{
	uint32_t addresses[1024], found[1024], wanted[1024];

	for (uint32_t i = 0; i < 1024; i++) {
		addresses[i] = areas[area] + i;
		wanted[i] = model_lookup(area, addresses[i]);
	}
	for (unsigned way = 0; way < FIB4_LOOKUP_WAYS; way++) {
		/* All remainders of a vector. */
		unsigned count = 1024 - draw(40);

		if (fib4_lookup_ways[way].present == NULL || !fib4_lookup_ways[way].present())
			continue;
		fib4_lookup_ways[way].lookup(addresses, found, count);
		if (memcmp(found, wanted, count * sizeof(*found)) != 0)
			CHECK(false);
	}
}

static void one_change(uint32_t next_hop)
{
	unsigned area = draw(AREAS);
	uint8_t length = draw_length();
	uint32_t prefix = area_address(area) & mask_of(length), found;
	uint32_t *place = model_place(area, prefix, length);

	if (draw(5) < 2) {
		if (fib4_delete(prefix, length) != (*place != 0 ? 0 : -ENOENT))
			CHECK(false);
		*place = 0;
	} else {
		if (fib4_add(prefix, length, next_hop) != 0)
			CHECK(false);
		*place = next_hop;
	}
	if (fib4_find(prefix, length, &found) != (*place != 0) || found != *place)
		CHECK(false);
}

static void as_a_search_finds(void)
{
	unsigned prefixes = 0, groups = 0;

	for (uint32_t i = 0; i < OPERATIONS; i++) {
		unsigned area = draw(AREAS);
		uint32_t address = area_address(area);

		one_change(1000 + draw(50));
		if (fib4_lookup_one(address) != model_lookup(area, address))
			CHECK(false);
		if (i % 20000 == 0)
			compare_area(area);
	}
	for (unsigned area = 0; area < AREAS; area++) {
		compare_area(area);
		for (unsigned length = 0; length <= 32; length++)
			for (unsigned i = 0; i < 1024; i++)
				prefixes += model[area][length][i] != 0;
	}
	CHECK_EQUAL(fib4_count(), prefixes);
	groups = fib4_group_count();
	CHECK(groups > 0 && groups <= AREAS * 4);
}

static void all_goes_away(void)
{
	for (unsigned area = 0; area < AREAS; area++)
		for (unsigned length = 0; length <= 32; length++)
			for (uint32_t i = 0; i < 1024; i++) {
				uint32_t bits = length > AREA_LENGTH ? i << (32 - length) : 0;

				if (model[area][length][i] == 0)
					continue;
				CHECK_EQUAL(
					fib4_delete((areas[area] | bits) & mask_of((uint8_t)length),
						(uint8_t)length),
					0);
			}
	CHECK_EQUAL(fib4_count(), 0);
	CHECK_EQUAL(fib4_group_count(), 0);
	for (uint32_t i = 0; i < 1u << 24; i++)
		if (fib4.first[i] != NO_ROUTE)
			CHECK(false);
}

/* More than the size given to fib4_create(). */
static void grows(void)
{
	for (uint32_t i = 0; i < 100000; i++)
		if (fib4_add(0x10000000 + (i << 8), 24, i + 1) != 0)
			CHECK(false);
	CHECK_EQUAL(fib4_count(), 100000);
	for (uint32_t i = 0; i < 100000; i++)
		if (fib4_lookup_one(0x10000000 + (i << 8) + i % 256) != i + 1 ||
			fib4_delete(0x10000000 + (i << 8), 24) != 0)
			CHECK(false);
	CHECK_EQUAL(fib4_count(), 0);
	CHECK_EQUAL(fib4_add(0, 0, FIB4_NEXT_HOPS), -EINVAL);
}

/*
 * A reader looks again and again for addresses whose routes stay, or change between two next
 * hops, while routes beside, beneath and above them come and go as fast as can be.
 */
#define STEADY_A 0x0a010100u /* 10.1.1.0/24 to 500 */
#define STEADY_B 0x0a020200u /* 10.2.2.0/24 to 600 */
#define CHANGING 0x0a030300u /* 10.3.3.0/24 to 700 or 701 */
#define CHANGES 2000000u

static uint32_t stop;
static uint64_t lookups, wrong;

static bool right(uint32_t address, uint32_t next_hop)
{
	switch (address & 0xffffff00u) {
	case STEADY_A:
		return next_hop == 500;
	case STEADY_B:
		return next_hop == 600;
	default:
		return next_hop == 700 || next_hop == 701;
	}
}

/* As a reader that is held up between the two words of a lookup. */
static uint32_t slow_lookup(uint32_t address)
{
	uint32_t word = __atomic_load_n(&fib4.first[address >> 8], __ATOMIC_ACQUIRE);

	for (volatile unsigned wait = 0; wait < 2000; wait++)
		;
	if (word & FIB4_GROUP)
		word = __atomic_load_n(
			&fib4.groups[(word & FIB4_VALUE) * FIB4_GROUP_WORDS + (address & 255)],
			__ATOMIC_RELAXED);
	return word & FIB4_VALUE;
}

static void *reader_main(void *unused)
{
	uint32_t addresses[256], found[256];

	rcu_reader_start(0);
	for (unsigned i = 0; i < 256; i++)
		addresses[i] = (i % 3 == 0          ? STEADY_A
				       : i % 3 == 1 ? STEADY_B
						    : CHANGING) |
			       (128 + i % 128);
	for (unsigned round = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); round++) {
		const struct fib4_lookup_way *way = &fib4_lookup_ways[round % FIB4_LOOKUP_WAYS];

		if (way->present != NULL && way->present()) {
			way->lookup(addresses, found, 256);
			for (unsigned i = 0; i < 256; i++)
				wrong += !right(addresses[i], found[i]);
		}
		for (unsigned i = 0; i < 3; i++)
			wrong += !right(addresses[i], slow_lookup(addresses[i]));
		lookups += 259;
		rcu_quiescent(0);
	}
	rcu_reader_stop(0);
	return unused;
}

/* Adds the prefix, or deletes it when it is there. */
static void toggle(uint32_t prefix, uint8_t length, uint32_t next_hop)
{
	uint32_t before;

	if (fib4_find(prefix, length, &before)) {
		if (fib4_delete(prefix, length) != 0)
			CHECK(false);
	} else if (fib4_add(prefix, length, next_hop) != 0) {
		CHECK(false);
	}
}

static void change_something(uint32_t i)
{
	static const uint32_t beneath[] = {STEADY_A, STEADY_B, CHANGING, 0x0a040400u};

	switch (draw(8)) {
	case 0:
		(void)fib4_add(CHANGING, 24, 700 + i % 2);
		break;
	case 1:
		toggle(0x0a000000u, (uint8_t)(12 + draw(4)), 9);
		break;
	case 2:
		toggle(0x0a050000u + (draw(64) << 8), 24, 11);
		break;
	default:
		/* The /24's lower half, when the reader looks at the upper one. Few, so that
		 * often none is left and another /24 gets the group. */
		toggle(beneath[draw(4)] | draw(2) << 6, (uint8_t)(26 + draw(2)), 13);
	}
}

static void read_while_changed(void)
{
	pthread_t reader;

	CHECK_EQUAL(fib4_add(STEADY_A, 24, 500), 0);
	CHECK_EQUAL(fib4_add(STEADY_B, 24, 600), 0);
	CHECK_EQUAL(fib4_add(CHANGING, 24, 700), 0);
	CHECK_EQUAL(pthread_create(&reader, NULL, reader_main, NULL), 0);
	for (uint32_t i = 0; i < CHANGES; i++) {
		change_something(i);
		if (i % (CHANGES / 8) == 0)
			toggle(0, 0, 15);
	}
	/* On a busy machine until the reader has read a while, too. */
	for (uint32_t i = 0; __atomic_load_n(&lookups, __ATOMIC_RELAXED) < 1000000; i++)
		change_something(i);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(reader, NULL);
	CHECK_EQUAL(wrong, 0);
}

int main(void)
{
	static const struct test_case cases[] = {
		{"more prefixes than were announced", grows},
		{"finds what a plain search finds", as_a_search_finds},
		{"nothing is left when all are deleted", all_goes_away},
		{"read while it is changed", read_while_changed},
	};

	if (fib4_create(100, NO_ROUTE) != 0)
		return EXIT_FAILURE;
	return TEST_RUN(cases);
}
