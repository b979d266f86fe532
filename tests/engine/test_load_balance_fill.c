/* SPDX-License-Identifier: BSD-3-Clause */
/* The resilient hash's law: who gets which bucket when paths come and go. */
#include "router/load_balance_fill.h"
#include "test.h"

#define ROUNDS 20000
#define POOL 80 /* adjacencies to choose paths from */

static unsigned seed = 20240229;

static unsigned any(unsigned below)
{
	return (unsigned)rand_r(&seed) % below;
}

static struct load_balance_path *find(struct load_balance_paths *paths, uint32_t adjacency)
{
	for (unsigned i = 0; i < paths->count; i++)
		if (paths->paths[i].adjacency == adjacency)
			return &paths->paths[i];
	return NULL;
}

static void add(struct load_balance_paths *paths, uint32_t adjacency, uint16_t weight)
{
	paths->paths[paths->count++] = (struct load_balance_path){adjacency, weight, true};
}

static void take_out(struct load_balance_paths *paths, unsigned place)
{
	paths->paths[place] = paths->paths[--paths->count];
}

static unsigned count_of(const uint32_t *buckets, uint32_t adjacency)
{
	unsigned count = 0;

	for (unsigned b = 0; b < LOAD_BALANCE_BUCKETS; b++)
		count += buckets[b] == adjacency;
	return count;
}

static void start(uint32_t *buckets, struct load_balance_paths *paths, unsigned count)
{
	struct load_balance_paths none = {0};

	memset(paths, 0, sizeof(*paths));
	for (unsigned i = 0; i < count; i++)
		add(paths, 100 + i, 1);
	memset(buckets, 0xff, LOAD_BALANCE_BUCKETS * sizeof(*buckets));
	load_balance_fill(buckets, &none, paths);
}

static void even_shares(void)
{
	uint32_t buckets[LOAD_BALANCE_BUCKETS];
	struct load_balance_paths paths;

	for (unsigned count = 1; count <= LOAD_BALANCE_PATHS_MAX; count++) {
		start(buckets, &paths, count);
		for (unsigned i = 0; i < count; i++) {
			unsigned has = count_of(buckets, 100 + i), due = 256 / count;

			CHECK(has == due || has == due + 1);
		}
	}
}

static void weights(void)
{
	uint32_t buckets[LOAD_BALANCE_BUCKETS];
	struct load_balance_paths paths = {0}, none = {0};

	add(&paths, 1, 2);
	add(&paths, 2, 1);
	add(&paths, 3, 5);
	memset(buckets, 0xff, sizeof(buckets));
	load_balance_fill(buckets, &none, &paths);
	CHECK_EQUAL(count_of(buckets, 1), 64);
	CHECK_EQUAL(count_of(buckets, 2), 32);
	CHECK_EQUAL(count_of(buckets, 3), 160);
	/* A weight changes: buckets move to or from that path only. */
	{
		struct load_balance_paths after = paths;
		uint32_t moved[LOAD_BALANCE_BUCKETS];

		memcpy(moved, buckets, sizeof(moved));
		find(&after, 3)->weight = 1;
		load_balance_fill(moved, &paths, &after);
		CHECK_EQUAL(count_of(moved, 1), 128);
		CHECK_EQUAL(count_of(moved, 2), 64);
		for (unsigned b = 0; b < LOAD_BALANCE_BUCKETS; b++)
			CHECK(moved[b] == buckets[b] || buckets[b] == 3);
		load_balance_fill(moved, &after, &paths);
		CHECK_EQUAL(count_of(moved, 3), 160);
	}
}

/* Going: only its buckets change. Coming: what changes, it has. */
static void one_goes_one_comes(void)
{
	uint32_t before[LOAD_BALANCE_BUCKETS], after[LOAD_BALANCE_BUCKETS];
	struct load_balance_paths paths, less;

	for (unsigned count = 2; count <= 64; count++)
		for (unsigned gone = 0; gone < count; gone++) {
			start(before, &paths, count);
			less = paths;
			take_out(&less, gone);
			memcpy(after, before, sizeof(after));
			load_balance_fill(after, &paths, &less);
			CHECK_EQUAL(count_of(after, 100 + gone), 0);
			for (unsigned b = 0; b < LOAD_BALANCE_BUCKETS; b++)
				CHECK(after[b] == before[b] || before[b] == 100 + gone);
			memcpy(before, after, sizeof(before));
			load_balance_fill(after, &less, &paths);
			for (unsigned b = 0; b < LOAD_BALANCE_BUCKETS; b++)
				CHECK(after[b] == before[b] || after[b] == 100 + gone);
			CHECK(count_of(after, 100 + gone) >= 256 / count);
			CHECK(count_of(after, 100 + gone) <= 256 / count + 1);
		}
}

/* One random change of the set: a path is added, taken out, goes down or comes up. Returns the
 * adjacency that it is about. */
static uint32_t change(struct load_balance_paths *paths, bool *gone)
{
	unsigned place = any(paths->count);
	uint32_t adjacency = paths->paths[place].adjacency;

	*gone = any(2) == 0;
	if (any(2) == 0) {
		*gone = paths->paths[place].up;
		paths->paths[place].up ^= true;
		return adjacency;
	}
	if (*gone && paths->count > 1) {
		take_out(paths, place);
		return adjacency;
	}
	*gone = false;
	adjacency = 100 + any(POOL);
	if (find(paths, adjacency) == NULL && paths->count < LOAD_BALANCE_PATHS_MAX)
		add(paths, adjacency, (uint16_t)(1 + (any(3) == 0 ? any(255) : any(4))));
	return adjacency;
}

static unsigned up_count(const struct load_balance_paths *paths)
{
	unsigned up = 0;

	for (unsigned i = 0; i < paths->count; i++)
		up += paths->paths[i].up;
	return up;
}

static void check_law(const uint32_t *before, const uint32_t *after,
	struct load_balance_paths *paths, uint32_t about, bool gone)
{
	for (unsigned b = 0; b < LOAD_BALANCE_BUCKETS; b++) {
		CHECK(find(paths, after[b]) != NULL && find(paths, after[b])->up);
		CHECK(after[b] == before[b] || (gone ? before[b] : after[b]) == about);
	}
}

static void many_changes(void)
{
	uint32_t buckets[LOAD_BALANCE_BUCKETS], before[LOAD_BALANCE_BUCKETS];
	struct load_balance_paths paths, paths_before;

	start(buckets, &paths, 4);
	for (unsigned round = 0; round < ROUNDS; round++) {
		bool gone;
		uint32_t about;

		paths_before = paths;
		memcpy(before, buckets, sizeof(before));
		about = change(&paths, &gone);
		load_balance_fill(buckets, &paths_before, &paths);
		/* With none up all take part, which is another law. */
		if (up_count(&paths) > 0 && up_count(&paths_before) > 0)
			check_law(before, buckets, &paths, about, gone);
	}
}

/* Without weights, however often paths come and go, no path is far from its due. */
static void shares_stay_even(void)
{
	uint32_t buckets[LOAD_BALANCE_BUCKETS];
	struct load_balance_paths paths, before;

	start(buckets, &paths, 5);
	for (unsigned round = 0; round < ROUNDS; round++) {
		before = paths;
		if (paths.count > 2 && (any(2) == 0 || paths.count == 16))
			take_out(&paths, any(paths.count));
		else if (find(&paths, 100 + round % POOL) == NULL)
			add(&paths, 100 + round % POOL, 1);
		load_balance_fill(buckets, &before, &paths);
		for (unsigned i = 0; i < paths.count; i++) {
			unsigned has = count_of(buckets, paths.paths[i].adjacency);

			CHECK(has + 2 > 256 / paths.count && has < 256 / paths.count + 3);
		}
	}
}

static const struct test_case cases[] = {
	{"even shares", even_shares},
	{"weights", weights},
	{"one goes, one comes", one_goes_one_comes},
	{"20,000 random changes", many_changes},
	{"shares stay even", shares_stay_even},
};
TEST_MAIN(cases)
