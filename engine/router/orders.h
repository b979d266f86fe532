/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The router's configuration, JSON or CLI, is a list of orders. Interfaces are set up while
 * it is read, so that a next hop on no subnet is a mistake in the file; the rest waits for
 * router_create().
 */
#ifndef LINERATE_ORDERS_H
#define LINERATE_ORDERS_H

#include "router_order.h"

/* Takes an order (a router_sink_t). Returns NULL, or what is wrong with it. */
const char *order_read(void *context, const struct router_order *order);
/* Checks that need all addresses; NULL when there is no mistake. */
const char *order_check(const struct router_order *order);
unsigned orders_count(void);
const struct router_order *order_at(unsigned index);

#endif
