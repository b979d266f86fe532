/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/addresses, /linerate/responder, /linerate/resolve. */
#include "tester/resolve.h"
#include "tester/responder.h"
#include "command.h"

#include <stdio.h>
#include <string.h>

#define PORT_NAME_BYTES 32

static int addresses_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	char text[ADDRESS_TEXT_BYTES];
	struct table table;

	table_start(&table, "ssuu", "port", "address", "prefix_bits", "vlan");
	for (unsigned i = 0; i < ports_count(); i++)
		for (unsigned a = 0; responders[i] != NULL && a < responders[i]->host.nb_addresses;
			a++) {
			const struct host_address *own = &responders[i]->host.addresses[a];

			table_string(&table, 0, port_at(i)->name);
			table_string(&table, 1, address_text(&own->address, text));
			table_u64(&table, 2, own->length);
			table_u64(&table, 3, own->vlan);
		}
	return table_end(&table, data);
}

COMMAND("/linerate/addresses", addresses_answer,
	"Addresses of the tester's ports. Takes no parameter")

static int responder_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "suuuuuuuuu", "port", "arp_requests", "neighbor_solicitations",
		"echo_requests", "echo6_requests", "arp_replies", "neighbor_advertisements",
		"asked", "waiting", "unanswered");
	for (unsigned i = 0; i < ports_count(); i++) {
		const struct responder *responder = responders[i];

		if (responder == NULL)
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
	}
	return table_end(&table, data);
}

COMMAND("/linerate/responder", responder_answer,
	"Frames that tester ports with addresses answered and asked. Takes no parameter")

/* "PORT,ADDRESS" or "PORT,ADDRESS,VLAN". */
static struct port *parse_question(const char *parameters, struct ip_address *neighbor, int *vlan)
{
	char name[PORT_NAME_BYTES], text[ADDRESS_TEXT_BYTES], rest;
	const char *end;
	int count;

	*vlan = -1;
	count = parameters == NULL ? 0
				   : sscanf(parameters, "%31[^,],%45[^,],%4u%c", name, text,
					     (unsigned *)vlan, &rest);
	if (count != 2 && count != 3)
		return NULL;
	end = text + strlen(text);
	return address_read(text, end, neighbor) == end ? port_find(name) : NULL;
}

static int resolve_answer(const char *parameters, struct rte_tel_data *data)
{
	char why[RESOLVE_WHY_BYTES], mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct ip_address neighbor;
	struct resolved resolved;
	const char *wrong;
	struct port *port;
	int vlan;

	port = parse_question(parameters, &neighbor, &vlan);
	if (port == NULL)
		return answer_error(data, "expected PORT,ADDRESS[,VLAN]: a port's name, and an "
					  "IPv4 or IPv6 address");
	wrong = resolve(port, &neighbor, vlan, &resolved, why);
	if (wrong != NULL)
		return answer_error(data, wrong);
	rte_ether_format_addr(mac, sizeof(mac), &resolved.mac);
	answer_string(data, "mac", mac);
	answer_u64(data, "requests", resolved.requests);
	return 0;
}

COMMAND("/linerate/resolve", resolve_answer,
	"MAC address of a neighbour, asked for by ARP or neighbour discovery. Parameters: "
	"PORT,ADDRESS[,VLAN]")
