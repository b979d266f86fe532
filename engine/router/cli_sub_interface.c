/* SPDX-License-Identifier: BSD-3-Clause */
/* create sub-interfaces PORT NUMBER [dot1q | dot1ad VLAN [inner-dot1q VLAN] exact-match] */
#include "cli_command.h"

static bool read_vlan(struct cli_line *line, uint16_t *vlan)
{
	uint32_t id;

	if (!cli_is_number(cli_peek(line), VLAN_ID_MAX, &id) || id == 0)
		return cli_expected(line, "a VLAN id from 1 to 4094");
	line->next++;
	*vlan = (uint16_t)id;
	return true;
}

/* In VPP too only a sub-interface with exact-match can route. */
static bool read_tags(struct cli_line *line, struct vlan_tags *tags)
{
	static const char *const types[] = {"dot1q", "dot1ad", NULL};
	static const char *const more[] = {"exact-match", "inner-dot1q", NULL};
	unsigned choice = 0;

	if (!cli_read_choice(line, types, &choice) || !read_vlan(line, &tags->outer))
		return false;
	tags->dot1ad = choice == 1;
	if (!cli_read_choice(line, more, &choice))
		return false;
	return choice == 0 || (read_vlan(line, &tags->inner) && cli_read_word(line, "exact-match"));
}

static bool parse_sub_interface(struct cli_line *line, struct router_order *order)
{
	if (!cli_read_interface(line, order))
		return false;
	if (!cli_is_number(cli_peek(line), UINT32_MAX, &order->number))
		return cli_expected(line, "a number, which is the VLAN id unless one follows");
	line->next++;
	if (!cli_at_end(line))
		return read_tags(line, &order->vlan);
	if (order->number == 0 || order->number > VLAN_ID_MAX)
		return cli_expected(line, "'dot1q' or 'dot1ad', as the number is no VLAN id");
	order->vlan.outer = (uint16_t)order->number;
	return true;
}

CLI_COMMAND(sub_interface, parse_sub_interface, ORDER_SUB_INTERFACE, "create", "sub-interfaces")
