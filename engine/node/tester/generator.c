/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generator: makes the frames of one sender's streams when they are due. At most
 * STREAM_BURST_MAX frames a call; when the worker was late it catches up at no more than 1 /
 * SCHEDULE_CATCH_UP of the rate, so that bursts stay separate.
 */
#include "tester/profile_run.h"
#include "tester/schedule_run.h"
#include "tester/slices.h"
#include "tester/tester.h"

#include <math.h>
#include <rte_cycles.h>

/* Between two readings of one clock, unless the worker loses its CPU there. */
#define CLOCKS_ALIKE_US 5

enum next {
	NEXT_MADE,
	NEXT_KEPT, /* what found no room goes to the wire by itself */
};

static void schedule_start(struct schedule *schedule, const struct trial_order *order)
{
	double seconds = (double)__atomic_load_n(&tester.end_clocks, __ATOMIC_RELAXED) /
			 (double)rte_get_tsc_hz();

	schedule->pps = schedule->full_pps * order->scale;
	schedule->sent = 0;
	schedule->not_before = 0;
	schedule->scale = order->scale;
	schedule->limit = isinf(schedule->pps) ? UINT64_MAX
					       : schedule_frames(schedule, order->scale, seconds);
	if (schedule->burst != 0)
		schedule->limit = RTE_MIN(schedule->burst, schedule->limit);
	schedule_set_clocks(schedule, (double)rte_get_tsc_hz());
	if (schedule->at != NULL)
		schedule_timed_start(schedule, (double)rte_get_tsc_hz());
}

/*
 * Senders on the same clock begin a trial at the same time of it, so that frames of both directions
 * of a capture keep their distance in time. Clocks with equal readings are one.
 */
static uint64_t common_start(const struct tester_sender *sender, uint32_t number, uint64_t now)
{
	uint64_t near = rte_get_tsc_hz() / 1000000 * CLOCKS_ALIKE_US;

	for (unsigned i = 0; i < tester.nb_senders; i++) {
		const struct tester_sender *other = tester.senders[i];

		if (other != sender &&
			__atomic_load_n(&other->trial.started, __ATOMIC_ACQUIRE) == number &&
			tester_clock(other->port->port) - now < near)
			return RTE_MIN(other->trial.start_clock, now);
	}
	return now;
}

static void trial_start(struct tester_sender *sender, uint32_t number, uint64_t now)
{
	due_heap_restart(&sender->due);
	sender->trial.limited = __atomic_load_n(&tester.end_clocks, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < sender->nb_schedules; i++)
		schedule_start(&sender->schedules[i], &tester.order);
	sender->trial.start_clock = common_start(sender, number, now);
	sender->trial.start_tsc = rte_rdtsc();
	slices_begin(sender);
	__atomic_store_n(&sender->trial.started, number, __ATOMIC_RELEASE);
}

static bool trial_over(const struct tester_sender *sender, uint64_t elapsed, uint32_t number)
{
	if (__atomic_load_n(&tester.order.stop, __ATOMIC_RELAXED) == number)
		return true;
	if (elapsed < sender->trial.limited)
		return sender->nb_schedules == 0;
	for (unsigned i = 0; i < sender->nb_schedules; i++)
		if (sender->schedules[i].sent < sender->schedules[i].limit &&
			!isinf(sender->schedules[i].pps))
			return false;
	return true;
}

/* The trial has what it went on for: each sender sends what was due by then. */
static void end_trial(uint64_t elapsed)
{
	__atomic_store_n(&tester.end_clocks, elapsed, __ATOMIC_RELAXED);
}

static void limit_schedules(struct tester_sender *sender, uint64_t end_clocks)
{
	double seconds = (double)end_clocks / (double)rte_get_tsc_hz();

	sender->trial.limited = end_clocks;
	for (unsigned i = 0; i < sender->nb_schedules; i++) {
		struct schedule *schedule = &sender->schedules[i];
		uint64_t frames = schedule_frames(schedule, schedule->scale, seconds);

		if (!isinf(schedule->pps))
			schedule->limit = RTE_MAX(schedule->sent, frames);
	}
	due_heap_restart(&sender->due);
}

static void trial_finish(struct tester_sender *sender, uint64_t now)
{
	sender->trial.end_clock = now;
	sender->trial.end_tsc = rte_rdtsc();
	__atomic_store_n(&sender->trial.finished, sender->trial.started, __ATOMIC_RELEASE);
}

static uint16_t generate(struct rte_graph *graph, struct rte_node *node,
	struct tester_sender *sender, uint64_t elapsed)
{
	struct rte_mbuf **mbufs = (struct rte_mbuf **)rte_node_next_stream_get(
		graph, node, NEXT_MADE, STREAM_BURST_MAX);
	unsigned made = 0;

	if (likely(sender->nb_schedules > 0))
		made = schedule_make(
			sender->schedules, sender->pool, mbufs, elapsed, STREAM_BURST_MAX);
	rte_node_next_stream_put(graph, node, NEXT_MADE, (uint16_t)made);
	return (uint16_t)made;
}

/* The same of several schedules, that which is due first in its turn. */
static uint16_t generate_in_turn(struct rte_graph *graph, struct rte_node *node,
	struct tester_sender *sender, uint64_t elapsed)
{
	struct due_heap *due = &sender->due;
	struct rte_mbuf **mbufs = (struct rte_mbuf **)rte_node_next_stream_get(
		graph, node, NEXT_MADE, STREAM_BURST_MAX);
	unsigned total = 0;

	for (unsigned looks = 0; looks < SCHEDULE_LOOKS_MAX && total < STREAM_BURST_MAX &&
				 due_heap_clock(due) <= elapsed;
		looks++)
		total += schedule_take_turn(&sender->schedules[due_heap_number(due)], due,
			sender->pool, mbufs + total, elapsed, STREAM_BURST_MAX - total);
	rte_node_next_stream_put(graph, node, NEXT_MADE, (uint16_t)total);
	return (uint16_t)total;
}

/* A trial that is stopped does not wait for a link that takes nothing to take what is held. */
static void give_up(struct tester_sender *sender, uint32_t number)
{
	uint64_t now = tester_clock(sender->port->port);

	if (sender->trial.started != number)
		trial_start(sender, number, now);
	trial_finish(sender, now);
}

/* Between trials: of profiles that run by themselves. */
static uint16_t generate_profiles(
	struct rte_graph *graph, struct rte_node *node, struct tester_sender *sender)
{
	struct rte_mbuf **mbufs = (struct rte_mbuf **)rte_node_next_stream_get(
		graph, node, NEXT_MADE, STREAM_BURST_MAX);
	unsigned made = profiles_make(sender, mbufs, STREAM_BURST_MAX);

	rte_node_next_stream_put(graph, node, NEXT_MADE, (uint16_t)made);
	return (uint16_t)made;
}

static uint16_t generator_process(struct rte_graph *graph, struct rte_node *node,
	__rte_unused void **objs, __rte_unused uint16_t count)
{
	struct tester_sender *sender = node_object(node);
	uint32_t number = __atomic_load_n(&tester.order.start, __ATOMIC_ACQUIRE);
	uint64_t now, elapsed, end_clocks;

	if (sender->nb_held > 0) {
		uint16_t held = sender->nb_held;

		if (unlikely(sender->trial.finished != number && tester_gives_up(sender, number)))
			give_up(sender, number);
		if (unlikely(sender->port->profiles != NULL))
			profiles_follow(sender);
		sender->nb_held = 0;
		rte_node_enqueue(graph, node, NEXT_KEPT, sender->held, held);
		return 0; /* they were counted when they were made */
	}
	if (sender->trial.finished == number)
		return sender->port->profiles == NULL ? 0 : generate_profiles(graph, node, sender);
	now = tester_clock(sender->port->port);
	if (unlikely(sender->trial.started != number))
		trial_start(sender, number, now);
	elapsed = now - sender->trial.start_clock;
	if (unlikely(slices_due(sender, elapsed)) && slices_take(elapsed))
		end_trial(elapsed);
	end_clocks = __atomic_load_n(&tester.end_clocks, __ATOMIC_RELAXED);
	if (unlikely(end_clocks != sender->trial.limited))
		limit_schedules(sender, end_clocks);
	if (unlikely(trial_over(sender, elapsed, number))) {
		trial_finish(sender, now);
		return 0;
	}
	if (unlikely(sender->due.count > 0))
		return generate_in_turn(graph, node, sender, elapsed);
	return generate(graph, node, sender, elapsed);
}

static struct node_type generator = {
	.name = "generator",
	.process = generator_process,
	.nexts = {[NEXT_MADE] = "tester-tx", [NEXT_KEPT] = "tester-tx"},
	.source = true,
	.template = true,
};
NODE_REGISTER(generator)
