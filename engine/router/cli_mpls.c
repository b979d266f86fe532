/* SPDX-License-Identifier: BSD-3-Clause */
/* mpls table add, mpls local-label add | del */
#include "cli_command.h"

#include <string.h>

static bool read_label(struct cli_line *line, uint32_t min, uint32_t *label)
{
	if (!cli_is_number(cli_peek(line), (1u << 20) - 1, label) || *label < min)
		return cli_expected(line,
			min == 0 ? "a label from 0 to 1048575" : "a label from 16 to 1048575");
	line->next++;
	return true;
}

/* There is one label table, 0. */
static bool parse_mpls_table(struct cli_line *line, struct router_order *order)
{
	uint32_t table;

	(void)order;
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

static bool read_table_0(struct cli_line *line, struct router_order *order)
{
	order->lookup = true;
	line->next++;
	return parse_mpls_table(line, order);
}

static bool parse_label_add(struct cli_line *line, struct router_order *order)
{
	if (!read_label(line, 16, &order->address) || !read_bottom(line, order) ||
		!cli_read_word(line, "via"))
		return false;
	if (strcmp(cli_peek(line), order->on ? "ip4-lookup-in-table" : "mpls-lookup-in-table") == 0)
		return read_table_0(line, order);
	if (!cli_read_ip4(line, &order->via))
		return false;
	if (!cli_at_end(line) && strcmp(cli_peek(line), "out-labels") != 0 &&
		!cli_read_interface(line, order))
		return false;
	if (cli_at_end(line))
		return true;
	if (!cli_read_word(line, "out-labels"))
		return false;
	do {
		if (order->nb_labels == ADJACENCY_LABELS_MAX)
			return cli_mistake(line, "at most %d out-labels", ADJACENCY_LABELS_MAX);
		if (!read_label(line, 0, &order->labels[order->nb_labels++]))
			return false;
	} while (!cli_at_end(line));
	return true;
}

static bool parse_label_delete(struct cli_line *line, struct router_order *order)
{
	if (!read_label(line, 16, &order->address) || !read_bottom(line, order))
		return false;
	line->next = line->nb_words; /* the next hop that it had does not matter */
	return true;
}

CLI_COMMAND(mpls_table, parse_mpls_table, ORDER_NOTHING, "mpls", "table", "add")
CLI_COMMAND(label_add, parse_label_add, ORDER_LABEL_ADD, "mpls", "local-label", "add")
CLI_COMMAND(label_delete, parse_label_delete, ORDER_LABEL_DELETE, "mpls", "local-label", "del")
