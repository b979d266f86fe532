/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/ports, /linerate/port, /linerate/card. */
#include "card/cards.h"
#include "core/node.h"
#include "port/port.h"
#include "command.h"

#include <stdio.h>
#include <string.h>

static int ports_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct table table;

	table_start(&table, "sssu", "name", "driver", "mac", "link_bps");
	for (unsigned i = 0; i < ports_count(); i++) {
		const struct port *port = port_at(i);

		table_string(&table, 0, port->name);
		table_string(&table, 1, port->driver->name);
		rte_ether_format_addr(mac, sizeof(mac), &port->mac);
		table_string(&table, 2, mac);
		table_u64(&table, 3, port->driver->link_bps(port));
	}
	return table_end(&table, data);
}

COMMAND("/linerate/ports", ports_answer, "Columns name, driver, mac, link_bps. Takes no parameter")

/* Packets that the port-tx nodes of all workers dropped there. */
static uint64_t tx_full_of(const struct port *port)
{
	uint64_t dropped = 0;

	for (const struct node_state *state = node_states(); state != NULL; state = state->link)
		if (state->object == port && strcmp(state->type->name, "port-tx") == 0)
			dropped += state->drops[0];
	return dropped;
}

static int port_answer(const char *parameters, struct rte_tel_data *data)
{
	const struct port *port = port_find(parameters);
	struct port_stats stats = {0};

	if (port == NULL)
		return -1;
	port->driver->stats(port, &stats);
	answer_u64(data, "rx_packets", stats.rx_packets);
	answer_u64(data, "rx_bytes", stats.rx_bytes);
	answer_u64(data, "rx_missed", stats.rx_missed);
	answer_u64(data, "rx_no_mbuf", stats.rx_no_mbuf);
	answer_u64(data, "tx_packets", stats.tx_packets);
	answer_u64(data, "tx_bytes", stats.tx_bytes);
	answer_u64(data, "tx_full", tx_full_of(port));
	for (unsigned i = 0; i < stats.nb_more; i++)
		answer_u64(data, stats.more[i].name, stats.more[i].value);
	return 0;
}

COMMAND("/linerate/port", port_answer, "Counters of one port. Parameter: the port's name")

static void answer_card_port(struct rte_tel_data *data, const struct card_port *port)
{
	static const char *const drops[CARD_RX_DROPS] = {
		"rx_oversize", "rx_card_pps", "rx_pcie", "rx_flow_rule", "rx_no_mbuf", "rx_missed"};
	char name[48];

	snprintf(name, sizeof(name), "port%u_rx_packets", port->index);
	answer_u64(data, name, port->rx_packets);
	for (unsigned i = 0; i < CARD_RX_DROPS; i++) {
		snprintf(name, sizeof(name), "port%u_%s", port->index, drops[i]);
		answer_u64(data, name, port->rx_drops[i]);
	}
	snprintf(name, sizeof(name), "port%u_tx_packets", port->index);
	answer_u64(data, name, port->tx_packets);
	snprintf(name, sizeof(name), "port%u_link_waits", port->index);
	answer_u64(data, name, port->link_waits);
}

static int card_answer(const char *parameters, struct rte_tel_data *data)
{
	const struct card *card = parameters == NULL ? NULL : card_find(parameters);

	if (card == NULL)
		return -1;
	answer_u64(data, "link_bps", card->link_bps);
	answer_u64(data, "rx_queues", card->nb_queues);
	answer_u64(data, "rx_ring", card->rx_ring);
	answer_u64(data, "tx_ring", card->tx_ring);
	answer_u64(data, "pps_ceiling", (uint64_t)card->pps_ceiling);
	answer_u64(data, "pcie_megatransfers", (uint64_t)(card->pcie.gigatransfers * 1000));
	answer_u64(data, "pcie_lanes", card->pcie.lanes);
	answer_u64(data, "pcie_max_payload_bytes", card->pcie.max_payload_bytes);
	for (unsigned p = 0; p < CARD_PORTS; p++)
		answer_card_port(data, &card->ports[p]);
	return 0;
}

COMMAND("/linerate/card", card_answer,
	"Limits and counters of one card. Parameter: the card's name")

static int reset_answer(const char *parameters, struct rte_tel_data *data)
{
	struct port *port = port_find(parameters);

	if (port == NULL)
		return -1;
	if (port->driver->reset == NULL)
		return answer_error(data, "only a card's port can be reset");
	port->driver->reset(port);
	answer_string(data, "port", port->name);
	return 0;
}

COMMAND("/linerate/card/reset", reset_answer,
	"Resets a card's port: its flow rules are gone, its link stays. Parameter: the "
	"port's name")
