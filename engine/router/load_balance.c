/* SPDX-License-Identifier: BSD-3-Clause */
#include "load_balance.h"

#include "core/memory.h"
#include "core/rcu.h"
#include "interface.h"

#include <errno.h>
#include <rte_jhash.h>
#include <rte_malloc.h>
#include <string.h>

struct load_balance {
	uint32_t buckets[LOAD_BALANCE_BUCKETS] __rte_cache_aligned;
	uint32_t adjacency;
	uint32_t references;
	uint32_t next_free;
	struct load_balance_paths paths; /* in the order of their adjacencies */
	uint64_t token;                  /* taken when the last reference went */
};

#define NONE UINT32_MAX

static struct load_balance *balances;
/* Hash of each one's paths and buckets, to find an equal one. */
static uint32_t hashes[LOAD_BALANCES_MAX];
static unsigned nb_balances, nb_in_use;
/* Those without references: the first has waited longest. */
static uint32_t first_free, last_free;

int load_balances_create(void)
{
	balances = rte_zmalloc_socket("load balances", LOAD_BALANCES_MAX * sizeof(*balances),
		RTE_CACHE_LINE_SIZE, memory_socket());
	nb_balances = nb_in_use = 0;
	first_free = last_free = NONE;
	return balances == NULL ? -ENOMEM : 0;
}

static struct load_balance *balance_of(uint32_t adjacency)
{
	if (adjacency == ADJACENCY_NONE || adjacencies[adjacency].kind != ADJACENCY_LOAD_BALANCE)
		return NULL;
	return (struct load_balance *)(uintptr_t)adjacencies[adjacency].buckets;
}

void load_balance_paths_of(uint32_t adjacency, struct load_balance_paths *paths)
{
	const struct load_balance *balance = balance_of(adjacency);

	paths->count = 0;
	if (balance != NULL)
		*paths = balance->paths;
	else if (adjacency != ADJACENCY_NONE && adjacencies[adjacency].neighbor != NEIGHBOR_NONE)
		(void)load_balance_paths_add(paths, adjacency, 1);
}

int load_balance_paths_add(struct load_balance_paths *paths, uint32_t adjacency, uint16_t weight)
{
	unsigned place = 0;

	while (place < paths->count && paths->paths[place].adjacency < adjacency)
		place++;
	if (place == paths->count || paths->paths[place].adjacency != adjacency) {
		if (paths->count == LOAD_BALANCE_PATHS_MAX)
			return -ENOSPC;
		memmove(&paths->paths[place + 1], &paths->paths[place],
			(paths->count++ - place) * sizeof(paths->paths[0]));
	}
	paths->paths[place] = (struct load_balance_path){.adjacency = adjacency, .weight = weight};
	return 0;
}

static void look_which_are_up(struct load_balance_paths *paths)
{
	for (unsigned i = 0; i < paths->count; i++)
		paths->paths[i].up = interface_is_up(
			&interfaces[adjacencies[paths->paths[i].adjacency].interface]);
}

static bool same_paths(const struct load_balance_paths *a, const struct load_balance_paths *b)
{
	for (unsigned i = 0; i < a->count && a->count == b->count; i++)
		if (a->paths[i].adjacency != b->paths[i].adjacency ||
			a->paths[i].weight != b->paths[i].weight)
			return false;
	return a->count == b->count;
}

static uint32_t hash_of(const struct load_balance *balance)
{
	return rte_jhash_32b(balance->buckets, LOAD_BALANCE_BUCKETS, balance->paths.count);
}

static struct load_balance *balance_like(const struct load_balance *wanted, uint32_t hash)
{
	for (unsigned i = 0; i < nb_balances; i++)
		if (hashes[i] == hash && balances[i].references > 0 &&
			same_paths(&balances[i].paths, &wanted->paths) &&
			memcmp(balances[i].buckets, wanted->buckets, sizeof(wanted->buckets)) == 0)
			return &balances[i];
	return NULL;
}

static struct load_balance *balance_new(void)
{
	struct load_balance *balance;
	struct adjacency adjacency = {.kind = ADJACENCY_LOAD_BALANCE,
		.resolved = ADJACENCY_LOAD_BALANCE,
		.neighbor = NEIGHBOR_NONE};

	if (first_free != NONE && rcu_passed(balances[first_free].token)) {
		balance = &balances[first_free];
		first_free = balance->next_free;
		if (first_free == NONE)
			last_free = NONE;
		return balance;
	}
	if (nb_balances == LOAD_BALANCES_MAX)
		return NULL;
	balance = &balances[nb_balances];
	adjacency.buckets = balance->buckets;
	balance->adjacency = adjacency_add(&adjacency);
	if (balance->adjacency == ADJACENCY_NONE)
		return NULL;
	nb_balances++;
	return balance;
}

uint32_t load_balance_get(const struct load_balance_paths *paths, uint32_t before)
{
	struct load_balance_paths paths_before;
	struct load_balance *balance = balance_of(before), wanted = {.paths = *paths};
	uint32_t hash;

	if (paths->count == 1 && paths->paths[0].weight == 1)
		return paths->paths[0].adjacency;
	load_balance_paths_of(before, &paths_before);
	if (balance == NULL)
		look_which_are_up(&paths_before);
	look_which_are_up(&wanted.paths);
	for (unsigned b = 0; b < LOAD_BALANCE_BUCKETS; b++)
		wanted.buckets[b] = balance == NULL ? before : balance->buckets[b];
	load_balance_fill(wanted.buckets, &paths_before, &wanted.paths);
	hash = hash_of(&wanted);
	balance = balance_like(&wanted, hash);
	if (balance == NULL) {
		balance = balance_new();
		if (balance == NULL)
			return ADJACENCY_NONE;
		memcpy(balance->buckets, wanted.buckets, sizeof(balance->buckets));
		balance->paths = wanted.paths;
		hashes[balance - balances] = hash;
		nb_in_use++;
	}
	balance->references++;
	return balance->adjacency;
}

void load_balance_release(uint32_t adjacency)
{
	struct load_balance *balance = balance_of(adjacency);
	uint32_t index;

	if (balance == NULL || --balance->references > 0)
		return;
	nb_in_use--;
	index = (uint32_t)(balance - balances);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	balance->token = rcu_token();
	balance->next_free = NONE;
	if (last_free == NONE)
		first_free = index;
	else
		balances[last_free].next_free = index;
	last_free = index;
}

void load_balances_refresh(void)
{
	for (unsigned i = 0; i < nb_balances; i++) {
		struct load_balance *balance = &balances[i];
		struct load_balance_paths before = balance->paths;

		if (balance->references == 0)
			continue;
		look_which_are_up(&balance->paths);
		load_balance_fill(balance->buckets, &before, &balance->paths);
		hashes[i] = hash_of(balance);
	}
}

unsigned load_balances_count(void)
{
	return nb_in_use;
}
