/* SPDX-License-Identifier: BSD-3-Clause */
#include "routes_file.h"

#include "route_text.h"

#include <arpa/inet.h>
#include <string.h>

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

/* Reads the field up to `after` as IPv6: most lines are IPv4. */
static bool field_ip6(const char *text, const char *after, struct ip_address *address)
{
	char field[INET6_ADDRSTRLEN];
	size_t length = (size_t)(after - text);

	if (length >= sizeof(field))
		return false;
	memcpy(field, text, length);
	field[length] = '\0';
	address->family = ADDRESS_IP6;
	return strlen(field) == length && inet_pton(AF_INET6, field, address->ip6) == 1;
}

static const char *read_prefix(const char *text, const char *end, struct router_order *order)
{
	const char *after = route_text_prefix(text, end, &order->address.ip4, &order->length);
	const char *slash;
	uint32_t length = 0;

	order->address.family = ADDRESS_IP4;
	if (field_ends(after, end))
		return after;
	after = field_end(text, end);
	slash = memchr(text, '/', (size_t)(after - text));
	if (slash == NULL || !field_ip6(text, slash, &order->address) ||
		route_text_number(slash + 1, after, 128, &length) != after)
		return NULL;
	order->length = (uint8_t)length;
	return after;
}

static const char *read_next_hop(const char *text, const char *end, struct ip_address *via)
{
	const char *after = route_text_address(text, end, &via->ip4);

	via->family = ADDRESS_IP4;
	if (field_ends(after, end))
		return after;
	after = field_end(text, end);
	return field_ip6(text, after, via) ? after : NULL;
}

/* Reads one line that is not empty. Returns NULL, or what is wrong with it. */
static const char *line_read(const char *text, const char *end, struct router_order *order)
{
	const char *after = read_prefix(text, end, order);

	if (after == NULL)
		return "expected a prefix such as 16.0.0.0/24 or 2001:db8::/32";
	text = route_text_space(after, end);
	after = read_next_hop(text, end, &order->via);
	if (after == NULL)
		return "expected a next hop such as 100.64.1.2 after the prefix";
	text = route_text_space(after, end);
	order->interface[0] = '\0';
	if (text == end || *text == '#')
		return NULL;
	text = read_port(text, end, order);
	if (text == NULL)
		return "expected the name of an interface after the next hop";
	text = route_text_space(text, end);
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
		text = route_text_space(text, line_end);
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
