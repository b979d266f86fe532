/* SPDX-License-Identifier: BSD-3-Clause */
#include "handoff.h"

#include "core/flow_tuple.h"
#include "core/ledger.h"
#include "core/memory.h"
#include "core/vector.h"
#include "core/worker.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <string.h>

#define RING_DEFAULT 1024
#define RING_FEW 256 /* of the two priorities that carry little */
#define RING_MIN 32
#define RING_MAX 32768

rte_edge_t handoff_edge[PORTS_MAX];

static bool off;
static enum handoff_threading threading;
static unsigned readers;     /* 0: all workers are */
static unsigned queue_batch; /* packets at once */
static unsigned ring_sizes[PRIORITIES];
static handoff_hash_t hash_vector;
static struct handoff_queue *queues; /* [from][to] */
static unsigned nb_workers;

static unsigned parse_size(const struct config_node *forwarder, const char *name, unsigned fallback)
{
	struct config_node key = config_child(forwarder, name);
	unsigned size = (unsigned)config_u64(forwarder, name, fallback, RING_MIN, RING_MAX);

	if (!rte_is_power_of_2(size))
		config_mistake(&key, "expected a power of two from %d to %d", RING_MIN, RING_MAX);
	return size;
}

static void parse_threading(const struct config_node *forwarder, unsigned workers)
{
	static const char *const choices[] = {"run-to-completion", "locked", "lock-free", NULL};
	struct config_node key = config_child(forwarder, "threading");
	struct config_node readers_key = config_child(forwarder, "readers");
	struct config_node batch_key = config_child(forwarder, "queue_batch");

	threading = (enum handoff_threading)config_choice(
		forwarder, "threading", choices, THREADING_RUN_TO_COMPLETION);
	/* A lock for each packet is what a first program does; a ring takes a vector anyway. */
	queue_batch = (unsigned)config_u64(forwarder, "queue_batch",
		threading == THREADING_LOCKED ? 1 : NODE_VECTOR_MAX, 1, NODE_VECTOR_MAX);
	if (threading == THREADING_RUN_TO_COMPLETION) {
		if (readers_key.json != NULL)
			config_mistake(&readers_key, "needs \"threading\" locked or lock-free");
		if (batch_key.json != NULL)
			config_mistake(&batch_key, "needs \"threading\" locked or lock-free");
		return;
	}
	if (workers < 2) {
		config_mistake(&key, "a reader and a writer are two: needs \"workers\" 2 or more");
		return;
	}
	readers = (unsigned)config_u64(forwarder, "readers", workers / 2, 1, workers - 1);
	if (off)
		config_mistake(&key, "needs \"handoff\": \"auto\"");
}

void handoff_parse(const struct config_node *forwarder, unsigned workers)
{
	static const char *const choices[] = {"auto", "off", NULL};

	off = config_choice(forwarder, "handoff", choices, 0) == 1;
	ring_sizes[PRIORITY_NORMAL] = parse_size(forwarder, "handoff_ring", RING_DEFAULT);
	ring_sizes[PRIORITY_HIGH] = parse_size(forwarder, "handoff_ring_high", RING_FEW);
	ring_sizes[PRIORITY_CONTROL] = parse_size(forwarder, "handoff_ring_control", RING_FEW);
	parse_threading(forwarder, workers);
}

enum handoff_threading handoff_threading(void)
{
	return threading;
}

unsigned handoff_readers(void)
{
	return readers;
}

unsigned handoff_first_target(void)
{
	return readers;
}

bool handoff_off(void)
{
	return off;
}

unsigned handoff_buffers(unsigned senders, unsigned workers)
{
	unsigned sizes = 0;

	for (unsigned p = 0; p < PRIORITIES; p++)
		sizes += ring_sizes[p];
	return senders * (workers - 1) * sizes;
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

struct handoff_queue *handoff_queue(unsigned from, unsigned to)
{
	struct handoff_queue *queue;

	if (queues == NULL || from >= nb_workers || to >= nb_workers)
		return NULL;
	queue = &queues[from * nb_workers + to];
	return queue->rings[0].ring == NULL ? NULL : queue;
}

static int create_queue(unsigned from, unsigned to)
{
	struct handoff_queue *queue = &queues[from * nb_workers + to];
	char name[RTE_RING_NAMESIZE * 2];

	queue->batch = queue_batch;
	queue->writer = worker_of_forwarder(from)->index;
	queue->reader = worker_of_forwarder(to)->index;
	queue->waker = worker_of_forwarder(to)->waker;
	snprintf(name, sizeof(name), "handoff-%u-%u", from, to);
	if (threading == THREADING_LOCKED && (queue->lock = lock_create(name)) == NULL)
		return -ENOMEM;
	for (unsigned p = 0; p < PRIORITIES; p++) {
		snprintf(name, sizeof(name), "handoff-%u-%u-%s", from, to,
			priority_name((enum priority)p));
		queue->rings[p].ring = rte_ring_create(name, ring_sizes[p], memory_socket(),
			RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
		if (queue->rings[p].ring != NULL)
			continue;
		fprintf(stderr, "forwarder.handoff_ring: no memory for a ring of %u: %s\n",
			ring_sizes[p], rte_strerror(rte_errno));
		return -ENOMEM;
	}
	return 0;
}

int handoff_create(handoff_hash_t hash, uint64_t senders)
{
	int rc = 0;

	if (senders == 0)
		return 0;
	hash_vector = hash != NULL ? hash : flow_hash_vector;
	nb_workers = workers_forwarders();
	queues = rte_zmalloc_socket("handoff", (size_t)nb_workers * nb_workers * sizeof(*queues),
		RTE_CACHE_LINE_SIZE, memory_socket());
	if (queues == NULL)
		return -ENOMEM;
	for (unsigned from = 0; from < nb_workers; from++)
		for (unsigned to = handoff_first_target(); to < nb_workers && rc == 0; to++)
			if ((senders & 1ull << from) != 0 && to != from)
				rc = create_queue(from, to);
	for (unsigned i = handoff_first_target(); i < nb_workers; i++)
		worker_add_node(worker_of_forwarder(i), "handoff-rx");
	return rc;
}

void handoff_ledger(struct ledger *ledger)
{
	uint64_t held = 0;

	for (unsigned from = 0; from < nb_workers; from++)
		for (unsigned to = 0; to < nb_workers; to++)
			if (handoff_queue(from, to) != NULL)
				held += handoff_queue_count(handoff_queue(from, to));
	if (held != 0)
		ledger_add(ledger, LEDGER_HELD, held, "handoff rings");
}
LEDGER_SOURCE_REGISTER(LEDGER_STAGE_HANDOFF, handoff_ledger)
