/* SPDX-License-Identifier: BSD-3-Clause */
/* The MAC address of a neighbour of a tester port, asked for by ARP or neighbour discovery. */
#ifndef LINERATE_RESOLVE_H
#define LINERATE_RESOLVE_H

#include "core/ip_address.h"
#include "port/port.h"
#include "responder_frame.h"

#include <rte_ether.h>

#define RESOLVE_WHY_BYTES 256

struct resolved {
	struct rte_ether_addr mac;
	unsigned requests; /* that were sent until it answered */
};

/*
 * Asks up to three times and waits for the answer, 1.5 s in all; between trials only. `tags` are
 * NULL where the address tells which of the port's subnets it is on. Returns NULL, or why there is
 * no answer, which may be in `why`.
 */
const char *resolve(struct port *port, const struct ip_address *neighbor,
	const struct host_tags *tags, struct resolved *resolved, char why[RESOLVE_WHY_BYTES]);

/* A neighbour that answered. */
struct neighbor {
	struct port *port;
	struct ip_address address;
	struct host_tags tags;
	struct rte_ether_addr mac;
	uint64_t tsc; /* of the answer */
};
#define NEIGHBORS_MAX 256

/* Copies those of all ports, the latest answer of each. Returns their number. */
unsigned resolved_neighbors(struct neighbor neighbors[NEIGHBORS_MAX]);

#endif
