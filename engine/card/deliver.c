/* SPDX-License-Identifier: BSD-3-Clause */
#include "deliver.h"

#include "core/waker.h"
#include "card_flow_rules.h"
#include "copy.h"

#define VECTOR_MAX 256

/* Slots of the queue's rx ring that hold a posted buffer. */
static inline uint32_t rx_slots(struct card_queue *queue, uint32_t want)
{
	uint32_t slots = queue->rx_given - queue->rx_returned;

	if (slots < want) {
		queue->rx_given = __atomic_load_n(&queue->rx->given, __ATOMIC_ACQUIRE);
		slots = queue->rx_given - queue->rx_returned;
	}
	return slots;
}

/* Copies `count` frames into the queue's next posted buffers. `descriptors` lack the lengths; NULL
 * is as all 0. */
static __rte_always_inline void fill_buffers(struct card_queue *queue, struct rte_mbuf **mbufs,
	const uint64_t *descriptors, uint16_t count)
{
	const uint64_t *buffers = queue->rx->to_card;
	uint64_t *filled = queue->rx->from_card;
	uint32_t mask = queue->rx->mask, first = queue->rx_returned;

	/* Both the buffers and the descriptors were last written by the DUT's core. */
	for (uint16_t i = 0; i < count; i++)
		__builtin_prefetch((void *)buffers[(first + i) & mask], 1, 3);
	for (uint16_t i = 0; i < count; i++) {
		uint32_t slot = (first + i) & mask;
		uint16_t length = mbufs[i]->data_len;

		copy_frame((void *)buffers[slot], rte_pktmbuf_mtod(mbufs[i], void *), length);
		filled[slot] = descriptors == NULL ? length : descriptors[i] | length;
	}
}

typedef void (*fill_buffers_t)(struct card_queue *queue, struct rte_mbuf **mbufs,
	const uint64_t *descriptors, uint16_t count);

static void fill_buffers_baseline(struct card_queue *queue, struct rte_mbuf **mbufs,
	const uint64_t *descriptors, uint16_t count)
{
	fill_buffers(queue, mbufs, descriptors, count);
}

#ifdef COPY_AVX512
COPY_AVX512 static void fill_buffers_avx512(struct card_queue *queue, struct rte_mbuf **mbufs,
	const uint64_t *descriptors, uint16_t count)
{
	fill_buffers(queue, mbufs, descriptors, count);
}
#endif

static fill_buffers_t fill_buffers_chosen = fill_buffers_baseline;

void card_deliver_start(void)
{
#ifdef COPY_AVX512
	if (copy_avx512_runs())
		fill_buffers_chosen = fill_buffers_avx512;
#endif
}

/* Delivers as many frames as there are posted buffers; the rest is missed. */
static void deliver(struct card_port *port, unsigned queue_index, struct rte_mbuf **mbufs,
	const uint64_t *descriptors, uint16_t count)
{
	struct card_queue *queue = &port->queues[queue_index];
	struct card_ring *ring = queue->rx;
	uint16_t fill = (uint16_t)RTE_MIN((uint32_t)count, rx_slots(queue, count));

	if (fill > 0) {
		fill_buffers_chosen(queue, mbufs, descriptors, fill);
		queue->rx_returned += fill;
		__atomic_store_n(&ring->returned, queue->rx_returned, __ATOMIC_RELEASE);
	}
	if (unlikely(ring->waker != NULL))
		waker_signal(ring->waker);
	if (unlikely(fill < count)) {
		queue->rx_missed += count - fill;
		port->rx_drops[__atomic_load_n(&ring->starved, __ATOMIC_RELAXED)
				       ? CARD_RX_NO_MBUF
				       : CARD_RX_MISSED] += count - fill;
	}
}

/* Frames by queue, in their order within each. */
struct sorted {
	struct rte_mbuf *mbufs[CARD_QUEUES_MAX][VECTOR_MAX];
	uint64_t descriptors[CARD_QUEUES_MAX][VECTOR_MAX];
	uint16_t counts[CARD_QUEUES_MAX];
};

static __rte_always_inline void sort_in(
	struct sorted *sorted, unsigned queue, struct rte_mbuf *mbuf, uint64_t descriptor)
{
	uint16_t at = sorted->counts[queue]++;

	sorted->mbufs[queue][at] = mbuf;
	sorted->descriptors[queue][at] = descriptor;
}

static void deliver_sorted(struct card_port *port, struct sorted *sorted)
{
	for (unsigned q = 0; q < port->card->nb_queues; q++)
		if (sorted->counts[q] > 0)
			deliver(port, q, sorted->mbufs[q], sorted->descriptors[q],
				sorted->counts[q]);
}

static inline unsigned rss_of(
	const struct card_port *port, const struct rte_mbuf *mbuf, uint64_t *descriptor)
{
	uint32_t hash;
	uint16_t queue = card_rss_queue(
		&port->rss, rte_pktmbuf_mtod(mbuf, const void *), mbuf->data_len, &hash);

	*descriptor = CARD_RX_DESCRIPTOR(0, CARD_RX_HASHED, hash);
	return queue;
}

static void deliver_by_rss(struct card_port *port, struct rte_mbuf **mbufs, uint16_t count)
{
	struct sorted sorted;

	memset(sorted.counts, 0, sizeof(sorted.counts));
	for (uint16_t i = 0; i < count; i++) {
		uint64_t descriptor;
		unsigned queue = rss_of(port, mbufs[i], &descriptor);

		sort_in(&sorted, queue, mbufs[i], descriptor);
	}
	deliver_sorted(port, &sorted);
}

/* One of the rule's queues, or what RSS says. */
static unsigned queue_of(const struct card_port *port, const struct card_rule *rule,
	const struct rte_mbuf *mbuf, uint64_t *descriptor)
{
	uint64_t turn;

	*descriptor = 0;
	if (rule != NULL && rule->nb_queues == 1)
		return rule->queues & 0xf;
	if (port->card->nb_queues == 1)
		return 0;
	if (rule == NULL || rule->nb_queues == 0)
		return rss_of(port, mbuf, descriptor);
	(void)rss_of(port, mbuf, descriptor);
	turn = (uint64_t)CARD_RX_WORD(*descriptor) * rule->nb_queues >> 32;
	return rule->queues >> 4 * turn & 0xf;
}

/* Applies the rule's actions other than the queue. Returns false when it drops the frame. */
static inline bool apply(struct card_port *port, struct card_rule *rule,
	const struct rte_mbuf *mbuf, uint64_t *descriptor)
{
	if (rule->flags & CARD_RULE_COUNT) {
		rule->packets++;
		rule->bytes += mbuf->data_len + RTE_ETHER_CRC_LEN;
	}
	if (rule->flags & CARD_RULE_DROP) {
		port->rx_drops[CARD_RX_RULE]++;
		return false;
	}
	if (rule->flags & CARD_RULE_MARK) {
		*descriptor = CARD_RX_DESCRIPTOR(0, CARD_RX_MARKED, rule->mark);
		port->flow_table->marked++;
	}
	return true;
}

static __rte_noinline void deliver_by_rules(
	struct card_port *port, struct rte_mbuf **mbufs, uint16_t count)
{
	struct card_rule *matched[VECTOR_MAX];
	struct sorted sorted;

	memset(sorted.counts, 0, sizeof(sorted.counts));
	card_flow_match(port->flow_table, mbufs, matched, count);
	for (uint16_t i = 0; i < count; i++) {
		uint64_t descriptor;
		unsigned queue = queue_of(port, matched[i], mbufs[i], &descriptor);

		if (matched[i] == NULL || apply(port, matched[i], mbufs[i], &descriptor))
			sort_in(&sorted, queue, mbufs[i], descriptor);
	}
	deliver_sorted(port, &sorted);
}

void card_deliver(struct card_port *port, struct rte_mbuf **mbufs, uint16_t count)
{
	if (unlikely(card_flow_rules_stand(port)))
		deliver_by_rules(port, mbufs, count);
	else if (port->card->nb_queues > 1)
		deliver_by_rss(port, mbufs, count);
	else if (count > 0)
		deliver(port, 0, mbufs, NULL, count);
}
