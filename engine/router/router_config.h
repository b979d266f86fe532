/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared helpers of the readers of the "router" object. */
#ifndef LINERATE_ROUTER_CONFIG_H
#define LINERATE_ROUTER_CONFIG_H

#include "core/config.h"
#include "router_order.h"

/* The keys of a path; a route or label has them itself, or a list of such objects in "paths". */
#define ROUTER_PATH_KEYS "via", "port", "weight", "out_labels"

/* Takes an order that the JSON gives; mistakes in it are reported at `node`. */
void router_take(const struct config_node *node, const struct router_order *order);
/* Each returns false after saying what is wrong. */
bool router_read_port(const struct config_node *node, struct router_order *order, bool required);
/* Takes the order once for each path that the object has. */
void router_read_paths(const struct config_node *node, const struct router_order *order);

#endif
