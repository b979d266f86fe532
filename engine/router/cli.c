/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include "cli_command.h"

#include <ctype.h>
#include <rte_debug.h>
#include <string.h>

static struct cli_command *commands[CLI_COMMANDS_MAX];
static unsigned nb_commands;

static int by_words(const struct cli_command *a, const struct cli_command *b)
{
	int order = 0;

	for (unsigned i = 0; i < CLI_COMMAND_WORDS_MAX && order == 0; i++) {
		if (a->words[i] == NULL || b->words[i] == NULL)
			return (a->words[i] != NULL) - (b->words[i] != NULL);
		order = strcmp(a->words[i], b->words[i]);
	}
	return order;
}

/* Kept in alphabetic order, so that messages about them do not depend on the linker. */
void cli_command_register(struct cli_command *command)
{
	unsigned place = nb_commands;

	if (nb_commands == CLI_COMMANDS_MAX)
		rte_panic("more than %d CLI commands\n", CLI_COMMANDS_MAX);
	for (; place > 0 && by_words(command, commands[place - 1]) < 0; place--)
		commands[place] = commands[place - 1];
	commands[place] = command;
	nb_commands++;
}

/* The different words that the commands still in question have at a place. */
static unsigned words_at(const bool *possible, unsigned place, const char **choices)
{
	unsigned count = 0;

	for (unsigned i = 0; i < nb_commands; i++) {
		const char *word = possible[i] ? commands[i]->words[place] : NULL;
		bool known = word == NULL;

		for (unsigned c = 0; c < count && !known; c++)
			known = strcmp(choices[c], word) == 0;
		if (!known)
			choices[count++] = word;
	}
	choices[count] = NULL;
	return count;
}

static const struct cli_command *read_command(struct cli_line *line)
{
	const char *choices[CLI_COMMANDS_MAX + 1];
	bool possible[CLI_COMMANDS_MAX];
	unsigned index = 0;

	memset(possible, true, sizeof(possible));
	for (unsigned place = 0; place < CLI_COMMAND_WORDS_MAX; place++) {
		if (words_at(possible, place, choices) == 0)
			break;
		if (!cli_read_choice(line, choices, &index))
			return NULL;
		for (unsigned i = 0; i < nb_commands; i++)
			if (possible[i] &&
				(commands[i]->words[place] == NULL ||
					strcmp(commands[i]->words[place], choices[index]) != 0))
				possible[i] = false;
	}
	for (unsigned i = 0; i < nb_commands; i++)
		if (possible[i])
			return commands[i];
	return NULL;
}

bool cli_take(const struct cli_line *line, const struct router_order *order)
{
	const char *wrong = line->sink(line->context, order);

	return wrong == NULL || cli_mistake(line, "%s", wrong);
}

static bool line_parse(struct cli_line *line)
{
	const struct cli_command *command;
	struct router_order order;

	if (line->nb_words == 0)
		return true;
	command = read_command(line);
	if (command == NULL)
		return false;
	memset(&order, 0, sizeof(order));
	order.kind = command->kind;
	order.line = line->number;
	if (!command->parse(line, &order))
		return false;
	if (!cli_at_end(line))
		return cli_expected(line, "the end of the line");
	return command->kind == ORDER_NOTHING || cli_take(line, &order);
}

/* Cuts [text, end) into words up to a comment. Bytes that cannot be shown become '?'. */
static bool line_split(struct cli_line *line, const char *text, const char *end)
{
	line->nb_words = line->next = 0;
	while (true) {
		size_t length = 0;
		char *word;

		while (text < end && isspace((unsigned char)*text))
			text++;
		if (text == end || *text == '#')
			return true;
		if (line->nb_words == CLI_WORDS_MAX)
			return cli_mistake(line, "more than %d words", CLI_WORDS_MAX);
		word = line->words[line->nb_words++];
		for (; text < end && !isspace((unsigned char)*text); text++) {
			if (length == CLI_WORD_BYTES - 1)
				return cli_mistake(
					line, "a word of more than %d letters", CLI_WORD_BYTES - 1);
			word[length++] = isgraph((unsigned char)*text) ? *text : '?';
		}
		word[length] = '\0';
	}
}

/*
 * `ip route add PREFIX via ADDRESS`, as files have it in millions of lines; false for all that
 * is written in another way.
 */
static bool plain_route(const char *text, const char *end, struct router_order *order)
{
	static const char add[] = "ip route add ", via[] = " via ";

	if ((size_t)(end - text) < sizeof(add) || memcmp(text, add, sizeof(add) - 1) != 0)
		return false;
	text = address_read_prefix(text + sizeof(add) - 1, end, &order->address, &order->length);
	if (text == NULL || (size_t)(end - text) < sizeof(via) ||
		memcmp(text, via, sizeof(via) - 1) != 0)
		return false;
	return address_read(text + sizeof(via) - 1, end, &order->via) == end;
}

unsigned cli_parse(const char *file, const char *text, size_t length, router_sink_t sink,
	void *context, FILE *complaints)
{
	struct cli_line line = {
		.file = file, .complaints = complaints, .sink = sink, .context = context};
	struct router_order route = {.kind = ORDER_ROUTE_ADD};
	const char *end = text + length;
	unsigned mistakes = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline == NULL ? end : newline;

		route.line = ++line.number;
		if (plain_route(text, line_end, &route))
			mistakes += !cli_take(&line, &route);
		else if (!line_split(&line, text, line_end) || !line_parse(&line))
			mistakes++;
		text = newline == NULL ? end : newline + 1;
	}
	return mistakes;
}
