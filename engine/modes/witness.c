/* SPDX-License-Identifier: BSD-3-Clause */
/* witness: takes frames and frees them as rxonly does, and notes how each of the tester's came. */
#include "witness.h"

#include "core/node.h"
#include "core/signature.h"
#include "forwarder.h"

#include <stdio.h>

enum reason {
	RECEIVED,
};

/* The list only grows, and its worker alone writes: others read the first nb_sightings. */
static struct sighting sightings[WITNESS_SIGHTINGS_MAX];
static unsigned nb_sightings;
static uint64_t beyond;

unsigned witness_count(void)
{
	return __atomic_load_n(&nb_sightings, __ATOMIC_ACQUIRE);
}

const struct sighting *witness_at(unsigned index)
{
	return &sightings[index];
}

uint64_t witness_beyond(void)
{
	return __atomic_load_n(&beyond, __ATOMIC_RELAXED);
}

static struct sighting sighting_of(const struct port_queue *queue, const struct rte_mbuf *mbuf)
{
	uint64_t word = signature_find(rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len);
	struct sighting seen = {.port = queue->port,
		.stream = WITNESS_FOREIGN,
		.queue = (uint16_t)(queue - queue->port->queues)};
	struct signature signature;

	if (word != 0 && signature_decode(word, &signature))
		seen.stream = signature.stream;
	if ((mbuf->ol_flags & RTE_MBUF_F_RX_FDIR_ID) != 0) {
		seen.kind = WITNESS_MARKED;
		seen.mark = mbuf->hash.fdir.hi;
	} else if ((mbuf->ol_flags & RTE_MBUF_F_RX_FDIR) != 0) {
		seen.kind = WITNESS_FLAGGED;
	}
	return seen;
}

static bool alike(const struct sighting *a, const struct sighting *b)
{
	return a->stream == b->stream && a->queue == b->queue && a->kind == b->kind &&
	       a->mark == b->mark && a->port == b->port;
}

static void note(const struct sighting *seen)
{
	unsigned i = 0;

	while (i < nb_sightings && !alike(&sightings[i], seen))
		i++;
	if (i == WITNESS_SIGHTINGS_MAX) {
		__atomic_store_n(&beyond, beyond + 1, __ATOMIC_RELAXED);
		return;
	}
	if (i == nb_sightings) {
		sightings[i] = *seen;
		__atomic_store_n(&nb_sightings, i + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&sightings[i].packets, sightings[i].packets + 1, __ATOMIC_RELAXED);
}

static uint16_t witness_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		struct sighting seen = sighting_of(node_object(node), objs[i]);

		note(&seen);
	}
	node_state(node)->drops[RECEIVED] += count;
	rte_node_next_stream_move(graph, node, 0);
	return count;
}

static struct node_type witness = {
	.name = "witness",
	.process = witness_process,
	.nexts = {"drop"},
	.reasons = {[RECEIVED] = "received"},
	.consumed = 1u << RECEIVED,
	.template = true,
};
NODE_REGISTER(witness)

static int witness_entry(struct port *port, unsigned queue, char name[RTE_NODE_NAMESIZE])
{
	char suffix[RTE_NODE_NAMESIZE - 16];

	snprintf(suffix, sizeof(suffix), "%s-%u", port->name, queue);
	return node_clone_to("witness", suffix, port_queue(port, queue), "drop", name);
}

static struct forwarding_mode witness_mode = {
	.name = "witness",
	.queue_entry = witness_entry,
};
FORWARDING_MODE_REGISTER(witness_mode)
