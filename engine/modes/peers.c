/* SPDX-License-Identifier: BSD-3-Clause */
#include "peers.h"

#include "forwarder.h"

#include <string.h>

static struct rte_ether_addr peers[PORTS_MAX];
static unsigned nb_peers;

void peers_parse(const struct config_node *node)
{
	struct config_node array = config_child(node, "peers");
	size_t count = config_items(&array);

	if (count > forwarder_ports()) {
		config_mistake(&array, "expected at most one MAC address a port");
		return;
	}
	for (nb_peers = 0; nb_peers < count; nb_peers++) {
		struct config_node item = config_item(&array, nb_peers);

		if (!json_is_string(item.json) ||
			rte_ether_unformat_addr(json_string_value(item.json), &peers[nb_peers]) !=
				0)
			config_mistake(&item, "expected a MAC address such as 02:00:00:00:00:01");
	}
}

void peers_parse_only(const struct config_node *node)
{
	if (!config_object(node, "peers"))
		return;
	peers_parse(node);
}

static unsigned number_of(const struct port *port)
{
	unsigned number = 0;

	while (number < forwarder_ports() && forwarder_port(number) != port)
		number++;
	return number;
}

void peers_default_addresses(const struct port *out, uint8_t addresses[2 * RTE_ETHER_ADDR_LEN])
{
	struct rte_ether_addr peer = {{0x02, 0, 0, 0, 0, (uint8_t)number_of(out)}};

	memcpy(addresses, &peer, RTE_ETHER_ADDR_LEN);
	memcpy(addresses + RTE_ETHER_ADDR_LEN, &out->mac, RTE_ETHER_ADDR_LEN);
}

void peers_addresses(const struct port *out, uint8_t addresses[2 * RTE_ETHER_ADDR_LEN])
{
	unsigned number = number_of(out);

	peers_default_addresses(out, addresses);
	if (number < nb_peers)
		memcpy(addresses, &peers[number], RTE_ETHER_ADDR_LEN);
}
