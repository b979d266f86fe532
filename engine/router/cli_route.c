/* SPDX-License-Identifier: BSD-3-Clause */
/* ip route add | replace | del: as in VPP, what is added or deleted is a path. */
#include "cli_command.h"

static bool parse_route_add(struct cli_line *line, struct router_order *order)
{
	return cli_read_prefix(line, &order->address, &order->length) &&
	       cli_read_paths(line, order);
}

/* Not in VPP: one path in place of all that there were. */
static bool parse_route_replace(struct cli_line *line, struct router_order *order)
{
	return cli_read_prefix(line, &order->address, &order->length) &&
	       cli_read_word(line, "via") && cli_read_path(line, order);
}

/* Without a path all go, and the route with them. */
static bool parse_route_delete(struct cli_line *line, struct router_order *order)
{
	if (!cli_read_prefix(line, &order->address, &order->length))
		return false;
	order->one_path = !cli_at_end(line);
	return !order->one_path || cli_read_paths(line, order);
}

CLI_COMMAND(route_add, parse_route_add, ORDER_ROUTE_ADD, "ip", "route", "add")
CLI_COMMAND(route_replace, parse_route_replace, ORDER_ROUTE_REPLACE, "ip", "route", "replace")
CLI_COMMAND(route_delete, parse_route_delete, ORDER_ROUTE_DELETE, "ip", "route", "del")
