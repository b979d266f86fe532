/* SPDX-License-Identifier: BSD-3-Clause */
#include "routes_file.h"

#include <string.h>

static const char *skip_space(const char *text, const char *end)
{
	while (text < end && (*text == ' ' || *text == '\t' || *text == '\r'))
		text++;
	return text;
}

/* After a field comes a space or the end of the line. */
static bool field_ends(const char *text, const char *end)
{
	return text != NULL &&
	       (text == end || *text == ' ' || *text == '\t' || *text == '\r' || *text == '#');
}

static const char *field_end(const char *text, const char *end)
{
	while (!field_ends(text, end))
		text++;
	return text;
}

static const char *read_port(const char *text, const char *end, struct router_order *order)
{
	const char *after = field_end(text, end);
	size_t length = (size_t)(after - text);

	if (length >= sizeof(order->interface) || memchr(text, '\0', length) != NULL)
		return NULL;
	memcpy(order->interface, text, length);
	order->interface[length] = '\0';
	return after;
}

/* Reads one line that is not empty. Returns NULL, or what is wrong with it. */
static const char *line_read(const char *text, const char *end, struct router_order *order)
{
	const char *after = address_read_prefix(text, end, &order->address, &order->length);

	if (!field_ends(after, end))
		return "expected a prefix such as 16.0.0.0/24 or 2001:db8::/32";
	text = skip_space(after, end);
	after = address_read(text, end, &order->via);
	if (!field_ends(after, end))
		return "expected a next hop such as 100.64.1.2 after the prefix";
	text = skip_space(after, end);
	order->interface[0] = '\0';
	if (text == end || *text == '#')
		return NULL;
	text = read_port(text, end, order);
	if (text == NULL)
		return "expected the name of an interface after the next hop";
	text = skip_space(text, end);
	return text == end || *text == '#' ? NULL : "expected the end of the line";
}

unsigned routes_file_parse(const char *file, const char *text, size_t length, router_sink_t sink,
	void *context, FILE *complaints)
{
	struct router_order order = {.kind = ORDER_ROUTE_ADD};
	const char *end = text + length;
	unsigned mistakes = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline == NULL ? end : newline, *wrong = NULL;

		order.line++;
		text = skip_space(text, line_end);
		if (text < line_end && *text != '#') {
			wrong = line_read(text, line_end, &order);
			if (wrong == NULL)
				wrong = sink(context, &order);
		}
		if (wrong != NULL && mistakes++ < ROUTES_FILE_COMPLAINTS)
			fprintf(complaints, "%s:%u: %s\n", file, order.line, wrong);
		text = newline == NULL ? end : newline + 1;
	}
	if (mistakes > ROUTES_FILE_COMPLAINTS)
		fprintf(complaints, "%s: and %u more mistakes\n", file,
			mistakes - ROUTES_FILE_COMPLAINTS);
	return mistakes;
}
