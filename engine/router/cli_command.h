/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command of the router's CLI: its words, and a function that reads the following ones into an
 * order. One file a family of commands, each of which registers itself.
 */
#ifndef LINERATE_CLI_COMMAND_H
#define LINERATE_CLI_COMMAND_H

#include "router_order.h"

#include <rte_common.h>
#include <stdio.h>

#define CLI_WORD_BYTES 64
#define CLI_WORDS_MAX 128
#define CLI_COMMAND_WORDS_MAX 5
#define CLI_COMMANDS_MAX 64

/* One line, cut into words; `next` is the first unread one. */
struct cli_line {
	const char *file;
	unsigned number;
	FILE *complaints;
	router_sink_t sink;
	void *context;
	unsigned nb_words, next;
	char words[CLI_WORDS_MAX][CLI_WORD_BYTES];
};

struct cli_command {
	const char *words[CLI_COMMAND_WORDS_MAX]; /* NULL-terminated unless full */
	/* Reads the rest of the line; false after saying what is wrong. */
	bool (*parse)(struct cli_line *line, struct router_order *order);
	uint8_t kind; /* enum router_order_kind */
	struct cli_command *link;
};

void cli_command_register(struct cli_command *command);
#define CLI_COMMAND(name, function, order_kind, ...) \
	static struct cli_command name##_command = { \
		.words = {__VA_ARGS__}, .parse = function, .kind = order_kind}; \
	RTE_INIT(cli_command_register_##name) \
	{ \
		cli_command_register(&name##_command); \
	}

/* Says what is wrong with the line; returns false. */
bool cli_mistake(const struct cli_line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The next word, or "" at the end of the line. */
const char *cli_peek(const struct cli_line *line);
bool cli_at_end(const struct cli_line *line);
/* Says that `what` was expected and what stands there instead; returns false. */
bool cli_expected(const struct cli_line *line, const char *what);
/* Hands an order over, for commands that make several of one line. */
bool cli_take(const struct cli_line *line, const struct router_order *order);

/* Each reads one word, or says what was expected and returns false. A choice, NULL-terminated,
 * may be shortened as long as it stays unambiguous. */
bool cli_read_choice(struct cli_line *line, const char *const *choices, unsigned *index);
bool cli_read_word(struct cli_line *line, const char *word);
bool cli_read_address(struct cli_line *line, struct ip_address *address);
bool cli_read_prefix(struct cli_line *line, struct ip_address *prefix, uint8_t *length);
bool cli_read_interface(struct cli_line *line, struct router_order *order);
/* Reads the words after "via": next hop, interface, weight, out-labels; all but the first may be
 * left out. */
bool cli_read_path(struct cli_line *line, struct router_order *order);
/* "via" and a path, again and again up to the end of the line; all but the last are handed over
 * as orders of their own. */
bool cli_read_paths(struct cli_line *line, struct router_order *order);
bool cli_read_mac(struct cli_line *line, struct rte_ether_addr *mac);
/* The word is a decimal number up to `max`. */
bool cli_is_number(const char *word, uint32_t max, uint32_t *number);

#endif
