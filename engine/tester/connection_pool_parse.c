/* SPDX-License-Identifier: BSD-3-Clause */
/* The pools of the tester's "connections" object. */
#include "connections.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const orders[] = {"sequential", "random", NULL};
static const char *const pool_keys[CONNECTION_SIDES] = {"clients", "servers"};

static struct connection_range parse_addresses(const struct config_node *node)
{
	struct connection_range read = {0, 0};

	if (!config_ip4(node, "min", &read.min) || !config_ip4(node, "max", &read.max) ||
		read.max < read.min || read.max - read.min >= CONNECTION_ADDRESSES_MAX) {
		config_mistake(node, "expected at most %u addresses, min before max",
			CONNECTION_ADDRESSES_MAX);
		read.max = read.min;
	}
	return read;
}

static const struct connection_pool *find_pool(
	const struct connections *connections, unsigned side, const char *name)
{
	for (unsigned i = 0; i < connections->nb_pools[side]; i++)
		if (strcmp(connections->pools[side][i].name, name) == 0)
			return &connections->pools[side][i];
	return NULL;
}

/* One of a list: it has a name, and may have an order of its own. */
static void parse_named(
	struct connections *connections, unsigned side, const struct config_node *node, bool random)
{
	struct connection_pool pool = {0};
	const char *name;

	if (!config_object(node, "name", "min", "max", "order"))
		return;
	name = config_string(node, "name", "");
	if (name[0] == '\0' || strlen(name) >= sizeof(pool.name) ||
		find_pool(connections, side, name) != NULL)
		config_mistake(node, "name: expected 1 to %zu characters, others in each pool",
			sizeof(pool.name) - 1);
	snprintf(pool.name, sizeof(pool.name), "%s", name);
	pool.addresses = parse_addresses(node);
	pool.random = config_choice(node, "order", orders, random) == 1;
	connections->pools[side][connections->nb_pools[side]++] = pool;
}

/* The only one: an object. */
static void parse_only(
	struct connections *connections, unsigned side, const struct config_node *node, bool random)
{
	config_known(node, "min", "max");
	connections->pools[side][0].addresses = parse_addresses(node);
	connections->pools[side][0].random = random;
	connections->nb_pools[side] = 1;
}

static void parse_side(
	struct connections *connections, unsigned side, const struct config_node *node, bool random)
{
	struct config_node pools = config_child(node, pool_keys[side]);
	size_t count = json_is_array(pools.json) ? json_array_size(pools.json) : 1;
	uint64_t addresses = 0;

	if (pools.json == NULL || count == 0 || count > CONNECTION_POOLS_MAX) {
		config_mistake(node,
			"%s: expected {\"min\": address, \"max\": address}, or a list of 1 to %d "
			"such"
			" with names",
			pool_keys[side], CONNECTION_POOLS_MAX);
		return;
	}
	connections->pools[side] = calloc(count, sizeof(*connections->pools[side]));
	if (connections->pools[side] == NULL)
		return;
	if (json_is_array(pools.json))
		for (size_t i = 0; i < count; i++) {
			struct config_node item = config_item(&pools, i);

			parse_named(connections, side, &item, random);
		}
	else if (config_is_object(&pools))
		parse_only(connections, side, &pools, random);
	for (unsigned i = 0; i < connections->nb_pools[side]; i++) {
		struct connection_pool *pool = &connections->pools[side][i];

		connection_pool_seed(pool, CONNECTION_SIDES * i + side);
		addresses += connection_range_size(pool->addresses);
	}
	if (addresses > CONNECTION_ADDRESSES_MAX)
		config_mistake(&pools, "expected at most %u addresses in all pools together",
			CONNECTION_ADDRESSES_MAX);
}

void connections_parse_pools(struct connections *connections, const struct config_node *node)
{
	bool random = config_choice(node, "order", orders, 0) == 1;

	for (unsigned side = 0; side < CONNECTION_SIDES; side++)
		parse_side(connections, side, node, random);
}

void connections_parse_choice(struct connections *connections, struct connection_template *template,
	const struct config_node *node)
{
	static const char *const keys[CONNECTION_SIDES] = {"client_pool", "server_pool"};

	for (unsigned side = 0; side < CONNECTION_SIDES; side++) {
		struct config_node child = config_child(node, keys[side]);
		const char *name = config_string(node, keys[side], "");
		const struct connection_pool *pool;

		template->pools[side] = connections->pools[side];
		if (name[0] == '\0')
			continue;
		pool = find_pool(connections, side, name);
		if (pool == NULL)
			config_mistake(
				&child, "expected the name of one of the %s", pool_keys[side]);
		else
			template->pools[side] += pool - connections->pools[side];
	}
}
