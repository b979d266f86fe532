/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding mode `router`: how its parts are put together. */
#ifndef LINERATE_ROUTER_H
#define LINERATE_ROUTER_H

#include "core/config.h"
#include "core/node.h"
#include "router_order.h"
#include "neighbor.h"

/* Reads the "router" object, and the CLI text that it names: orders for router_create(). */
void router_parse(const struct config_node *node);
/* Carries one order out while the router runs. Returns 0 or -errno. */
int router_apply(const struct router_order *order);
/* The same for a line of the CLI (a router_sink_t): NULL, or what is wrong with it. */
const char *router_change(void *context, const struct router_order *order);
/* Tables, adjacencies and edges; then the orders of the configuration. */
int router_create(void);
/* Each makes the mbuf the request: ARP, or a neighbour solicitation. */
void arp_request_fill(struct rte_mbuf *mbuf, const struct neighbor_request *request);
void nd_solicitation_fill(struct rte_mbuf *mbuf, const struct neighbor_request *request);
/* Sends the request by the node's edge to interface-output, unless the interface is down or
 * there is no buffer: neighbor-timer asks again in a second. */
void neighbor_request_send(struct rte_graph *graph, struct rte_node *node, rte_edge_t edge,
	const struct neighbor_request *request);

#endif
