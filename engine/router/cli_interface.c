/* SPDX-License-Identifier: BSD-3-Clause */
/* set interface state | ip address | mpls | mtu, enable ip6 interface */
#include "cli_command.h"

static bool parse_interface_state(struct cli_line *line, struct router_order *order)
{
	static const char *const choices[] = {"up", "down", NULL};
	unsigned choice = 0;

	if (!cli_read_interface(line, order) || !cli_read_choice(line, choices, &choice))
		return false;
	order->on = choice == 0;
	return true;
}

static bool parse_interface_address(struct cli_line *line, struct router_order *order)
{
	return cli_read_interface(line, order) &&
	       cli_read_prefix(line, &order->address, &order->length);
}

static bool parse_interface_mpls(struct cli_line *line, struct router_order *order)
{
	static const char *const choices[] = {"enable", "disable", NULL};
	unsigned choice = 0;

	if (!cli_read_interface(line, order) || !cli_read_choice(line, choices, &choice))
		return false;
	order->on = choice == 0;
	return true;
}

/* VPP has MTUs of ip4, ip6 and mpls too; here one is for all. */
static bool parse_interface_mtu(struct cli_line *line, struct router_order *order)
{
	if (!cli_is_number(cli_peek(line), UINT16_MAX, &order->number)) {
		if (!cli_read_word(line, "packet"))
			return false;
		if (!cli_is_number(cli_peek(line), UINT16_MAX, &order->number))
			return cli_expected(line, "an MTU such as 1500");
	}
	line->next++;
	return cli_read_interface(line, order);
}

static bool parse_interface_ip6(struct cli_line *line, struct router_order *order)
{
	order->on = true;
	return cli_read_interface(line, order);
}

CLI_COMMAND(
	interface_state, parse_interface_state, ORDER_INTERFACE_STATE, "set", "interface", "state")
CLI_COMMAND(interface_address, parse_interface_address, ORDER_INTERFACE_ADDRESS, "set", "interface",
	"ip", "address")
CLI_COMMAND(interface_mpls, parse_interface_mpls, ORDER_INTERFACE_MPLS, "set", "interface", "mpls")
CLI_COMMAND(interface_mtu, parse_interface_mtu, ORDER_INTERFACE_MTU, "set", "interface", "mtu")
CLI_COMMAND(interface_ip6, parse_interface_ip6, ORDER_INTERFACE_IP6, "enable", "ip6", "interface")
