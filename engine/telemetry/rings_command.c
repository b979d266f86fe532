/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/rings: of cards, and between workers. */
#include "card/cards.h"
#include "core/worker.h"
#include "handoff/handoff.h"
#include "command.h"

#include <stdio.h>

#define MANY_WORKERS 8

static void ring_row(struct table *table, const struct card *card, const struct card_port *port,
	unsigned queue, bool rx)
{
	const struct card_ring *ring = rx ? port->queues[queue].rx : port->queues[queue].tx;
	uint32_t returned = __atomic_load_n(&ring->returned, __ATOMIC_RELAXED);
	uint32_t waiting = __atomic_load_n(&ring->given, __ATOMIC_RELAXED) - returned;
	/* Posted buffers wait for frames; what is used is the rest. */
	uint32_t used = rx ? ring->size - RTE_MIN(waiting, ring->size) : waiting;
	char name[64];

	snprintf(name, sizeof(name), "%s_port%u_%s%u", card->name, port->index, rx ? "rx" : "tx",
		queue);
	table_string(table, 0, name);
	table_u64(table, 1, ring->size);
	table_u64(table, 2, used);
	table_u64(table, 3, ring->size - RTE_MIN(used, ring->size));
	table_u64(table, 4, returned);
	table_u64(table, 5, rx ? port->queues[queue].rx_missed : 0);
	table_u64(table, 6, rx ? (uint32_t)(returned - used) : returned);
	for (unsigned column = 7; column < 10; column++)
		table_string(table, column, "");
}

static void handoff_row(struct table *table, const struct handoff_queue *queue, enum priority p)
{
	const struct handoff_ring *ring = &queue->rings[p];

	table_string(table, 0, ring->ring->name);
	table_u64(table, 1, rte_ring_get_capacity(ring->ring));
	table_u64(table, 2, rte_ring_count(ring->ring));
	table_u64(table, 3, rte_ring_free_count(ring->ring));
	table_u64(table, 4, ring->enqueued);
	table_u64(table, 5, ring->dropped);
	table_u64(table, 6, ring->dequeued);
	table_string(table, 7, worker_at(queue->writer)->name);
	table_string(table, 8, worker_at(queue->reader)->name);
	table_string(table, 9, priority_name(p));
}

/* An answer has 512 rows: of many workers, those priorities that never came are left out. */
static bool is_shown(const struct handoff_ring *ring, enum priority p)
{
	return workers_forwarders() <= MANY_WORKERS || p == PRIORITY_NORMAL ||
	       ring->enqueued + ring->dropped != 0;
}

static void handoff_rows(struct table *table)
{
	for (unsigned from = 0; from < workers_forwarders(); from++)
		for (unsigned to = 0; to < workers_forwarders(); to++) {
			const struct handoff_queue *queue = handoff_queue(from, to);

			for (unsigned p = PRIORITIES; p-- > 0 && queue != NULL;)
				if (is_shown(&queue->rings[p], (enum priority)p))
					handoff_row(table, queue, (enum priority)p);
		}
}

static int rings_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "suuuuuusss", "name", "size", "used", "free", "enqueued", "dropped",
		"dequeued", "from", "to", "priority");
	for (unsigned c = 0; c < cards_count(); c++) {
		const struct card *card = card_at(c);

		for (unsigned p = 0; p < CARD_PORTS; p++) {
			for (unsigned q = 0; q < card->nb_queues; q++)
				ring_row(&table, card, &card->ports[p], q, true);
			for (unsigned q = 0; q < card->nb_tx_queues; q++)
				ring_row(&table, card, &card->ports[p], q, false);
		}
	}
	handoff_rows(&table);
	return table_end(&table, data);
}

COMMAND("/linerate/rings", rings_answer,
	"Columns name, size, used, free, enqueued, dropped, dequeued, from, to, priority. "
	"Takes no parameter")
