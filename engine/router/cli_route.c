/* SPDX-License-Identifier: BSD-3-Clause */
/* ip route add | del */
#include "cli_command.h"

static bool parse_route_add(struct cli_line *line, struct router_order *order)
{
	if (!cli_read_ip4_prefix(line, &order->address, &order->length) ||
		!cli_read_word(line, "via") || !cli_read_ip4(line, &order->via))
		return false;
	return cli_at_end(line) || cli_read_interface(line, order);
}

/* What follows the prefix names one of several next hops in VPP; here there is one. */
static bool parse_route_delete(struct cli_line *line, struct router_order *order)
{
	if (!cli_read_ip4_prefix(line, &order->address, &order->length))
		return false;
	if (cli_at_end(line))
		return true;
	if (!cli_read_word(line, "via") || !cli_read_ip4(line, &order->via))
		return false;
	return cli_at_end(line) || cli_read_interface(line, order);
}

CLI_COMMAND(route_add, parse_route_add, ORDER_ROUTE_ADD, "ip", "route", "add")
CLI_COMMAND(route_delete, parse_route_delete, ORDER_ROUTE_DELETE, "ip", "route", "del")
