/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Injected cost: before a frame enters the forwarding mode, node `burn-PORT` uses up cycles. So a
 * card without limits can have limits like those of real devices, of a known size.
 */
#ifndef LINERATE_BURN_H
#define LINERATE_BURN_H

#include "core/config.h"
#include "core/node.h"
#include "port/port.h"

/* One worker's, on a cache line of its own. */
struct burner {
	struct worker *worker;
	uint64_t next_pause; /* TSC; 0: never yet */
	int64_t debt;        /* cycles to be used up; below 0: too many were */
	bool ready;          /* its thread is set up for short sleeps */
} __rte_cache_aligned;

/* Reads the forwarder's "burn" object. */
void burn_parse(const struct config_node *node, unsigned workers);
bool burn_present(void);
/* Makes "burn-PORT", which sends on to the node `entry`, and writes its name to `entry`. Returns 0
 * or -errno. */
int burn_add_port(const struct port *port, char entry[RTE_NODE_NAMESIZE]);

/* For the node. The worker's burner, or NULL after saying why. */
struct burner *burn_burner(struct worker *worker);
/* Uses up the cycles for one call of the node with this number of packets. */
void burn_call(struct burner *burner, rte_node_t node, uint16_t packets);

#endif
