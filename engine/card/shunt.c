/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A card without a DUT: the card's worker itself moves each filled buffer from the rx
 * ring of one port to the tx ring of the other, and back when it was sent. No byte is
 * copied for it, so what a tester reaches over it is the tester's own ceiling.
 */
#include "card.h"

#include "core/memory.h"

#include <errno.h>
#include <rte_malloc.h>
#include <stdio.h>

struct card_shunt {
	uint32_t moved[CARD_PORTS]; /* from that port's rx ring */
	uint32_t freed[CARD_PORTS];
	uint8_t *buffers;
};

int card_shunt_create(struct card *card)
{
	uint32_t stride = RTE_ALIGN_CEIL(card->max_frame_bytes, 64) + 64;
	struct card_shunt *shunt =
		rte_zmalloc_socket("shunt", sizeof(*shunt), RTE_CACHE_LINE_SIZE, memory_socket());

	if (shunt == NULL)
		return -ENOMEM;
	shunt->buffers = rte_zmalloc_socket("shunt", (size_t)stride * card->rx_ring * CARD_PORTS,
		RTE_CACHE_LINE_SIZE, memory_socket());
	if (shunt->buffers == NULL || card->rx_ring > card->tx_ring) {
		fprintf(stderr, "card %s: the shunt needs tx_ring >= rx_ring, and memory\n",
			card->name);
		return -ENOMEM;
	}
	for (unsigned p = 0; p < CARD_PORTS; p++) {
		struct card_ring *rx = card->ports[p].queues[0].rx;

		for (uint32_t i = 0; i < rx->size; i++)
			rx->to_card[i] = (uintptr_t)(shunt->buffers +
						     (size_t)stride * (p * card->rx_ring + i));
		rx->given = rx->size;
	}
	card->shunted = shunt;
	return 0;
}

static void shunt_move_port(struct card *card, unsigned from)
{
	struct card_shunt *shunt = card->shunted;
	struct card_ring *rx = card->ports[from].queues[0].rx;
	struct card_ring *tx = card->ports[from ^ 1].queues[0].tx;
	uint32_t sent = tx->returned - shunt->freed[from];
	uint32_t filled = rx->returned - shunt->moved[from];

	/* Sent buffers go back in the order in which they came: the rx ring's slots still
	 * hold their addresses. */
	shunt->freed[from] += sent;
	rx->given += sent;
	for (uint32_t i = 0; i < filled; i++) {
		uint32_t slot = shunt->moved[from] + i;
		uint64_t address = rx->to_card[slot & rx->mask];
		uint16_t length = CARD_RX_LENGTH(rx->from_card[slot & rx->mask]);

		tx->to_card[(tx->given + i) & tx->mask] = CARD_TX_DESCRIPTOR(address, length);
	}
	tx->given += filled;
	shunt->moved[from] += filled;
}

void card_shunt_move(struct card *card)
{
	for (unsigned p = 0; p < CARD_PORTS; p++)
		shunt_move_port(card, p);
}
