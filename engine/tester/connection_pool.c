/* SPDX-License-Identifier: BSD-3-Clause */
#include "connection_pool.h"

#include "core/memory.h"
#include "random.h"

#include <errno.h>
#include <rte_common.h>
#include <string.h>

#define SEED 0x9e3779b97f4a7c15ull

void connection_pool_seed(struct connection_pool *pool, unsigned index)
{
	pool->seed = SEED * (2ull * index + 1);
}

int connection_pool_create(struct connection_pool *pool, struct connection_range ports)
{
	uint64_t clients = connection_range_size(pool->addresses);

	pool->nb_ports = clients * connection_range_size(ports);
	pool->next_port = memory_map_whole(clients * sizeof(*pool->next_port));
	return pool->next_port == NULL ? -ENOMEM : 0;
}

void connection_pool_free(struct connection_pool *pool)
{
	uint64_t clients = connection_range_size(pool->addresses);

	if (pool->next_port != NULL)
		memory_unmap(pool->next_port, clients * sizeof(*pool->next_port));
	pool->next_port = NULL;
}

/* Below `size`, without a division. */
static uint32_t draw(struct connection_pool *pool, uint32_t size)
{
	return (uint32_t)((uint64_t)(uint32_t)random_next(&pool->seed) * size >> 32);
}

uint32_t connection_pool_address(struct connection_pool *pool)
{
	uint32_t size = connection_range_size(pool->addresses), now = pool->next;

	if (pool->random)
		return pool->addresses.min + draw(pool, size);
	pool->next = now + 1 == size ? 0 : now + 1;
	return pool->addresses.min + now;
}

int connection_ports_create(struct connection_ports *ports, uint32_t connections)
{
	/* At most half full: a search ends after one or two steps. */
	uint64_t size = rte_align64pow2(2ull * connections + 16);

	ports->mask = size - 1;
	ports->used = memory_map_whole(size * sizeof(*ports->used));
	return ports->used == NULL ? -ENOMEM : 0;
}

void connection_ports_free(struct connection_ports *ports)
{
	if (ports->used != NULL)
		memory_unmap(ports->used, (ports->mask + 1) * sizeof(*ports->used));
	ports->used = NULL;
}

void connection_ports_clear(struct connection_ports *ports)
{
	if (ports->nb_used != 0)
		memset(ports->used, 0, (ports->mask + 1) * sizeof(*ports->used));
	ports->nb_used = 0;
}

static uint64_t key_of(uint32_t client, uint16_t port)
{
	return ((uint64_t)client << 16 | port) + 1;
}

static uint64_t home_of(const struct connection_ports *ports, uint64_t key)
{
	return (key * SEED >> 32) & ports->mask;
}

/* Where the key is, or the empty place where it would be. */
static uint64_t place_of(const struct connection_ports *ports, uint64_t key)
{
	uint64_t at = home_of(ports, key);

	while (ports->used[at] != 0 && ports->used[at] != key)
		at = (at + 1) & ports->mask;
	return at;
}

bool connection_ports_take(
	struct connection_ports *ports, struct connection_pool *pool, struct connection_ends *ends)
{
	uint32_t size = connection_range_size(ports->range), tried = 0;

	if (pool->nb_used == pool->nb_ports)
		return false;
	for (unsigned i = 0; i < CONNECTION_PORT_TRIES; i++, tried++) {
		uint64_t key, at;
		uint16_t *next;

		if (tried == size) {
			tried = 0;
			ends->client = ends->client == pool->addresses.max ? pool->addresses.min
									   : ends->client + 1;
		}
		next = &pool->next_port[ends->client - pool->addresses.min];
		ends->port = (uint16_t)(ports->range.min + *next);
		*next = (uint16_t)(*next + 1u == size ? 0 : *next + 1);
		key = key_of(ends->client, ends->port);
		at = place_of(ports, key);
		if (ports->used[at] == 0) {
			ports->used[at] = key;
			ports->nb_used++;
			pool->nb_used++;
			return true;
		}
	}
	return false;
}

void connection_ports_give_back(struct connection_ports *ports, struct connection_pool *pool,
	uint32_t client, uint16_t port)
{
	uint64_t hole = place_of(ports, key_of(client, port)), at = hole;

	if (ports->used[hole] == 0)
		return;
	/* An entry behind the hole that could be in it moves there. */
	for (;;) {
		uint64_t home;

		at = (at + 1) & ports->mask;
		if (ports->used[at] == 0)
			break;
		home = home_of(ports, ports->used[at]);
		if (((at - home) & ports->mask) < ((at - hole) & ports->mask))
			continue;
		ports->used[hole] = ports->used[at];
		hole = at;
	}
	ports->used[hole] = 0;
	ports->nb_used--;
	pool->nb_used--;
}
