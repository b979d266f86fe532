/* SPDX-License-Identifier: BSD-3-Clause */
#include "cards.h"

#include "core/flow_tuple.h"
#include "core/frame.h"
#include "core/ledger.h"
#include "core/memory.h"
#include "card_flow_rules.h"

#include <errno.h>
#include <rte_cycles.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct card *cards[CARDS_MAX];
static unsigned nb_cards;

static void card_parse_pcie(struct card_pcie *pcie, const struct config_node *node)
{
	if (!config_object(node, "gigatransfers", "lanes", "max_payload_bytes"))
		return;
	pcie->gigatransfers = config_number(node, "gigatransfers", 8.0, 0.1, 64.0);
	pcie->lanes = (unsigned)config_u64(node, "lanes", 8, 1, 32);
	pcie->max_payload_bytes = (unsigned)config_u64(node, "max_payload_bytes", 256, 128, 4096);
}

static void card_parse_rss(struct card *card, const struct config_node *node)
{
	card->rss.fields = FLOW_L4 | FLOW_MPLS_INNER;
	if (!config_object(node, "symmetric", "l4", "mpls_inner"))
		return;
	card->rss.symmetric = config_bool(node, "symmetric", false);
	card->rss.fields = (config_bool(node, "l4", true) ? FLOW_L4 : 0u) |
			   (config_bool(node, "mpls_inner", true) ? FLOW_MPLS_INNER : 0u);
}

static uint32_t card_parse_ring(const struct config_node *node, const char *key)
{
	uint64_t size = config_u64(node, key, 1024, 32, 32768);

	if ((size & (size - 1)) != 0) {
		struct config_node child = config_child(node, key);

		config_mistake(&child, "expected a power of two from 32 to 32768");
		return 1024;
	}
	return (uint32_t)size;
}

static void card_parse(const struct config_node *node)
{
	static const char *const hosts[] = {"ports", "shunt", NULL};
	struct config_node pcie = config_child(node, "pcie");
	struct config_node rss = config_child(node, "rss");
	struct config_node flow_table = config_child(node, "flow_table");
	struct card *card;

	if (!config_object(node, "name", "link_bps", "rx_queues", "rx_ring", "tx_ring", "rss",
		    "pps_ceiling", "pcie", "max_frame_bytes", "host", "flow_table"))
		return;
	if (nb_cards == CARDS_MAX) {
		config_mistake(node, "more than %d cards", CARDS_MAX);
		return;
	}
	card = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*card));
	if (card == NULL)
		return;
	memset(card, 0, sizeof(*card));
	snprintf(card->name, sizeof(card->name), "%.31s", config_required(node, "name"));
	card->link_bps = config_u64(node, "link_bps", 10000000000, 0, 1000000000000);
	card->nb_queues = (uint16_t)config_u64(node, "rx_queues", 1, 1, CARD_QUEUES_MAX);
	card->rx_ring = card_parse_ring(node, "rx_ring");
	card->tx_ring = card_parse_ring(node, "tx_ring");
	card->pps_ceiling = config_number(node, "pps_ceiling", 0, 0, 1e12);
	card->max_frame_bytes = (uint16_t)config_u64(
		node, "max_frame_bytes", FRAME_BYTES_DEFAULT, FRAME_BYTES_MIN, FRAME_BYTES_MAX);
	card->shunt = config_choice(node, "host", hosts, 0) == 1;
	card_parse_pcie(&card->pcie, &pcie);
	card_parse_rss(card, &rss);
	card_parse_flow_table(&card->flow_limits, &flow_table);
	cards[nb_cards++] = card;
}

void cards_parse(const struct config_node *array)
{
	CONFIG_EACH (item, array)
		card_parse(&item);
}

struct card *card_find(const char *name)
{
	for (unsigned i = 0; i < nb_cards; i++)
		if (strcmp(cards[i]->name, name) == 0)
			return cards[i];
	return NULL;
}

struct card_port *card_parse_port(const struct config_node *node)
{
	const char *name = config_required(node, "card");
	uint64_t index = config_u64(node, "index", 0, 0, CARD_PORTS - 1);
	struct config_node key = config_child(node, "card");
	struct card *card = card_find(name);

	if (card == NULL) {
		config_mistake(&key, "no card is called \"%s\"", name);
		return NULL;
	}
	card->ports[index].card = card;
	return &card->ports[index];
}

unsigned cards_count(void)
{
	return nb_cards;
}

struct card *card_at(unsigned index)
{
	return index < nb_cards ? cards[index] : NULL;
}

static struct card_ring *card_ring_create(uint32_t size)
{
	struct card_ring *ring =
		rte_zmalloc_socket("card", sizeof(*ring), RTE_CACHE_LINE_SIZE, memory_socket());

	if (ring == NULL)
		return NULL;
	ring->size = size;
	ring->mask = size - 1;
	ring->to_card = rte_zmalloc_socket(
		"card", size * sizeof(uint64_t), RTE_CACHE_LINE_SIZE, memory_socket());
	ring->from_card = rte_zmalloc_socket(
		"card", size * sizeof(uint64_t), RTE_CACHE_LINE_SIZE, memory_socket());
	return ring->to_card == NULL || ring->from_card == NULL ? NULL : ring;
}

/* Data rate of a PCIe link after its line code, in bytes a second: 8b/10b up to 5 GT/s,
 * 128b/130b from 8 GT/s (PCI Express Base Specification 3.1, 4.2). */
static double card_pcie_bytes_per_second(const struct card_pcie *pcie)
{
	double code = pcie->gigatransfers < 8.0 ? 8.0 / 10.0 : 128.0 / 130.0;

	return pcie->gigatransfers * 1e9 * pcie->lanes * code / 8.0;
}

/* FIFO in front of the PCIe link: 128 KiB, of the order of the 82599's 512 KiB for all. */
#define PCIE_FIFO_BYTES (128 << 10)
/* Packets that may wait for the card's packet engine: at least this number, and those that arrive
 * while a late tester catches up. At 10 Mpps that is 2,500, of 64 bytes 160 kB. */
#define PPS_FIFO_PACKETS 256

/* Clocks of work that may wait for a packet engine that does `pps`. */
static double card_pps_backlog(double pps, double hz)
{
	return pps > 0 ? RTE_MAX(PPS_FIFO_PACKETS * hz / pps, hz / 1e6 * CARD_CREDIT_US) : 0;
}

static void card_set_limits(struct card *card)
{
	double hz = (double)rte_get_tsc_hz();
	double pcie = card->pcie.gigatransfers > 0 ? card_pcie_bytes_per_second(&card->pcie) : 0;

	card->tsc_hz = hz;
	for (unsigned i = 0; i < CARD_PORTS; i++) {
		pacer_set(&card->ports[i].link_in, (double)card->link_bps / 8, hz, 0);
		pacer_set(&card->ports[i].link_out, (double)card->link_bps / 8, hz, 0);
	}
	pacer_set(&card->pps_in, card->pps_ceiling, hz, card_pps_backlog(card->pps_ceiling, hz));
	pacer_set(&card->pps_out, card->pps_ceiling, hz, 0);
	pacer_set(&card->pcie.up, pcie, hz, pcie > 0 ? PCIE_FIFO_BYTES * hz / pcie : 0);
	pacer_set(&card->pcie.down, pcie, hz, 0);
}

static int no_memory(const struct card *card, const char *what)
{
	fprintf(stderr, "card %s: no memory for its %s\n", card->name, what);
	return -ENOMEM;
}

static int card_port_create(struct card *card, unsigned index)
{
	struct card_port *port = &card->ports[index];

	port->card = card;
	port->index = (uint16_t)index;
	port->rss = card->rss;
	card_rss_spread(&port->rss, card->nb_queues);
	for (unsigned q = 0; q < CARD_QUEUES_MAX; q++) {
		if (q < card->nb_queues)
			port->queues[q].rx = card_ring_create(card->rx_ring);
		if (q < card->nb_tx_queues)
			port->queues[q].tx = card_ring_create(card->tx_ring);
		if ((q < card->nb_queues && port->queues[q].rx == NULL) ||
			(q < card->nb_tx_queues && port->queues[q].tx == NULL))
			return no_memory(card, "rings");
	}
	if (card->flow_limits.capacity == 0)
		return 0;
	port->flow_table = card_flow_table_create(&card->flow_limits);
	return port->flow_table == NULL ? no_memory(card, "flow table") : 0;
}

int cards_create(uint16_t tx_queues)
{
	card_rss_init();
	for (unsigned c = 0; c < nb_cards; c++) {
		struct card *card = cards[c];
		int rc = 0;

		card->nb_tx_queues = tx_queues;
		card_set_limits(card);
		card->clock_last = rte_rdtsc();
		for (unsigned p = 0; p < CARD_PORTS && rc == 0; p++)
			rc = card_port_create(card, p);
		if (rc == 0 && card->shunt)
			rc = card_shunt_create(card);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static void read_rx_drops(struct ledger *ledger)
{
	static const char *const names[CARD_RX_DROPS] = {"oversize frame", "card packet rate",
		"PCIe", "dropped by flow rule", "no mbuf", "rx missed (ring full)"};

	for (unsigned c = 0; c < nb_cards; c++)
		for (unsigned p = 0; p < CARD_PORTS; p++)
			for (unsigned d = 0; d < CARD_RX_DROPS; d++)
				ledger_add_counter(ledger, LEDGER_LOSS,
					&cards[c]->ports[p].rx_drops[d], "%s port %u: %s",
					cards[c]->name, p, names[d]);
}
LEDGER_SOURCE_REGISTER(LEDGER_STAGE_CARD_RX, read_rx_drops)

static void read_tx_drops(struct ledger *ledger)
{
	for (unsigned c = 0; c < nb_cards; c++)
		for (unsigned p = 0; p < CARD_PORTS; p++)
			ledger_add_counter(ledger, LEDGER_LOSS, &cards[c]->ports[p].tx_oversize,
				"%s port %u: tx oversize frame", cards[c]->name, p);
}
LEDGER_SOURCE_REGISTER(LEDGER_STAGE_CARD_TX, read_tx_drops)
