/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints of connections: clients and servers of pools, in turn or drawn at random, and client
 * ports in turn. A client's port belongs to one living connection at a time, whatever pool its
 * address is of, so that no two of them share addresses and ports. The ports in use are in a hash
 * set of fixed size: open addressing, and removal closes the gap, so that it never has to be
 * cleaned.
 */
#ifndef LINERATE_CONNECTION_POOL_H
#define LINERATE_CONNECTION_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* Ports that are tried for one connection before it is not started. */
#define CONNECTION_PORT_TRIES 64
/* Total of all pools of a side. */
#define CONNECTION_ADDRESSES_MAX (1u << 24)
#define CONNECTION_POOLS_MAX 1024

/* Inclusive, host order. */
struct connection_range {
	uint32_t min, max;
};

/* Host order. */
struct connection_ends {
	uint32_t client, server;
	uint16_t port;
};

/* Addresses of one side. */
struct connection_pool {
	struct connection_range addresses;
	bool random;
	uint32_t next; /* from the range's minimum on */
	uint64_t seed;
	uint16_t *next_port;        /* of each client, from the range's minimum on */
	uint64_t nb_used, nb_ports; /* of its clients together: in use, and that there are */
	char name[64];
};

/* The ports of all clients. */
struct connection_ports {
	struct connection_range range;
	uint64_t *used; /* client and port, plus one; 0: empty */
	uint64_t mask;
	uint64_t nb_used;
};

static inline uint32_t connection_range_size(struct connection_range range)
{
	return range.max - range.min + 1;
}

/* The `index`th pool draws another sequence than any other's. */
void connection_pool_seed(struct connection_pool *pool, unsigned index);
/* With the range set: a table for a pool of clients that have `ports`. Returns 0 or -ENOMEM. */
int connection_pool_create(struct connection_pool *pool, struct connection_range ports);
void connection_pool_free(struct connection_pool *pool);
/* The next one's address, host order. */
uint32_t connection_pool_address(struct connection_pool *pool);

/* With the range set: for this number of living connections. Returns 0 or -ENOMEM. */
int connection_ports_create(struct connection_ports *ports, uint32_t connections);
void connection_ports_free(struct connection_ports *ports);
/* All are free again, but for what pools know of theirs; which comes next stays. */
void connection_ports_clear(struct connection_ports *ports);
/*
 * Takes a port of ends->client, or when it has none of the clients of its pool that follow.
 * Returns false when none is free, or none of the CONNECTION_PORT_TRIES that come next. At most as
 * many as the table was created for may be taken at a time.
 */
bool connection_ports_take(
	struct connection_ports *ports, struct connection_pool *pool, struct connection_ends *ends);
void connection_ports_give_back(struct connection_ports *ports, struct connection_pool *pool,
	uint32_t client, uint16_t port);

#endif
