/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain file of routes, each line also read in the slow way of the C library. */
#include "router/routes_file.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The routes that the file has by the C library, in the order of their lines. */
static struct router_order *wanted;
static unsigned nb_wanted, nb_seen, nb_wrong;

static bool slow_address(const char *text, struct ip_address *address)
{
	struct in6_addr in6;
	struct in_addr in;

	if (inet_pton(AF_INET, text, &in) == 1)
		*address = address_ip4(ntohl(in.s_addr));
	else if (inet_pton(AF_INET6, text, &in6) == 1)
		*address = address_ip6(in6.s6_addr);
	else
		return false;
	return true;
}

/* Without leading zeros: inet_pton() says how numbers look. */
static bool slow_prefix(char *text, struct ip_address *address, uint8_t *length)
{
	char *slash = strchr(text, '/'), again[24];
	long bits;

	if (slash == NULL)
		return false;
	*slash = '\0';
	bits = strtol(slash + 1, NULL, 10);
	snprintf(again, sizeof(again), "%ld", bits);
	if (!slow_address(text, address) || strcmp(again, slash + 1) != 0 || bits < 0 ||
		bits > (address->family == ADDRESS_IP6 ? 128 : 32))
		return false;
	*length = (uint8_t)bits;
	return true;
}

static void slow_line(char *text, unsigned number)
{
	struct router_order *order = &wanted[nb_wanted];
	char *rest, *prefix = strtok_r(text, " \t\r", &rest), *via, *port;

	if (prefix == NULL)
		return;
	via = strtok_r(NULL, " \t\r", &rest);
	port = strtok_r(NULL, " \t\r", &rest);
	if (via == NULL || !slow_prefix(prefix, &order->address, &order->length) ||
		!slow_address(via, &order->via) ||
		(port != NULL && (strlen(port) >= INTERFACE_NAME_BYTES ||
					 strtok_r(NULL, " \t\r", &rest) != NULL))) {
		nb_wrong++;
		return;
	}
	order->line = number;
	snprintf(order->interface, sizeof(order->interface), "%s", port == NULL ? "" : port);
	nb_wanted++;
}

static const char *take(void *context, const struct router_order *order)
{
	const struct router_order *other = &wanted[nb_seen++];

	(void)context;
	if (nb_seen > nb_wanted || order->kind != ORDER_ROUTE_ADD ||
		!address_same(&order->address, &other->address) || order->length != other->length ||
		!address_same(&order->via, &other->via) || order->line != other->line ||
		strcmp(order->interface, other->interface) != 0)
		abort();
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	unsigned lines = 1, number = 1;
	char *text = malloc(size + 1), *line = text, *newline;

	if (nowhere == NULL)
		nowhere = fopen("/dev/null", "we");
	for (size_t i = 0; i < size; i++) {
		lines += data[i] == '\n';
		if (data[i] == '\0') {
			free(text);
			return 0; /* the slow way would end here */
		}
	}
	memcpy(text, data, size);
	text[size] = '\0';
	wanted = calloc(lines, sizeof(*wanted));
	nb_wanted = nb_seen = nb_wrong = 0;
	for (; line != NULL; line = newline, number++) {
		newline = strchr(line, '\n');
		if (newline != NULL)
			*newline++ = '\0';
		line[strcspn(line, "#")] = '\0';
		slow_line(line, number);
	}
	if (routes_file_parse("fuzz", (const char *)data, size, take, NULL, nowhere) != nb_wrong ||
		nb_seen != nb_wanted)
		abort();
	free(wanted);
	free(text);
	return 0;
}
