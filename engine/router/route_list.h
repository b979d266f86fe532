/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The routes of the configuration, which may be millions, until router_create() puts them into
 * the tables: 16 bytes each.
 */
#ifndef LINERATE_ROUTE_LIST_H
#define LINERATE_ROUTE_LIST_H

#include "router_order.h"
#include "interface.h"

#include <stdbool.h>
#include <stdio.h>

/* Keeps the ORDER_ROUTE_ADD; `interface` NULL: that of the next hop. False without memory. */
bool route_list_keep(const struct router_order *order, const struct interface *interface);
unsigned route_list_count(void);
/* Checks that need all addresses, of the routes from `first` on; one line a mistake, 20 lines at
 * most. Returns the number of mistakes. */
unsigned route_list_check(unsigned first, const char *file, FILE *complaints);
/* Adds them to the tables. Returns 0, or -errno after saying why. */
int route_list_apply(unsigned first, unsigned count);
void route_list_free(void);

#endif
