/* SPDX-License-Identifier: BSD-3-Clause */
#include "handoff.h"

#include "../flow.h"
#include "../ledger.h"
#include "../memory.h"
#include "../node/vector.h"
#include "../worker.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <string.h>

#define RING_DEFAULT 1024
#define RING_MIN 32
#define RING_MAX 32768

rte_edge_t handoff_edge[PORTS_MAX];

static bool off;
static unsigned ring_size = RING_DEFAULT;
static handoff_hash_t hash_vector;
static struct handoff_ring *rings; /* [from][to] */
static unsigned nb_workers;

void handoff_parse(const struct config_node *forwarder)
{
	static const char *const choices[] = {"auto", "off", NULL};
	struct config_node key = config_child(forwarder, "handoff_ring");

	off = config_choice(forwarder, "handoff", choices, 0) == 1;
	ring_size =
		(unsigned)config_u64(forwarder, "handoff_ring", RING_DEFAULT, RING_MIN, RING_MAX);
	if (!rte_is_power_of_2(ring_size))
		config_mistake(&key, "expected a power of two from %d to %d", RING_MIN, RING_MAX);
}

bool handoff_off(void)
{
	return off;
}

unsigned handoff_buffers(unsigned senders, unsigned workers)
{
	return senders * (workers - 1) * ring_size;
}

/* Packets without an IP header are of one flow when their MAC addresses and type are. */
static uint32_t flow_hash(const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint8_t tuple[FLOW_TUPLE_BYTES];
	unsigned bytes = flow_tuple(frame, mbuf->data_len, FLOW_L4 | FLOW_MPLS_INNER, tuple);

	if (likely(bytes != 0))
		return rte_hash_crc(tuple, bytes, 0);
	return rte_hash_crc(frame, RTE_MIN(mbuf->data_len, (uint16_t)RTE_ETHER_HDR_LEN), 0);
}

static void flow_hash_vector(struct rte_mbuf **mbufs, uint32_t *hashes, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		if (likely(i + 2 * VECTOR_AHEAD < count))
			rte_prefetch0(mbufs[i + 2 * VECTOR_AHEAD]);
		if (likely(i + VECTOR_AHEAD < count))
			vector_prefetch_data(mbufs[i + VECTOR_AHEAD]);
		hashes[i] = mbufs[i]->ol_flags & RTE_MBUF_F_RX_RSS_HASH ? mbufs[i]->hash.rss
									: flow_hash(mbufs[i]);
	}
}

void handoff_hash(struct rte_mbuf **mbufs, uint32_t *hashes, uint16_t count)
{
	hash_vector(mbufs, hashes, count);
}

/* Both nodes get the same edges in the same order. */
int handoff_add_port(const struct port *port, const char *entry)
{
	rte_edge_t sends = node_add_next(node_type_find("worker-handoff"), entry);
	rte_edge_t receives = node_add_next(node_type_find("handoff-rx"), entry);

	if (sends == RTE_EDGE_ID_INVALID || sends != receives)
		return -EINVAL;
	handoff_edge[port->index] = sends;
	return 0;
}

struct handoff_ring *handoff_ring(unsigned from, unsigned to)
{
	struct handoff_ring *ring = &rings[from * nb_workers + to];

	return rings == NULL || from >= nb_workers || to >= nb_workers || ring->ring == NULL ? NULL
											     : ring;
}

static int create_ring(unsigned from, unsigned to)
{
	struct handoff_ring *ring = &rings[from * nb_workers + to];
	char name[RTE_RING_NAMESIZE * 2];

	snprintf(name, sizeof(name), "handoff-%u-%u", from, to);
	ring->ring = rte_ring_create(
		name, ring_size, memory_socket(), RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	ring->waker = worker_of_forwarder(to)->waker;
	if (ring->ring != NULL)
		return 0;
	fprintf(stderr, "forwarder.handoff_ring: no memory for rings of %u: %s\n", ring_size,
		rte_strerror(rte_errno));
	return -ENOMEM;
}

int handoff_create(handoff_hash_t hash, uint64_t senders)
{
	int rc = 0;

	if (senders == 0)
		return 0;
	hash_vector = hash != NULL ? hash : flow_hash_vector;
	nb_workers = workers_forwarders();
	rings = rte_zmalloc_socket("handoff", (size_t)nb_workers * nb_workers * sizeof(*rings),
		RTE_CACHE_LINE_SIZE, memory_socket());
	if (rings == NULL)
		return -ENOMEM;
	for (unsigned from = 0; from < nb_workers; from++)
		for (unsigned to = 0; to < nb_workers && rc == 0; to++)
			if ((senders & 1ull << from) != 0 && to != from)
				rc = create_ring(from, to);
	for (unsigned i = 0; i < nb_workers; i++)
		worker_add_node(worker_of_forwarder(i), "handoff-rx");
	return rc;
}

void handoff_ledger(struct ledger *ledger)
{
	uint64_t held = 0;

	for (unsigned from = 0; from < nb_workers; from++)
		for (unsigned to = 0; to < nb_workers; to++)
			if (handoff_ring(from, to) != NULL)
				held += rte_ring_count(handoff_ring(from, to)->ring);
	if (held != 0)
		ledger_add(ledger, LEDGER_HELD, held, "handoff rings");
}
