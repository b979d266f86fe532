/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connections: makes the packets of living connections when they are due, and begins new ones.
 * At most STREAM_BURST_MAX a call and batch by batch, so that a batch's connections, packets and
 * frames are fetched before they are needed. Each side's packets of a call go to the wire in one
 * vector, the clients' first: where both sides of a connection are due, the second waits for the
 * next call, so that no answer overtakes what it answers. A worker that came late catches up
 * slowly: connections_pace().
 *
 * Behind the trial's time the connections that live still end, and then the trial is over; that
 * it took so long is not the trial's time, unless the tester was late: packets over time is the
 * rate at which they come while connections begin.
 */
#include "tester/connections.h"
#include "tester/tester.h"

#include <rte_cycles.h>
#include <rte_prefetch.h>

/* Distance in packets at which frames and buffers are fetched. */
#define FILL_AHEAD 4

enum next {
	NEXT_MADE_CLIENT,
	NEXT_MADE_SERVER,
	NEXT_KEPT_CLIENT, /* what found no room goes to the wire by itself */
	NEXT_KEPT_SERVER,
};

static void trial_start(struct connections *connections, uint32_t number, uint64_t now)
{
	double hertz = (double)rte_get_tsc_hz();

	connections_start(connections, (double)tester.order.duration_clocks / hertz,
		tester.order.scale, hertz);
	for (unsigned side = 0; side < CONNECTION_SIDES; side++) {
		struct sender_trial *trial = &connections->ports[side]->senders[0]->trial;

		trial->start_clock = now;
		trial->start_tsc = rte_rdtsc();
		__atomic_store_n(&trial->started, number, __ATOMIC_RELEASE);
	}
	connections->trial = number;
}

/* Time for which connections continue after the trial's end because of their length. */
static uint64_t tail_clocks(const struct connections *connections)
{
	uint64_t duration = tester.order.duration_clocks;

	return connections->wheel.nb_waiting != 0 || connections->last_due <= duration
		       ? 0
		       : connections->last_due - duration;
}

static void trial_finish(struct connections *connections, uint64_t now)
{
	uint64_t tail = tail_clocks(connections);

	connections_cut(connections);
	for (unsigned side = 0; side < CONNECTION_SIDES; side++) {
		struct sender_trial *trial = &connections->ports[side]->senders[0]->trial;

		trial->end_clock = now - tail;
		trial->end_tsc = rte_rdtsc() - tail;
		__atomic_store_n(&trial->finished, trial->started, __ATOMIC_RELEASE);
	}
}

static bool trial_over(const struct connections *connections, uint64_t elapsed)
{
	return __atomic_load_n(&tester.order.stop, __ATOMIC_RELAXED) == connections->trial ||
	       (elapsed >= tester.order.duration_clocks && connections->wheel.nb_waiting == 0);
}

/* A batch that is due, into its ports' vectors; returns how many. */
static unsigned make_batch(struct connections *connections, uint64_t elapsed,
	struct rte_mbuf **vectors[CONNECTION_SIDES], unsigned room)
{
	const struct connection_packet *packets[CONNECTION_BATCH];
	struct rte_mbuf *mbufs[CONNECTION_BATCH];
	uint32_t numbers[CONNECTION_BATCH];
	unsigned count = connections_due(
		connections, elapsed, numbers, RTE_MIN(room, (unsigned)CONNECTION_BATCH));

	if (count == 0)
		return 0;
	if (unlikely(rte_mempool_get_bulk(connections->mbufs, (void **)mbufs, count) != 0)) {
		connections_put_back(connections, numbers, count);
		return 0;
	}
	for (unsigned i = 0; i < count; i++) {
		packets[i] = &connections->packets[connections->living[numbers[i]].packet];
		rte_prefetch0(packets[i]);
		rte_prefetch0_write(mbufs[i]);
	}
	for (unsigned i = 0; i < count; i++) {
		const struct connection *connection = &connections->living[numbers[i]];

		if (likely(i + FILL_AHEAD < count)) {
			rte_prefetch0(packets[i + FILL_AHEAD]->frame);
			rte_prefetch0_write(rte_pktmbuf_mtod(mbufs[i + FILL_AHEAD], uint8_t *));
		}
		connection_fill(packets[i], &connection->words, mbufs[i]);
		*vectors[packets[i]->side]++ = mbufs[i];
		connections_sent_one(connections, numbers[i]);
	}
	return count;
}

static uint16_t make(struct rte_graph *graph, struct rte_node *node,
	struct connections *connections, uint64_t elapsed)
{
	struct rte_mbuf **starts[CONNECTION_SIDES], **vectors[CONNECTION_SIDES];
	unsigned total = 0, made;

	for (unsigned side = 0; side < CONNECTION_SIDES; side++)
		starts[side] = vectors[side] = (struct rte_mbuf **)rte_node_next_stream_get(
			graph, node, (rte_edge_t)side, STREAM_BURST_MAX);
	connections->next_turn = UINT64_MAX;
	do {
		made = make_batch(connections, elapsed, vectors, STREAM_BURST_MAX - total);
		total += made;
	} while (made > 0 && total < STREAM_BURST_MAX &&
		 connection_tick(connections->next_turn) >= connection_tick(elapsed));
	for (unsigned side = 0; side < CONNECTION_SIDES; side++)
		rte_node_next_stream_put(
			graph, node, (rte_edge_t)side, (uint16_t)(vectors[side] - starts[side]));
	return (uint16_t)total;
}

/* A trial that is stopped does not wait for a link that takes nothing to take what is held. */
static void give_up(struct connections *connections, uint32_t number)
{
	const struct tester_sender *sender = connections->ports[SIDE_CLIENT]->senders[0];
	uint64_t now = tester_clock(sender->port->port);

	if (sender->trial.started != number)
		trial_start(connections, number, now);
	trial_finish(connections, now);
}

/* Packets that a port had no room for go first, and nothing new before them. */
static bool send_held(
	struct rte_graph *graph, struct rte_node *node, struct connections *connections)
{
	uint32_t number = __atomic_load_n(&tester.order.start, __ATOMIC_ACQUIRE);
	bool any = false;

	for (unsigned side = 0; side < CONNECTION_SIDES; side++) {
		struct tester_sender *sender = connections->ports[side]->senders[0];
		uint16_t held = sender->nb_held;

		if (held == 0)
			continue;
		if (unlikely(sender->trial.finished != number && tester_gives_up(sender, number)))
			give_up(connections, number);
		sender->nb_held = 0;
		rte_node_enqueue(
			graph, node, (rte_edge_t)(NEXT_KEPT_CLIENT + side), sender->held, held);
		any = true;
	}
	return any;
}

static uint16_t connections_process(struct rte_graph *graph, struct rte_node *node,
	__rte_unused void **objs, __rte_unused uint16_t count)
{
	struct connections *connections = node_object(node);
	uint32_t number = __atomic_load_n(&tester.order.start, __ATOMIC_ACQUIRE);
	const struct tester_sender *sender = connections->ports[SIDE_CLIENT]->senders[0];
	uint64_t now, elapsed;

	if (unlikely(send_held(graph, node, connections)))
		return 0; /* they were counted when they were made */
	if (sender->trial.finished == number)
		return 0;
	now = tester_clock(sender->port->port);
	if (unlikely(sender->trial.started != number))
		trial_start(connections, number, now);
	elapsed = now - sender->trial.start_clock;
	if (unlikely(trial_over(connections, elapsed))) {
		trial_finish(connections, now);
		return 0;
	}
	return make(graph, node, connections, connections_pace(connections, elapsed));
}

static struct node_type connections_node = {
	.name = "connections",
	.process = connections_process,
	.nexts = {[NEXT_MADE_CLIENT] = "tester-tx",
		[NEXT_MADE_SERVER] = "tester-tx",
		[NEXT_KEPT_CLIENT] = "tester-tx",
		[NEXT_KEPT_SERVER] = "tester-tx"},
	.source = true,
	.template = true,
};
NODE_REGISTER(connections_node)
