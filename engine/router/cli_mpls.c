/* SPDX-License-Identifier: BSD-3-Clause */
/* mpls table add, mpls local-label add | del */
#include "cli_command.h"

#include <string.h>

static bool read_label(struct cli_line *line, uint32_t *label)
{
	if (!cli_is_number(cli_peek(line), (1u << 20) - 1, label) || *label < 16)
		return cli_expected(line, "a label from 16 to 1048575");
	line->next++;
	return true;
}

/* There is one label table, 0. */
static bool parse_mpls_table(struct cli_line *line, __rte_unused struct router_order *order)
{
	uint32_t table;

	if (!cli_is_number(cli_peek(line), 0, &table))
		return cli_expected(line, "0, the only table");
	line->next++;
	return true;
}

static bool read_bottom(struct cli_line *line, struct router_order *order)
{
	static const char *const choices[] = {"eos", "non-eos", NULL};
	unsigned choice = 0;

	if (!cli_read_choice(line, choices, &choice))
		return false;
	order->on = choice == 0;
	return true;
}

/* "via ip4-lookup-in-table", or "via mpls-lookup-in-table" for one that is not the last. */
static bool is_lookup(const struct cli_line *line, const struct router_order *order)
{
	const char *word = line->next + 1 < line->nb_words ? line->words[line->next + 1] : "";

	if (!order->on)
		return strcmp(word, "mpls-lookup-in-table") == 0;
	/* The packet beneath the last label tells by its first nibble whether it is IPv4 or
	 * IPv6. */
	return strcmp(word, "ip4-lookup-in-table") == 0 || strcmp(word, "ip6-lookup-in-table") == 0;
}

static bool read_table_0(struct cli_line *line, struct router_order *order)
{
	order->lookup = true;
	if (!cli_read_word(line, "via"))
		return false;
	line->next++;
	return parse_mpls_table(line, order);
}

static bool parse_label_add(struct cli_line *line, struct router_order *order)
{
	if (!read_label(line, &order->number) || !read_bottom(line, order))
		return false;
	if (is_lookup(line, order))
		return read_table_0(line, order);
	return cli_read_paths(line, order);
}

/* Without a path all go, and the label with them; so it does with a lookup. */
static bool parse_label_delete(struct cli_line *line, struct router_order *order)
{
	if (!read_label(line, &order->number) || !read_bottom(line, order))
		return false;
	if (cli_at_end(line))
		return true;
	if (is_lookup(line, order))
		return read_table_0(line, order);
	order->one_path = true;
	return cli_read_paths(line, order);
}

CLI_COMMAND(mpls_table, parse_mpls_table, ORDER_NOTHING, "mpls", "table", "add")
CLI_COMMAND(label_add, parse_label_add, ORDER_LABEL_ADD, "mpls", "local-label", "add")
CLI_COMMAND(label_delete, parse_label_delete, ORDER_LABEL_DELETE, "mpls", "local-label", "del")
