/* SPDX-License-Identifier: BSD-3-Clause */
/* The paths of a route or label: via ADDRESS [INTERFACE] [weight N] [out-labels N ...] */
#include "cli_command.h"

#include "load_balance.h"

#include <string.h>

#define LABELS (1u << 20)

static bool is_word(const struct cli_line *line, const char *word)
{
	return strcmp(cli_peek(line), word) == 0;
}

static bool read_weight(struct cli_line *line, struct router_order *order)
{
	uint32_t weight;

	if (!cli_is_number(cli_peek(line), LOAD_BALANCE_WEIGHT_MAX, &weight) || weight == 0)
		return cli_expected(line, "a weight from 1 to 255");
	order->weight = (uint16_t)weight;
	line->next++;
	return true;
}

static bool read_out_labels(struct cli_line *line, struct router_order *order)
{
	uint32_t label;

	if (!cli_is_number(cli_peek(line), LABELS - 1, &label))
		return cli_expected(line, "a label from 0 to 1048575");
	for (; cli_is_number(cli_peek(line), LABELS - 1, &label); line->next++) {
		if (order->nb_labels == ADJACENCY_LABELS_MAX)
			return cli_mistake(line, "at most %d out-labels", ADJACENCY_LABELS_MAX);
		order->labels[order->nb_labels++] = label;
	}
	return true;
}

bool cli_read_path(struct cli_line *line, struct router_order *order)
{
	order->interface[0] = '\0';
	order->weight = 0;
	order->nb_labels = 0;
	if (!cli_read_address(line, &order->via))
		return false;
	if (!cli_at_end(line) && !is_word(line, "via") && !is_word(line, "weight") &&
		!is_word(line, "out-labels") && !cli_read_interface(line, order))
		return false;
	while (!cli_at_end(line) && !is_word(line, "via")) {
		static const char *const choices[] = {"weight", "out-labels", "via", NULL};
		unsigned choice = 0;

		if (!cli_read_choice(line, choices, &choice))
			return false;
		if (choice == 2) {
			line->next--;
			break;
		}
		if (!(choice == 0 ? read_weight(line, order) : read_out_labels(line, order)))
			return false;
	}
	return true;
}

bool cli_read_paths(struct cli_line *line, struct router_order *order)
{
	while (true) {
		if (!cli_read_word(line, "via") || !cli_read_path(line, order))
			return false;
		if (cli_at_end(line))
			return true;
		if (!cli_take(line, order))
			return false;
	}
}
