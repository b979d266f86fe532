/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli_command.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool cli_mistake(const struct cli_line *line, const char *format, ...)
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
const char *cli_peek(const struct cli_line *line)
{
	return line->next < line->nb_words ? line->words[line->next] : "";
}

bool cli_expected(const struct cli_line *line, const char *what)
{
	if (line->next < line->nb_words)
		return cli_mistake(line, "expected %s, found '%s'", what, cli_peek(line));
	return cli_mistake(line, "expected %s, found the end of the line", what);
}

bool cli_at_end(const struct cli_line *line)
{
	return line->next == line->nb_words;
}

static bool shortens(const char *word, const char *full)
{
	return word[0] != '\0' && strncmp(word, full, strlen(word)) == 0;
}

/* Reads one of the choices, or an unambiguous beginning of it, into its index. */
bool cli_read_choice(struct cli_line *line, const char *const *choices, unsigned *index)
{
	const char *word = cli_peek(line);
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
		return cli_expected(line, list);
	line->next++;
	return true;
}

bool cli_read_word(struct cli_line *line, const char *word)
{
	const char *const choices[] = {word, NULL};
	unsigned index;

	return cli_read_choice(line, choices, &index);
}

bool cli_read_address(struct cli_line *line, struct ip_address *address)
{
	const char *word = cli_peek(line), *end = word + strlen(word);

	if (address_read(word, end, address) != end)
		return cli_expected(line, "an address such as 100.64.1.2 or 2001:db8::2");
	line->next++;
	return true;
}

bool cli_is_number(const char *word, uint32_t max, uint32_t *number)
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

bool cli_read_prefix(struct cli_line *line, struct ip_address *prefix, uint8_t *length)
{
	const char *word = cli_peek(line), *end = word + strlen(word);

	if (address_read_prefix(word, end, prefix, length) != end)
		return cli_expected(line, "a prefix such as 16.0.0.0/24 or 2001:db8::/32");
	line->next++;
	return true;
}

bool cli_read_interface(struct cli_line *line, struct router_order *order)
{
	if (cli_at_end(line) || strlen(cli_peek(line)) >= sizeof(order->interface))
		return cli_expected(line, "the name of an interface");
	memcpy(order->interface, cli_peek(line), strlen(cli_peek(line)) + 1);
	line->next++;
	return true;
}

bool cli_read_mac(struct cli_line *line, struct rte_ether_addr *mac)
{
	if (rte_ether_unformat_addr(cli_peek(line), mac) != 0)
		return cli_expected(line, "a MAC address such as 50:7c:6f:20:30:70");
	line->next++;
	return true;
}
