/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding mode `router`: how its parts are put together. */
#ifndef LINERATE_ROUTER_H
#define LINERATE_ROUTER_H

#include "../config.h"
#include "../node/node.h"
#include "cli.h"

/* Reads the "router" object, and the CLI text that it names: orders for router_create(). */
void router_parse(const struct config_node *node);
/* Carries one order out while the router runs. Returns 0 or -errno. */
int router_apply(const struct router_order *order);
/* The same for a line of the CLI (a cli_sink_t): NULL, or what is wrong with it. */
const char *router_change(void *context, const struct router_order *order);
/* Tables, adjacencies and edges; then the orders of the configuration. */
int router_create(void);
/* ip4-arp's state on a worker, who counts there what it holds and lets go. */
struct node_state *ip4_arp_state(const struct worker *worker);
/* Fills the mbuf with an ARP request; returns false when the interface is down. */
bool arp_request_fill(struct rte_mbuf *mbuf, uint16_t interface, uint32_t target);

#endif
