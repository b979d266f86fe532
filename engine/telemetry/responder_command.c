/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/addresses, /linerate/responder, …/set, …/add, …/remove: tester ports as hosts. */
#include "tester/responder.h"
#include "address_keys.h"
#include "command.h"

#include <stdio.h>
#include <string.h>

static int addresses_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	char text[ADDRESS_TEXT_BYTES];
	struct table table;

	table_start(&table, "ssuuus", "port", "address", "prefix_bits", "vlan", "inner_vlan",
		"gateway");
	for (unsigned i = 0; i < ports_count(); i++) {
		struct host host = {0};

		if (responders[i] != NULL)
			host = responder_host(responders[i]);
		for (unsigned a = 0; a < host.nb_addresses; a++) {
			const struct host_address *own = &host.addresses[a];

			table_string(&table, 0, port_at(i)->name);
			table_string(&table, 1, address_text(&own->address, text));
			table_u64(&table, 2, own->length);
			table_u64(&table, 3, own->tags.outer);
			table_u64(&table, 4, own->tags.inner);
			table_string(&table, 5,
				own->gateway.family == ADDRESS_NONE
					? ""
					: address_text(&own->gateway, text));
		}
	}
	return table_end(&table, data);
}

COMMAND("/linerate/addresses", addresses_answer,
	"Addresses of the tester's ports. Takes no parameter")

static int responder_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "suuuuuuuuuuu", "port", "arp_requests", "neighbor_solicitations",
		"echo_requests", "echo6_requests", "arp_replies", "neighbor_advertisements",
		"asked", "waiting", "unanswered", "pings", "echo_replies");
	for (unsigned i = 0; i < ports_count(); i++) {
		const struct responder *responder = responders[i];

		if (responder == NULL || responder->pool == NULL)
			continue;
		table_string(&table, 0, port_at(i)->name);
		table_u64(&table, 1, responder->counters.heard[HOST_ARP_REQUEST]);
		table_u64(&table, 2, responder->counters.heard[HOST_SOLICITATION]);
		table_u64(&table, 3, responder->counters.heard[HOST_ECHO]);
		table_u64(&table, 4, responder->counters.heard[HOST_ECHO6]);
		table_u64(&table, 5, responder->counters.heard[HOST_ARP_REPLY]);
		table_u64(&table, 6, responder->counters.heard[HOST_ADVERTISEMENT]);
		table_u64(&table, 7, responder->counters.asked);
		table_u64(&table, 8, responder->nb_waiting);
		table_u64(&table, 9, responder->counters.unanswered);
		table_u64(&table, 10, responder->counters.pings);
		table_u64(&table, 11, responder->counters.heard[HOST_ECHO_REPLY]);
	}
	return table_end(&table, data);
}

COMMAND("/linerate/responder", responder_answer,
	"Frames that tester ports with addresses answered and asked. Takes no parameter")

/* One of each family, and the gateway that goes with it. */
struct change {
	struct keys keys;
	struct port *port;
	struct host_address addresses[2];
	unsigned count;
};

static void read_address(
	struct change *change, const char *address, const char *gateway, enum address_family family)
{
	struct host_address own = {0};

	if (keys_get(&change->keys, address) == NULL) {
		if (keys_get(&change->keys, gateway) != NULL)
			keys_mistake(&change->keys, "%s: goes with %s", gateway, address);
		return;
	}
	keys_tags(&change->keys, &own.tags);
	if (keys_prefix(&change->keys, address, family, &own.address, &own.length) &&
		(keys_get(&change->keys, gateway) == NULL ||
			keys_address(&change->keys, gateway, family, &own.gateway)))
		change->addresses[change->count++] = own;
}

static void read_change(struct change *change, const char *parameters)
{
	memset(change, 0, sizeof(*change));
	keys_of(&change->keys, parameters, NULL, "port", "ip4", "gateway4", "ip6", "gateway6",
		"vlan");
	change->port = keys_port(&change->keys);
	if (change->port != NULL && !change->port->tester)
		keys_mistake(&change->keys, "port: expected one of the tester's");
	read_address(change, "ip4", "gateway4", ADDRESS_IP4);
	read_address(change, "ip6", "gateway6", ADDRESS_IP6);
	if (change->count == 0)
		keys_mistake(&change->keys, "expected ip4 or ip6");
}

static int answer_change(const struct change *change, const char *wrong, struct rte_tel_data *data)
{
	if (wrong != NULL)
		return answer_error(data, wrong);
	answer_u64(data, "addresses", responder_host(responders[change->port->index]).nb_addresses);
	return 0;
}

/* One of the two ways to give addresses; returns what is wrong, or NULL. */
typedef const char *(*give_addresses)(
	struct responder *responder, const struct host_address *addresses, unsigned count);

static int give_answer(const char *parameters, struct rte_tel_data *data, give_addresses give)
{
	struct change change;

	read_change(&change, parameters);
	if (change.keys.wrong[0] != '\0')
		return answer_error(data, change.keys.wrong);
	return answer_change(&change,
		give(responders[change.port->index], change.addresses, change.count), data);
}

static int set_answer(const char *parameters, struct rte_tel_data *data)
{
	return give_answer(parameters, data, responder_set);
}

COMMAND("/linerate/responder/set", set_answer,
	"Replaces a tester port's addresses. Parameters: port=PORT and ip4=, gateway4=, ip6=, "
	"gateway6=, vlan=V[:INNER]")

static int add_answer(const char *parameters, struct rte_tel_data *data)
{
	return give_answer(parameters, data, responder_add);
}

COMMAND("/linerate/responder/add", add_answer,
	"Gives a tester port more addresses. Parameters: as of /linerate/responder/set")

static int remove_answer(const char *parameters, struct rte_tel_data *data)
{
	struct host_address address = {0};
	struct change change = {0};
	bool one;

	keys_of(&change.keys, parameters, NULL, "port", "address", "vlan");
	change.port = keys_port(&change.keys);
	if (change.port != NULL && !change.port->tester)
		keys_mistake(&change.keys, "port: expected one of the tester's");
	keys_tags(&change.keys, &address.tags);
	one = keys_get(&change.keys, "address") != NULL;
	if (one)
		keys_address(&change.keys, "address", ADDRESS_NONE, &address.address);
	if (change.keys.wrong[0] != '\0')
		return answer_error(data, change.keys.wrong);
	return answer_change(&change,
		responder_remove(responders[change.port->index], one ? &address : NULL), data);
}

COMMAND("/linerate/responder/remove", remove_answer,
	"Takes addresses from a tester port. Parameters: port=PORT[,address=A[,vlan=V[:INNER]]]")
