/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders that are printed as VPP's CLI text are read back as they were. */
#include "router/cli.h"
#include "test.h"

#include <arpa/inet.h>
#include <rte_byteorder.h>
#include <stdarg.h>

#define ROUNDS 20000u
#define LINE_BYTES 512

static unsigned seed = 1812;

static unsigned any(unsigned below)
{
	return (unsigned)rand_r(&seed) % below;
}

static uint32_t any_word(void)
{
	return (uint32_t)rand_r(&seed) << 16 ^ (uint32_t)rand_r(&seed);
}

struct line {
	char text[LINE_BYTES];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *line, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	line->length += (size_t)vsnprintf(
		line->text + line->length, sizeof(line->text) - line->length, format, arguments);
	va_end(arguments);
}

static const char *address_print(const struct ip_address *address)
{
	static char text[2][INET6_ADDRSTRLEN];
	static unsigned turn;
	char *to = text[turn++ % 2];
	uint32_t ip4 = rte_cpu_to_be_32(address->ip4);

	if (address->family == ADDRESS_IP4)
		inet_ntop(AF_INET, &ip4, to, sizeof(text[0]));
	else
		inet_ntop(AF_INET6, address->ip6, to, sizeof(text[0]));
	return to;
}

static void path_print(struct line *line, const struct router_order *order)
{
	if (order->lookup) {
		put(line, " via %s-lookup-in-table 0", order->on ? "ip4" : "mpls");
		return;
	}
	put(line, " via %s", address_print(&order->via));
	if (order->interface[0] != '\0')
		put(line, " %s", order->interface);
	if (order->weight != 0)
		put(line, " weight %u", order->weight);
	for (unsigned i = 0; i < order->nb_labels; i++)
		put(line, "%s %u", i == 0 ? " out-labels" : "", order->labels[i]);
}

static void route_print(struct line *line, const struct router_order *order, const char *verb)
{
	put(line, "ip route %s %s/%u", verb, address_print(&order->address), order->length);
	if (order->kind != ORDER_ROUTE_DELETE || order->one_path)
		path_print(line, order);
}

static void label_print(struct line *line, const struct router_order *order)
{
	put(line, "mpls local-label %s %u %s", order->kind == ORDER_LABEL_ADD ? "add" : "del",
		order->number, order->on ? "eos" : "non-eos");
	if (order->kind != ORDER_LABEL_DELETE || order->one_path)
		path_print(line, order);
}

static void order_print(struct line *line, const struct router_order *order)
{
	const uint8_t *mac = order->mac.addr_bytes;

	line->length = 0;
	switch (order->kind) {
	case ORDER_INTERFACE_STATE:
		put(line, "set interface state %s %s", order->interface, order->on ? "up" : "down");
		break;
	case ORDER_INTERFACE_ADDRESS:
		put(line, "set interface ip address %s %s/%u", order->interface,
			address_print(&order->address), order->length);
		break;
	case ORDER_INTERFACE_MPLS:
		put(line, "set interface mpls %s %s", order->interface,
			order->on ? "enable" : "disable");
		break;
	case ORDER_INTERFACE_MTU:
		put(line, "set interface mtu packet %u %s", order->number, order->interface);
		break;
	case ORDER_NEIGHBOR:
		put(line, "ip neighbor %s %s %02x:%02x:%02x:%02x:%02x:%02x", order->interface,
			address_print(&order->address), mac[0], mac[1], mac[2], mac[3], mac[4],
			mac[5]);
		break;
	case ORDER_ROUTE_ADD:
		route_print(line, order, "add");
		break;
	case ORDER_ROUTE_REPLACE:
		route_print(line, order, "replace");
		break;
	case ORDER_ROUTE_DELETE:
		route_print(line, order, "del");
		break;
	default:
		label_print(line, order);
	}
}

static struct ip_address any_address(unsigned family, unsigned length)
{
	struct ip_address address = {.family = (uint8_t)family};

	if (family == ADDRESS_IP4) {
		uint32_t mask = length == 0 ? 0 : UINT32_MAX << (32 - length);

		address.ip4 = any_word() & mask;
		return address;
	}
	for (unsigned bit = 0; bit < length; bit++)
		if (any(2) == 0)
			address.ip6[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	return address;
}

static void any_path(struct router_order *order, unsigned family, bool labels)
{
	order->via = any_address(family, family == ADDRESS_IP4 ? 32 : 128);
	if (any(2) == 0)
		order->interface[0] = '\0';
	if (any(2) == 0)
		order->weight = (uint16_t)(1 + any(255));
	if (!labels)
		return;
	order->nb_labels = (uint8_t)any(ADJACENCY_LABELS_MAX + 1);
	for (unsigned i = 0; i < order->nb_labels; i++)
		order->labels[i] = any_word() & 0xfffff;
}

/* An order that a line can say; deletions name a path by its next hop alone. */
static struct router_order any_order(void)
{
	static const uint8_t kinds[] = {ORDER_INTERFACE_STATE, ORDER_INTERFACE_ADDRESS,
		ORDER_INTERFACE_MPLS, ORDER_INTERFACE_MTU, ORDER_NEIGHBOR, ORDER_ROUTE_ADD,
		ORDER_ROUTE_REPLACE, ORDER_ROUTE_DELETE, ORDER_LABEL_ADD, ORDER_LABEL_DELETE};
	struct router_order order = {.kind = kinds[any(RTE_DIM(kinds))], .line = 1};
	unsigned family = any(2) == 0 ? ADDRESS_IP4 : ADDRESS_IP6;
	unsigned bits = family == ADDRESS_IP4 ? 32 : 128;

	snprintf(order.interface, sizeof(order.interface), "e%u", any(10));
	switch (order.kind) {
	case ORDER_INTERFACE_STATE:
	case ORDER_INTERFACE_MPLS:
		order.on = any(2) == 0;
		break;
	case ORDER_INTERFACE_ADDRESS:
		order.length = (uint8_t)(1 + any(bits));
		order.address = any_address(family, bits);
		break;
	case ORDER_INTERFACE_MTU:
		order.number = 68 + any(9000);
		break;
	case ORDER_NEIGHBOR:
		order.address = any_address(family, bits);
		for (unsigned i = 0; i < RTE_ETHER_ADDR_LEN; i++)
			order.mac.addr_bytes[i] = (uint8_t)any(256);
		break;
	case ORDER_ROUTE_ADD:
	case ORDER_ROUTE_REPLACE:
	case ORDER_ROUTE_DELETE:
		order.length = (uint8_t)any(bits + 1);
		order.address = any_address(family, order.length);
		order.one_path = order.kind == ORDER_ROUTE_DELETE && any(2) == 0;
		break;
	default:
		order.number = 16 + any(1000000);
		order.on = any(2) == 0;
		order.lookup = order.kind == ORDER_LABEL_ADD && any(4) == 0;
		order.one_path = order.kind == ORDER_LABEL_DELETE && any(2) == 0;
	}
	if (order.kind == ORDER_ROUTE_ADD || order.kind == ORDER_ROUTE_REPLACE || order.one_path ||
		(order.kind == ORDER_LABEL_ADD && !order.lookup))
		any_path(&order, order.number != 0 ? ADDRESS_IP4 : family,
			!order.one_path && (order.number != 0 || family == ADDRESS_IP4));
	else if (order.kind >= ORDER_ROUTE_ADD && order.kind != ORDER_NEIGHBOR)
		order.interface[0] = '\0';
	if (order.one_path)
		order.weight = 0;
	return order;
}

static bool same_address(const struct ip_address *one, const struct ip_address *other)
{
	if (one->family != other->family)
		return false;
	if (one->family == ADDRESS_IP4)
		return one->ip4 == other->ip4;
	return one->family == ADDRESS_NONE || memcmp(one->ip6, other->ip6, IP6_BYTES) == 0;
}

static bool same_order(const struct router_order *one, const struct router_order *other)
{
	return one->kind == other->kind && one->length == other->length && one->on == other->on &&
	       one->lookup == other->lookup && one->one_path == other->one_path &&
	       one->weight == other->weight && one->number == other->number &&
	       one->line == other->line && one->nb_labels == other->nb_labels &&
	       memcmp(one->labels, other->labels, one->nb_labels * sizeof(one->labels[0])) == 0 &&
	       memcmp(&one->mac, &other->mac, sizeof(one->mac)) == 0 &&
	       strcmp(one->interface, other->interface) == 0 &&
	       same_address(&one->address, &other->address) && same_address(&one->via, &other->via);
}

struct readings {
	struct router_order last;
	unsigned count;
};

static const char *keep(void *context, const struct router_order *order)
{
	struct readings *readings = context;

	readings->last = *order;
	readings->count++;
	return NULL;
}

static void printed_and_read(void)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct router_order order = any_order();
		struct readings readings = {0};
		struct line line;

		order_print(&line, &order);
		CHECK_EQUAL(
			cli_parse("printed", line.text, line.length, keep, &readings, stderr), 0);
		CHECK_EQUAL(readings.count, 1);
		if (!same_order(&readings.last, &order)) {
			fprintf(stderr, "read in another way than printed: %s\n", line.text);
			CHECK(false);
			return;
		}
	}
}

static const struct test_case cases[] = {
	{"orders are printed and read", printed_and_read},
};
TEST_MAIN(cases)
