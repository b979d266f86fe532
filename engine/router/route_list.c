/* SPDX-License-Identifier: BSD-3-Clause */
#include "route_list.h"

#include "routes.h"

#include <stdlib.h>
#include <string.h>

#define COMPLAINTS_MAX 20

struct route {
	uint32_t prefix, via; /* host order */
	unsigned line;
	uint16_t interface; /* its number plus one; 0: that of the next hop */
	uint8_t length;
};

static struct route *list;
static unsigned nb_routes, max_routes;

/* Next hops are few: what was found out of the last ones. */
#define MEMO_ENTRIES 256u
struct memo {
	bool known;
	uint16_t number;
	uint32_t via;
	struct interface *interface;
	const char *wrong;
};

bool route_list_keep(const struct router_order *order, const struct interface *interface)
{
	if (nb_routes == max_routes) {
		unsigned max = max_routes == 0 ? 1024 : 2 * max_routes;
		struct route *more = realloc(list, max * sizeof(*list));

		if (more == NULL)
			return false;
		list = more;
		max_routes = max;
	}
	list[nb_routes++] = (struct route){
		.prefix = order->address.ip4,
		.via = order->via.ip4,
		.line = order->line,
		.interface = (uint16_t)(interface == NULL ? 0 : interface->index + 1),
		.length = order->length,
	};
	return true;
}

unsigned route_list_count(void)
{
	return nb_routes;
}

static const char *next_hop_check(const struct interface *interface, uint32_t via)
{
	if (interface_owner(via) != NULL)
		return "the next hop is the router itself";
	if (interface == NULL)
		return "the next hop is on no interface's subnet, and no interface is named";
	return NULL;
}

static const char *prefix_check(uint32_t prefix, uint8_t length)
{
	return interfaces_have(prefix, length)
		       ? "the prefix is an interface's own subnet or address"
		       : NULL;
}

static const struct memo *memo_of(struct memo *memos, const struct route *route)
{
	struct memo *memo = &memos[(route->via ^ route->via >> 8) % MEMO_ENTRIES];

	if (memo->known && memo->via == route->via && memo->number == route->interface)
		return memo;
	*memo = (struct memo){.known = true, .number = route->interface, .via = route->via};
	memo->interface = route->interface == 0 ? interface_of(route->via)
						: &interfaces[route->interface - 1];
	memo->wrong = next_hop_check(memo->interface, route->via);
	return memo;
}

unsigned route_list_check(unsigned first, const char *file, FILE *complaints)
{
	struct memo memos[MEMO_ENTRIES] = {0};
	unsigned mistakes = 0;

	for (unsigned i = first; i < nb_routes; i++) {
		const char *wrong = memo_of(memos, &list[i])->wrong;

		if (wrong == NULL)
			wrong = prefix_check(list[i].prefix, list[i].length);
		if (wrong != NULL && mistakes++ < COMPLAINTS_MAX)
			fprintf(complaints, "%s:%u: %s\n", file, list[i].line, wrong);
	}
	if (mistakes > COMPLAINTS_MAX)
		fprintf(complaints, "%s: and %u more mistakes\n", file, mistakes - COMPLAINTS_MAX);
	return mistakes;
}

int route_list_apply(unsigned first, unsigned count)
{
	struct memo memos[MEMO_ENTRIES] = {0};

	for (unsigned i = first; i < first + count; i++) {
		const struct route *route = &list[i];
		const struct route_path path = {.interface = memo_of(memos, route)->interface,
			.via = address_ip4(route->via)};
		int rc = route_add(route->prefix, route->length, &path);

		if (rc == 0)
			continue;
		fprintf(stderr, "router: the route of line %u: %s\n", route->line, strerror(-rc));
		return rc;
	}
	return 0;
}

void route_list_free(void)
{
	free(list);
	list = NULL;
	nb_routes = max_routes = 0;
}
