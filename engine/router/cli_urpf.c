/* SPDX-License-Identifier: BSD-3-Clause */
/* set urpf ip4 rx off | loose | strict INTERFACE */
#include "cli_command.h"

static bool parse_urpf(struct cli_line *line, struct router_order *order)
{
	static const char *const choices[] = {"off", "loose", "strict", NULL};
	unsigned choice = 0;

	if (!cli_read_word(line, "rx") || !cli_read_choice(line, choices, &choice))
		return false;
	order->urpf = (uint8_t)choice;
	return cli_read_interface(line, order);
}

CLI_COMMAND(urpf, parse_urpf, ORDER_INTERFACE_URPF, "set", "urpf", "ip4")
