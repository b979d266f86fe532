/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 64
#define WORDS_MAX 32
#define COMMAND_WORDS_MAX 4

/* One line, cut into words; `next` is the first that nobody has read yet. */
struct line {
	const char *file;
	unsigned number;
	FILE *complaints;
	unsigned nb_words, next;
	char words[WORDS_MAX][WORD_BYTES];
};

/* Each reads what follows the command's own words. */
typedef bool (*command_parse_t)(struct line *line, struct router_order *order);

struct command {
	const char *words[COMMAND_WORDS_MAX]; /* NULL-terminated unless full */
	command_parse_t parse;
	uint8_t kind;
};

static bool mistake(const struct line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool mistake(const struct line *line, const char *format, ...)
{
	va_list arguments;

	fprintf(line->complaints, "%s:%u: ", line->file, line->number);
	va_start(arguments, format);
	vfprintf(line->complaints, format, arguments);
	va_end(arguments);
	fputc('\n', line->complaints);
	return false;
}

/* The next word, or "" at the end of the line. */
static const char *peek(const struct line *line)
{
	return line->next < line->nb_words ? line->words[line->next] : "";
}

static bool expected(const struct line *line, const char *what)
{
	if (line->next < line->nb_words)
		return mistake(line, "expected %s, found '%s'", what, peek(line));
	return mistake(line, "expected %s, found the end of the line", what);
}

static bool at_end(const struct line *line)
{
	return line->next == line->nb_words;
}

static bool shortens(const char *word, const char *full)
{
	return word[0] != '\0' && strncmp(word, full, strlen(word)) == 0;
}

/* Reads one of the choices, or an unambiguous beginning of it, into its index. */
static bool read_choice(struct line *line, const char *const *choices, unsigned *index)
{
	const char *word = peek(line);
	char list[256] = "";
	unsigned found = 0;

	for (unsigned i = 0; choices[i] != NULL; i++) {
		strncat(list, i == 0 ? "'" : "', '", sizeof(list) - strlen(list) - 2);
		strncat(list, choices[i], sizeof(list) - strlen(list) - 2);
		if (strcmp(word, choices[i]) == 0) {
			*index = i;
			line->next++;
			return true;
		}
		if (shortens(word, choices[i])) {
			*index = i;
			found++;
		}
	}
	strcat(list, "'");
	if (found != 1)
		return expected(line, list);
	line->next++;
	return true;
}

static bool read_word(struct line *line, const char *word)
{
	const char *const choices[] = {word, NULL};
	unsigned index;

	return read_choice(line, choices, &index);
}

static bool is_address(const char *word, uint32_t *address)
{
	struct in_addr in;

	if (inet_pton(AF_INET, word, &in) != 1)
		return false;
	*address = ntohl(in.s_addr);
	return true;
}

static bool read_address(struct line *line, uint32_t *address)
{
	if (!is_address(peek(line), address))
		return expected(line, "an IPv4 address such as 100.64.1.2");
	line->next++;
	return true;
}

static bool is_number(const char *word, uint32_t max, uint32_t *number)
{
	uint64_t value = 0;

	if (word[0] == '\0')
		return false;
	for (; *word != '\0'; word++) {
		if (*word < '0' || *word > '9')
			return false;
		value = 10 * value + (uint64_t)(*word - '0');
		if (value > max)
			return false;
	}
	*number = (uint32_t)value;
	return true;
}

static bool read_prefix(struct line *line, uint32_t *prefix, uint8_t *length)
{
	char text[WORD_BYTES];
	uint32_t bits;
	char *slash;

	memcpy(text, peek(line), strlen(peek(line)) + 1);
	slash = strchr(text, '/');
	if (slash != NULL)
		*slash = '\0';
	if (slash == NULL || !is_address(text, prefix) || !is_number(slash + 1, 32, &bits))
		return expected(line, "an IPv4 prefix such as 16.0.0.0/24");
	*length = (uint8_t)bits;
	line->next++;
	return true;
}

static bool read_port(struct line *line, struct router_order *order)
{
	if (at_end(line) || strlen(peek(line)) >= sizeof(order->port))
		return expected(line, "the name of an interface");
	memcpy(order->port, peek(line), strlen(peek(line)) + 1);
	line->next++;
	return true;
}

static bool read_mac(struct line *line, struct rte_ether_addr *mac)
{
	if (rte_ether_unformat_addr(peek(line), mac) != 0)
		return expected(line, "a MAC address such as 50:7c:6f:20:30:70");
	line->next++;
	return true;
}

static bool read_label(struct line *line, uint32_t min, uint32_t *label)
{
	if (!is_number(peek(line), (1u << 20) - 1, label) || *label < min)
		return expected(line,
			min == 0 ? "a label from 0 to 1048575" : "a label from 16 to 1048575");
	line->next++;
	return true;
}

static bool parse_interface_state(struct line *line, struct router_order *order)
{
	static const char *const choices[] = {"up", "down", NULL};
	unsigned choice = 0;

	if (!read_port(line, order) || !read_choice(line, choices, &choice))
		return false;
	order->on = choice == 0;
	return true;
}

static bool parse_interface_address(struct line *line, struct router_order *order)
{
	return read_port(line, order) && read_prefix(line, &order->address, &order->length);
}

static bool parse_interface_mpls(struct line *line, struct router_order *order)
{
	static const char *const choices[] = {"enable", "disable", NULL};
	unsigned choice = 0;

	if (!read_port(line, order) || !read_choice(line, choices, &choice))
		return false;
	order->on = choice == 0;
	return true;
}

static bool parse_route_add(struct line *line, struct router_order *order)
{
	if (!read_prefix(line, &order->address, &order->length) || !read_word(line, "via") ||
		!read_address(line, &order->via))
		return false;
	return at_end(line) || read_port(line, order);
}

/* What follows the prefix names one of several next hops in VPP; here there is one. */
static bool parse_route_delete(struct line *line, struct router_order *order)
{
	if (!read_prefix(line, &order->address, &order->length))
		return false;
	if (at_end(line))
		return true;
	if (!read_word(line, "via") || !read_address(line, &order->via))
		return false;
	return at_end(line) || read_port(line, order);
}

static bool parse_neighbor(struct line *line, struct router_order *order)
{
	return read_port(line, order) && read_address(line, &order->address) &&
	       read_mac(line, &order->mac);
}

/* There is one label table, 0. */
static bool parse_mpls_table(struct line *line, struct router_order *order)
{
	uint32_t table;

	(void)order;
	if (!is_number(peek(line), 0, &table))
		return expected(line, "0, the only table");
	line->next++;
	return true;
}

static bool read_bottom(struct line *line, struct router_order *order)
{
	static const char *const choices[] = {"eos", "non-eos", NULL};
	unsigned choice = 0;

	if (!read_choice(line, choices, &choice))
		return false;
	order->on = choice == 0;
	return true;
}

static bool read_table_0(struct line *line, struct router_order *order)
{
	order->lookup = true;
	line->next++;
	return parse_mpls_table(line, order);
}

static bool parse_label_add(struct line *line, struct router_order *order)
{
	if (!read_label(line, 16, &order->address) || !read_bottom(line, order) ||
		!read_word(line, "via"))
		return false;
	if (strcmp(peek(line), order->on ? "ip4-lookup-in-table" : "mpls-lookup-in-table") == 0)
		return read_table_0(line, order);
	if (!read_address(line, &order->via))
		return false;
	if (!at_end(line) && strcmp(peek(line), "out-labels") != 0 && !read_port(line, order))
		return false;
	if (at_end(line))
		return true;
	if (!read_word(line, "out-labels"))
		return false;
	do {
		if (order->nb_labels == ADJACENCY_LABELS_MAX)
			return mistake(line, "at most %d out-labels", ADJACENCY_LABELS_MAX);
		if (!read_label(line, 0, &order->labels[order->nb_labels++]))
			return false;
	} while (!at_end(line));
	return true;
}

static bool parse_label_delete(struct line *line, struct router_order *order)
{
	if (!read_label(line, 16, &order->address) || !read_bottom(line, order))
		return false;
	line->next = line->nb_words; /* the next hop that it had does not matter */
	return true;
}

static const struct command commands[] = {
	{{"set", "interface", "state"}, parse_interface_state, ORDER_INTERFACE_STATE},
	{{"set", "interface", "ip", "address"}, parse_interface_address, ORDER_INTERFACE_ADDRESS},
	{{"set", "interface", "mpls"}, parse_interface_mpls, ORDER_INTERFACE_MPLS},
	{{"ip", "route", "add"}, parse_route_add, ORDER_ROUTE_ADD},
	{{"ip", "route", "del"}, parse_route_delete, ORDER_ROUTE_DELETE},
	{{"ip", "neighbor"}, parse_neighbor, ORDER_NEIGHBOR},
	{{"mpls", "table", "add"}, parse_mpls_table, ORDER_NOTHING},
	{{"mpls", "local-label", "add"}, parse_label_add, ORDER_LABEL_ADD},
	{{"mpls", "local-label", "del"}, parse_label_delete, ORDER_LABEL_DELETE},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* The different words that the commands still in question have at a place. */
static unsigned words_at(const bool *possible, unsigned place, const char **choices)
{
	unsigned count = 0;

	for (unsigned i = 0; i < COMMANDS; i++) {
		const char *word = possible[i] ? commands[i].words[place] : NULL;
		bool known = word == NULL;

		for (unsigned c = 0; c < count && !known; c++)
			known = strcmp(choices[c], word) == 0;
		if (!known)
			choices[count++] = word;
	}
	choices[count] = NULL;
	return count;
}

static const struct command *read_command(struct line *line)
{
	const char *choices[COMMANDS + 1];
	bool possible[COMMANDS];
	unsigned index = 0;

	memset(possible, true, sizeof(possible));
	for (unsigned place = 0; place < COMMAND_WORDS_MAX; place++) {
		if (words_at(possible, place, choices) == 0)
			break;
		if (!read_choice(line, choices, &index))
			return NULL;
		for (unsigned i = 0; i < COMMANDS; i++)
			if (possible[i] &&
				(commands[i].words[place] == NULL ||
					strcmp(commands[i].words[place], choices[index]) != 0))
				possible[i] = false;
	}
	for (unsigned i = 0; i < COMMANDS; i++)
		if (possible[i])
			return &commands[i];
	return NULL;
}

static bool line_parse(struct line *line, cli_sink_t sink, void *context)
{
	const struct command *command;
	struct router_order order;
	const char *wrong;

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
	if (!at_end(line))
		return expected(line, "the end of the line");
	wrong = command->kind == ORDER_NOTHING ? NULL : sink(context, &order);
	return wrong == NULL || mistake(line, "%s", wrong);
}

/* Cuts [text, end) into words up to a comment. Bytes that cannot be shown become '?'. */
static bool line_split(struct line *line, const char *text, const char *end)
{
	line->nb_words = line->next = 0;
	while (true) {
		size_t length = 0;
		char *word;

		while (text < end && isspace((unsigned char)*text))
			text++;
		if (text == end || *text == '#')
			return true;
		if (line->nb_words == WORDS_MAX)
			return mistake(line, "more than %d words", WORDS_MAX);
		word = line->words[line->nb_words++];
		for (; text < end && !isspace((unsigned char)*text); text++) {
			if (length == WORD_BYTES - 1)
				return mistake(
					line, "a word of more than %d letters", WORD_BYTES - 1);
			word[length++] = isgraph((unsigned char)*text) ? *text : '?';
		}
		word[length] = '\0';
	}
}

unsigned cli_parse(const char *file, const char *text, size_t length, cli_sink_t sink,
	void *context, FILE *complaints)
{
	struct line line = {.file = file, .complaints = complaints};
	const char *end = text + length;
	unsigned mistakes = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline == NULL ? end : newline;

		line.number++;
		if (!line_split(&line, text, line_end) || !line_parse(&line, sink, context))
			mistakes++;
		text = newline == NULL ? end : newline + 1;
	}
	return mistakes;
}
