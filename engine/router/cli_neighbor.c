/* SPDX-License-Identifier: BSD-3-Clause */
/* ip neighbor */
#include "cli_command.h"

static bool parse_neighbor(struct cli_line *line, struct router_order *order)
{
	return cli_read_interface(line, order) && cli_read_address(line, &order->address) &&
	       cli_read_mac(line, &order->mac);
}

CLI_COMMAND(neighbor, parse_neighbor, ORDER_NEIGHBOR, "ip", "neighbor")
