/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/resolve, /linerate/neighbors, /linerate/ping: neighbours of tester ports, and beyond.
 */
#include "tester/ping.h"
#include "tester/responder.h"
#include "address_keys.h"
#include "command.h"

#include <rte_cycles.h>
#include <stdio.h>
#include <string.h>

#define PORT_NAME_BYTES 32
#define PING_TTL 64
#define PING_BYTES_MIN 64

static void text_of_mac(const struct rte_ether_addr *mac, char text[RTE_ETHER_ADDR_FMT_SIZE])
{
	rte_ether_format_addr(text, RTE_ETHER_ADDR_FMT_SIZE, mac);
}

static int answer_one(struct port *port, const struct ip_address *neighbor,
	const struct host_tags *tags, struct rte_tel_data *data)
{
	char why[RESOLVE_WHY_BYTES], mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct resolved resolved;
	const char *wrong = resolve(port, neighbor, tags, &resolved, why);

	if (wrong != NULL)
		return answer_error(data, wrong);
	text_of_mac(&resolved.mac, mac);
	answer_string(data, "mac", mac);
	answer_u64(data, "requests", resolved.requests);
	return 0;
}

/* "PORT,ADDRESS" or "PORT,ADDRESS,VLAN". */
static int answer_words(const char *parameters, struct rte_tel_data *data)
{
	char name[PORT_NAME_BYTES], text[ADDRESS_TEXT_BYTES], rest;
	struct ip_address neighbor;
	unsigned vlan = 0;
	const char *end;
	int count = sscanf(parameters, "%31[^,],%45[^,],%4u%c", name, text, &vlan, &rest);
	const struct host_tags tags = {.outer = (uint16_t)vlan};

	end = text + (count >= 2 ? strlen(text) : 0);
	if ((count != 2 && count != 3) || address_read(text, end, &neighbor) != end ||
		port_find(name) == NULL)
		return answer_error(data, "expected PORT,ADDRESS[,VLAN]: a port's name, and an "
					  "IPv4 or IPv6 address");
	return answer_one(port_find(name), &neighbor, count == 3 ? &tags : NULL, data);
}

static void add_gateway(struct table *table, struct port *port, const struct host_address *own)
{
	char why[RESOLVE_WHY_BYTES], text[ADDRESS_TEXT_BYTES];
	char mac[RTE_ETHER_ADDR_FMT_SIZE] = "", error[RTE_TEL_MAX_STRING_LEN] = "";
	struct resolved resolved = {0};
	const char *wrong = resolve(port, &own->gateway, &own->tags, &resolved, why);

	if (wrong == NULL)
		text_of_mac(&resolved.mac, mac);
	else
		snprintf(error, sizeof(error), "%s", wrong);
	table_string(table, 0, address_text(&own->gateway, text));
	table_u64(table, 1, own->tags.outer);
	table_u64(table, 2, own->tags.inner);
	table_string(table, 3, mac);
	table_u64(table, 4, wrong == NULL ? resolved.requests : 0);
	table_string(table, 5, error);
}

/* All gateways of the port, one after the other. */
static int answer_gateways(struct port *port, struct rte_tel_data *data)
{
	struct table table;
	struct host host;
	unsigned asked = 0;

	if (responders[port->index] == NULL)
		return answer_error(data, "port: expected one of the tester's");
	host = responder_host(responders[port->index]);
	table_start(
		&table, "suusus", "gateway", "vlan", "inner_vlan", "mac", "requests", "no_answer");
	for (unsigned i = 0; i < host.nb_addresses; i++)
		if (host.addresses[i].gateway.family != ADDRESS_NONE) {
			add_gateway(&table, port, &host.addresses[i]);
			asked++;
		}
	if (asked == 0)
		answer_error(data, "the port has no gateway: give an address to ask for");
	return table_end(&table, data);
}

static int answer_keys(const char *parameters, struct rte_tel_data *data)
{
	struct ip_address neighbor = {0};
	struct host_tags tags;
	struct port *port;
	struct keys keys;
	bool tagged;

	keys_of(&keys, parameters, NULL, "port", "address", "vlan");
	port = keys_port(&keys);
	tagged = keys_tags(&keys, &tags);
	if (keys_get(&keys, "address") != NULL)
		keys_address(&keys, "address", ADDRESS_NONE, &neighbor);
	if (keys.wrong[0] != '\0')
		return answer_error(data, keys.wrong);
	if (neighbor.family == ADDRESS_NONE)
		return answer_gateways(port, data);
	return answer_one(port, &neighbor, tagged ? &tags : NULL, data);
}

static int resolve_answer(const char *parameters, struct rte_tel_data *data)
{
	if (parameters != NULL && strchr(parameters, '=') != NULL)
		return answer_keys(parameters, data);
	return answer_words(parameters == NULL ? "" : parameters, data);
}

COMMAND("/linerate/resolve", resolve_answer,
	"MAC address of a neighbour. Parameters: PORT,ADDRESS[,VLAN] or "
	"port=PORT[,address=A][,vlan=V[:INNER]]")

static int neighbors_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	static __thread struct neighbor neighbors[NEIGHBORS_MAX];
	unsigned count = resolved_neighbors(neighbors);
	char text[ADDRESS_TEXT_BYTES], mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct table table;

	table_start(&table, "ssuusu", "port", "address", "vlan", "inner_vlan", "mac", "age_ms");
	for (unsigned i = 0; i < count; i++) {
		text_of_mac(&neighbors[i].mac, mac);
		table_string(&table, 0, neighbors[i].port->name);
		table_string(&table, 1, address_text(&neighbors[i].address, text));
		table_u64(&table, 2, neighbors[i].tags.outer);
		table_u64(&table, 3, neighbors[i].tags.inner);
		table_string(&table, 4, mac);
		table_u64(&table, 5, (rte_rdtsc() - neighbors[i].tsc) / (rte_get_tsc_hz() / 1000));
	}
	return table_end(&table, data);
}

COMMAND("/linerate/neighbors", neighbors_answer,
	"Neighbours of tester ports that answered /linerate/resolve. Takes no parameter")

static int answer_pings(const struct ping_order *order, struct rte_tel_data *data)
{
	char why[RESOLVE_WHY_BYTES], text[ADDRESS_TEXT_BYTES], mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct ping_reply replies[PING_COUNT_MAX];
	struct resolved hop;
	const char *wrong = ping(order, replies, &hop, why);
	struct table table;

	if (wrong != NULL)
		return answer_error(data, wrong);
	text_of_mac(&hop.mac, mac);
	answer_string(data, "mac", mac);
	table_start(&table, "ususuuu", "sequence", "result", "rtt_ns", "by", "ttl", "type", "code");
	for (unsigned i = 0; i < order->count; i++) {
		const struct ping_reply *reply = &replies[i];

		table_u64(&table, 0, reply->sequence);
		table_string(&table, 1, ping_result_name(reply->result));
		table_u64(&table, 2, reply->rtt_ns);
		table_string(&table, 3,
			reply->by.family == ADDRESS_NONE ? "" : address_text(&reply->by, text));
		table_u64(&table, 4, reply->ttl);
		table_u64(&table, 5, reply->type);
		table_u64(&table, 6, reply->code);
	}
	return table_end(&table, data);
}

static int ping_answer(const char *parameters, struct rte_tel_data *data)
{
	struct ping_order order = {0};
	struct host_tags tags;
	struct keys keys;

	keys_of(&keys, parameters, NULL, "port", "destination", "vlan", "size", "count",
		"timeout_ms", "ttl");
	order.port = keys_port(&keys);
	if (keys_tags(&keys, &tags))
		order.tags = &tags;
	if (keys_get(&keys, "destination") == NULL)
		keys_mistake(&keys, "expected port=PORT,destination=ADDRESS");
	else
		keys_address(&keys, "destination", ADDRESS_NONE, &order.destination);
	order.bytes = (uint16_t)(keys_u64(&keys, "size", PING_BYTES_MIN, PING_BYTES_MIN,
					 order.port == NULL ? PING_BYTES_MIN
							    : order.port->max_frame_bytes) -
				 RTE_ETHER_CRC_LEN);
	order.count = (unsigned)keys_u64(&keys, "count", 1, 1, PING_COUNT_MAX);
	order.timeout_ms = (unsigned)keys_u64(
		&keys, "timeout_ms", PING_TIMEOUT_MS_MAX, 1, PING_TIMEOUT_MS_MAX);
	order.ttl = (uint8_t)keys_u64(&keys, "ttl", PING_TTL, 1, UINT8_MAX);
	if (keys.wrong[0] != '\0')
		return answer_error(data, keys.wrong);
	return answer_pings(&order, data);
}

COMMAND("/linerate/ping", ping_answer,
	"Echo requests of a tester port. Parameters: port=PORT,destination=A and vlan=, size=, "
	"count=, timeout_ms=, ttl=")
