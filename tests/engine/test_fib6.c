/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv6 fib finds what a plain list of prefixes finds, in each way that it can look up. */
#include "harness.h"

#include "core/rcu.h"
#include "fib/fib6.h"
#include "core/ip_address.h"

#include <errno.h>
#include <pthread.h>

#define DEFAULT 7u
#define LIST_MAX 1024

static struct {
	uint8_t prefix[IP6_BYTES];
	uint32_t next_hop;
	uint8_t length;
} list[LIST_MAX];
static unsigned nb_list;
static unsigned seed = 6;

static unsigned any(unsigned below)
{
	return (unsigned)rand_r(&seed) % below;
}

static uint32_t list_lookup(const uint8_t *address)
{
	uint32_t next_hop = DEFAULT;
	int best = -1;

	for (unsigned i = 0; i < nb_list; i++)
		if (list[i].length > best &&
			ip6_prefix_covers(list[i].prefix, list[i].length, address)) {
			best = list[i].length;
			next_hop = list[i].next_hop;
		}
	return next_hop;
}

static int list_find(const uint8_t *prefix, uint8_t length)
{
	for (unsigned i = 0; i < nb_list; i++)
		if (list[i].length == length && ip6_same(list[i].prefix, prefix))
			return (int)i;
	return -1;
}

/* Few different bytes, so that prefixes hold each other; often those at both ends. */
static void any_address(uint8_t *address)
{
	static const uint8_t bytes[] = {0, 0, 0xff, 0xff, 0xfe, 0x80, 1, 0x7f};

	memset(address, any(2) == 0 ? 0xff : 0, IP6_BYTES);
	for (unsigned i = any(IP6_BYTES); i < IP6_BYTES; i++)
		address[i] = bytes[any(sizeof(bytes))];
}

/* One that a prefix of the list holds, or the last before or the first after it. */
static void near_address(uint8_t *address)
{
	unsigned index = any(nb_list), bit;

	memcpy(address, list[index].prefix, IP6_BYTES);
	if (any(2) == 0)
		for (bit = list[index].length; bit < 128; bit++)
			address[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	if (any(3) == 0) {
		bit = any(128);
		address[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
	}
}

static void compare(void)
{
	uint8_t addresses[300][IP6_BYTES];
	const uint8_t *pointers[300];
	uint32_t found[300];
	/* All lengths of vector: what the SIMD loop leaves over is looked up too. */
	unsigned count = any(301);

	for (unsigned i = 0; i < count; i++) {
		pointers[i] = addresses[i];
		if (any(4) == 0 || nb_list == 0)
			any_address(addresses[i]);
		else
			near_address(addresses[i]);
	}
	for (unsigned way = 0; way < nb_fib6_lookup_ways; way++) {
		if (!fib6_lookup_ways[way].present())
			continue;
		memset(found, 0, sizeof(found));
		fib6_lookup_ways[way].lookup(pointers, found, count);
		for (unsigned i = 0; i < count; i++)
			CHECK_EQUAL(found[i], list_lookup(addresses[i]));
	}
}

static void add(const uint8_t *prefix, uint8_t length, uint32_t next_hop)
{
	int index = list_find(prefix, length);

	if (index < 0 && nb_list == LIST_MAX)
		return;
	CHECK_EQUAL(fib6_add(prefix, length, next_hop), 0);
	if (index < 0)
		index = (int)nb_list++;
	memcpy(list[index].prefix, prefix, IP6_BYTES);
	list[index].length = length;
	list[index].next_hop = next_hop;
}

static void delete (const uint8_t *prefix, uint8_t length)
{
	int index = list_find(prefix, length);
	uint32_t next_hop;

	CHECK_EQUAL(fib6_find(prefix, length, &next_hop), index >= 0);
	CHECK_EQUAL(fib6_delete(prefix, length), index < 0 ? -ENOENT : 0);
	CHECK(!fib6_find(prefix, length, &next_hop));
	if (index >= 0)
		list[index] = list[--nb_list];
}

static void as_a_list(void)
{
	uint8_t prefix[IP6_BYTES];

	CHECK_EQUAL(fib6_create(LIST_MAX, DEFAULT), 0);
	CHECK_EQUAL(fib6_add(prefix, 64, 0), -EINVAL);
	CHECK_EQUAL(fib6_add(prefix, 129, 1), -EINVAL);
	CHECK_EQUAL(fib6_add(prefix, 64, FIB6_NEXT_HOP + 1), -EINVAL);
	for (unsigned round = 0; round < 6000; round++) {
		uint8_t length = (uint8_t)(any(40) == 0 ? any(16) : 16 + any(113));
		uint32_t next_hop;

		any_address(prefix);
		ip6_mask(prefix, length);
		if (any(3) != 0) {
			add(prefix, length, 1 + any(FIB6_NEXT_HOP));
			CHECK_EQUAL(fib6_find(prefix, length, &next_hop),
				list_find(prefix, length) >= 0);
		} else if (nb_list > 0 && any(4) != 0) {
			unsigned index = any(nb_list);

			memcpy(prefix, list[index].prefix, IP6_BYTES);
			delete (prefix, list[index].length);
		} else {
			delete (prefix, length);
		}
		if (round % 16 == 0)
			compare();
	}
	while (nb_list > 0) {
		memcpy(prefix, list[0].prefix, IP6_BYTES);
		delete (prefix, list[0].length);
	}
	compare();
	CHECK_EQUAL(fib6_group_count(), 0);
}

/* A network's prefixes, some of them within others: mostly so few that they fit a line, then
 * more, and now and then one that fits none. Lengths that are next to a line's limits. */
static void any_beneath(uint8_t *prefix, uint8_t *length)
{
	static const uint8_t lengths[] = {25, 31, 32, 33, 36, 40, 41, 44, 47, 48, 48, 48, 48, 55,
		56, 57, 63, 64, 65, 96, 128};

	memset(prefix, 0, IP6_BYTES);
	prefix[0] = 0x20;
	prefix[1] = 1;
	prefix[2] = (uint8_t)any(2);
	prefix[3] = (uint8_t)any(4);
	for (unsigned i = 4; i < IP6_BYTES; i++)
		prefix[i] = (uint8_t)(any(3) == 0 ? any(256) : any(2));
	*length = lengths[any(any(8) == 0 ? sizeof(lengths) : 15)];
	ip6_mask(prefix, *length);
}

static void in_lines(void)
{
	unsigned wanted = 0, with_lines = 0, with_both = 0;
	uint8_t prefix[IP6_BYTES], length;

	CHECK_EQUAL(fib6_create(LIST_MAX, DEFAULT), 0);
	for (unsigned round = 0; round < 20000; round++) {
		if (round % 100 == 0)
			wanted = any(4) == 0 ? any(100) : any(14);
		any_beneath(prefix, &length);
		if (any(8) == 0) {
			/* Prefixes that hold the lines. */
			length = (uint8_t)any(33);
			ip6_mask(prefix, length);
		}
		if (nb_list > wanted || (nb_list > 0 && any(3) == 0)) {
			unsigned index = any(nb_list);

			memcpy(prefix, list[index].prefix, IP6_BYTES);
			length = list[index].length;
			if (any(4) == 0)
				add(prefix, length, 1 + any(FIB6_NEXT_HOP));
			else
				delete (prefix, length);
		} else {
			add(prefix, length, 1 + any(FIB6_NEXT_HOP));
		}
		with_lines += fib6_line_count() > 0;
		with_both += fib6_line_count() > 0 && fib6_group_count() > 1;
		compare();
	}
	CHECK(with_lines > 10000);
	CHECK(with_both > 1000);
	while (nb_list > 0) {
		memcpy(prefix, list[0].prefix, IP6_BYTES);
		delete (prefix, list[0].length);
	}
	compare();
	CHECK_EQUAL(fib6_group_count(), 0);
	CHECK_EQUAL(fib6_line_count(), 0);
}

/* One /32 and what lies beneath: seven fit one line, the eighth does not, nor one too long. */
static void a_full_line(void)
{
	uint8_t prefix[IP6_BYTES] = {0x20, 1, 0x0d, 0xb8},
		longest[IP6_BYTES] = {0x20, 1, 0x0d, 0xb8};

	CHECK_EQUAL(fib6_create(100, DEFAULT), 0);
	for (unsigned i = 0; i < 7; i++) {
		prefix[4] = (uint8_t)i;
		add(prefix, 48, 100 + i);
		CHECK_EQUAL(fib6_line_count(), 1);
		CHECK_EQUAL(fib6_group_count(), 0);
	}
	prefix[4] = 7;
	add(prefix, 48, 107);
	/* A group for the /24, one for the /32, and a line for each /40. */
	CHECK_EQUAL(fib6_group_count(), 2);
	CHECK_EQUAL(fib6_line_count(), 8);
	compare();
	delete (prefix, 48);
	compare();
	add(longest, 65, 200);
	compare();
	CHECK(fib6_group_count() > 2);
	while (nb_list > 0) {
		memcpy(prefix, list[0].prefix, IP6_BYTES);
		delete (prefix, list[0].length);
		compare();
	}
	CHECK_EQUAL(fib6_group_count(), 0);
	CHECK_EQUAL(fib6_line_count(), 0);
}

/* Prefixes of all lengths that end where the address space ends, and the default route. */
static void to_the_top(void)
{
	uint8_t top[IP6_BYTES], prefix[IP6_BYTES], zero[IP6_BYTES] = {0};

	CHECK_EQUAL(fib6_create(300, DEFAULT), 0);
	memset(top, 0xff, sizeof(top));
	CHECK_EQUAL(fib6_lookup_one(top), DEFAULT);
	add(zero, 0, 1000);
	CHECK_EQUAL(fib6_lookup_one(top), 1000);
	for (unsigned length = 1; length <= 128; length++) {
		memcpy(prefix, top, IP6_BYTES);
		ip6_mask(prefix, (uint8_t)length);
		add(prefix, (uint8_t)length, 1000 + length);
		CHECK_EQUAL(fib6_lookup_one(top), 1000 + length);
		compare();
	}
	delete (zero, 0);
	for (unsigned length = 128; length >= 1; length--) {
		memcpy(prefix, top, IP6_BYTES);
		ip6_mask(prefix, (uint8_t)length);
		delete (prefix, (uint8_t)length);
		CHECK_EQUAL(fib6_lookup_one(top), length > 1 ? 1000 + length - 1 : DEFAULT);
		compare();
	}
	CHECK_EQUAL(fib6_group_count(), 0);
}

/* 250,000 routes of lengths as the Internet has them. */
static void many_routes(void)
{
	const unsigned routes = 250000;
	unsigned first = seed, different = 0;
	uint32_t next_hop;

	CHECK_EQUAL(fib6_create(routes, DEFAULT), 0);
	for (unsigned pass = 0; pass < 3; pass++) {
		seed = first;
		for (unsigned i = 0; i < routes; i++) {
			uint8_t prefix[IP6_BYTES] = {0x20 + (uint8_t)any(16), (uint8_t)any(4)};
			uint8_t length = (uint8_t)(29 + any(20));

			for (unsigned b = 2; b < 6; b++)
				prefix[b] = (uint8_t)any(256);
			ip6_mask(prefix, length);
			if (pass == 0 && fib6_add(prefix, length, 1 + i) != 0)
				CHECK(false);
			if (pass == 1 && !fib6_find(prefix, length, &next_hop))
				CHECK(false);
			if (pass == 2)
				different += fib6_delete(prefix, length) == 0;
		}
	}
	CHECK(different > routes * 9 / 10);
	CHECK_EQUAL(fib6_group_count(), 0);
	CHECK_EQUAL(fib6_line_count(), 0);
}

/*
 * A reader beside the writer. What it looks up has its own /48s, which stay; the writer adds and
 * deletes beside, beneath and above them, so that their lines become groups and others again.
 */
#define CHANGES 100000
#define STEADY 6

static unsigned stop, wrong, lookups;

static void steady_prefix(unsigned i, uint8_t *prefix)
{
	const uint8_t bytes[IP6_BYTES] = {
		0x2a, 1, (uint8_t)(i % 2), (uint8_t)(i % 3), (uint8_t)(i % 2 * 128), (uint8_t)i};

	memcpy(prefix, bytes, IP6_BYTES);
}

static void *reader_main(void *unused)
{
	uint8_t addresses[256][IP6_BYTES];
	const uint8_t *pointers[256];
	uint32_t found[256];

	rcu_reader_start(0);
	for (unsigned i = 0; i < 256; i++) {
		steady_prefix(i % STEADY, addresses[i]);
		/* The writer's are in the lower half. */
		addresses[i][6] = (uint8_t)(128 + i % 128);
		pointers[i] = addresses[i];
	}
	for (unsigned round = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); round++) {
		const struct fib6_lookup_way *way = &fib6_lookup_ways[round % nb_fib6_lookup_ways];

		if (way->present()) {
			way->lookup(pointers, found, 256);
			for (unsigned i = 0; i < 256; i++)
				wrong += found[i] != 500 + i % STEADY;
		}
		__atomic_fetch_add(&lookups, 256, __ATOMIC_RELAXED);
		rcu_quiescent(0);
	}
	rcu_reader_stop(0);
	return unused;
}

static void change_beside(void)
{
	static const uint8_t lengths[] = {
		20, 24, 28, 32, 36, 46, 49, 52, 56, 60, 64, 64, 64, 80, 128};
	uint8_t prefix[IP6_BYTES], length = lengths[any(sizeof(lengths))];

	steady_prefix(any(STEADY), prefix);
	if (length > 48) {
		prefix[6] = (uint8_t)any(4);
		prefix[7] = (uint8_t)any(4);
	}
	ip6_mask(prefix, length);
	if (list_find(prefix, length) >= 0 && any(8) != 0)
		delete (prefix, length);
	else if (nb_list < 20)
		add(prefix, length, 1 + any(400));
}

static void read_while_changed(void)
{
	uint8_t prefix[IP6_BYTES];
	pthread_t reader;

	CHECK_EQUAL(fib6_create(LIST_MAX, DEFAULT), 0);
	for (unsigned i = 0; i < STEADY; i++) {
		steady_prefix(i, prefix);
		CHECK_EQUAL(fib6_add(prefix, 48, 500 + i), 0);
	}
	CHECK_EQUAL(pthread_create(&reader, NULL, reader_main, NULL), 0);
	/* On a busy machine until the reader has read a while, too. */
	for (unsigned i = 0; i < CHANGES || __atomic_load_n(&lookups, __ATOMIC_RELAXED) < 1000000;
		i++)
		change_beside();
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(reader, NULL);
	CHECK_EQUAL(wrong, 0);
}

static const struct harness_case cases[] = {
	{"the IPv6 fib finds what a list finds", as_a_list, .cli = harness_router_cli},
	{"few prefixes lie in lines, more in groups", in_lines, .cli = harness_router_cli},
	{"seven prefixes fill a line", a_full_line, .cli = harness_router_cli},
	{"lookups while prefixes come and go", read_while_changed, .cli = harness_router_cli},
	{"prefixes up to the top of the address space", to_the_top, .cli = harness_router_cli},
	{"250,000 routes come and go", many_routes, .cli = harness_router_cli},
};
HARNESS_MAIN(cases)
