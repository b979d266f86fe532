/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/route/add, /linerate/route/replace, /linerate/route/del, /linerate/route/lookup,
 * /linerate/routes. */
#include "fib/fib4.h"
#include "modes/forwarder.h"
#include "router/adjacency_text.h"
#include "router/interface.h"
#include "router/routes.h"
#include "command.h"

#include <stdio.h>
#include <string.h>

#define LINE_BYTES 128
#define ADDRESS_BYTES 20

/* "prefix=P,via=A" or "prefix=P,via=A,port=N", to `verb`. */
static int answer_path(const char *verb, const char *parameters, struct rte_tel_data *data)
{
	char prefix[ADDRESS_BYTES], via[ADDRESS_BYTES], port[INTERFACE_NAME_BYTES] = "", rest;
	char line[LINE_BYTES];
	int count;

	if (parameters == NULL)
		return -1;
	count = sscanf(parameters, "prefix=%19[^,;],via=%19[^,;],port=%35[^,;]%c", prefix, via,
		port, &rest);
	if (count < 2 || count > 3)
		return -1;
	count = snprintf(line, sizeof(line), "ip route %s %s via %s%s%s", verb, prefix, via,
		port[0] == '\0' ? "" : " ", port);
	return answer_cli(data, "route", line, (size_t)count);
}

static int add_answer(const char *parameters, struct rte_tel_data *data)
{
	return answer_path("add", parameters, data);
}

COMMAND("/linerate/route/add", add_answer,
	"Adds a path to a route. Parameters: prefix=P/L,via=ADDRESS[,port=NAME]")

static int replace_answer(const char *parameters, struct rte_tel_data *data)
{
	return answer_path("replace", parameters, data);
}

COMMAND("/linerate/route/replace", replace_answer,
	"Gives a route one path in place of all. Parameters: "
	"prefix=P/L,via=ADDRESS[,port=NAME]")

static int del_answer(const char *parameters, struct rte_tel_data *data)
{
	char prefix[ADDRESS_BYTES], line[LINE_BYTES], rest;
	int count;

	if (parameters == NULL || sscanf(parameters, "prefix=%19[^,;]%c", prefix, &rest) != 1)
		return -1;
	count = snprintf(line, sizeof(line), "ip route del %s", prefix);
	return answer_cli(data, "route", line, (size_t)count);
}

COMMAND("/linerate/route/del", del_answer, "Deletes a route. Parameter: prefix=P/L")

static void answer_adjacency(struct rte_tel_data *data, const struct adjacency *adjacency)
{
	const struct ip_address via = address_ip4(adjacency->address);
	char text[ADDRESS_TEXT_BYTES];

	answer_string(data, "kind", adjacency_kind_name(adjacency));
	if (adjacency->neighbor == NEIGHBOR_NONE)
		return;
	answer_string(data, "via", address_text(&via, text));
	answer_string(data, "port", interfaces[adjacency->interface].name);
}

static int lookup_answer(const char *parameters, struct rte_tel_data *data)
{
	const char *end = parameters == NULL ? NULL : parameters + strlen(parameters);
	char text[ADDRESS_TEXT_BYTES], prefix[LINE_BYTES];
	struct ip_address address;
	uint32_t word;
	uint8_t length;

	if (end == NULL || address_read(parameters, end, &address) != end ||
		address.family != ADDRESS_IP4)
		return -1;
	if (strcmp(forwarder_mode(), "router") != 0)
		return answer_error(data, "the forwarder is no router");
	rte_spinlock_lock(&router_lock);
	word = fib4_word(address.ip4);
	length = fib4_word_length(word);
	address.ip4 &= prefix_mask(length);
	snprintf(prefix, sizeof(prefix), "%s/%u", address_text(&address, text), length);
	answer_string(data, "prefix", prefix);
	answer_adjacency(data, &adjacencies[word & FIB4_VALUE]);
	rte_spinlock_unlock(&router_lock);
	return 0;
}

COMMAND("/linerate/route/lookup", lookup_answer,
	"The route that packets to an address take. Parameter: the address")

static int routes_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	answer_u64(data, "ip4_prefixes", fib4_count());
	answer_u64(data, "ip4_groups", fib4_group_count());
	return 0;
}

COMMAND("/linerate/routes", routes_answer, "How many routes there are. Takes no parameter")
