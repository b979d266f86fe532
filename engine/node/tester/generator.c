/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generator: makes the frames of one tester port's streams when they are due. At most
 * STREAM_BURST_MAX frames a call; when the worker was late it catches up at no more than 1 /
 * SCHEDULE_CATCH_UP of the rate, so that bursts stay separate.
 */
#include "tester/slices.h"
#include "tester/tester.h"

#include <math.h>
#include <rte_cycles.h>

/* Step of a port whose streams have bursts; and the number of steps without a frame in a call. */
#define STEP_US 5
#define STEPS_MAX 64
/* Between two readings of one clock, unless the worker loses its CPU there. */
#define CLOCKS_ALIKE_US 5
/* Distance in slots at which the streams are fetched. */
#define SLOTS_AHEAD 16

enum next {
	NEXT_MADE,
	NEXT_KEPT, /* what found no room goes to the wire by itself */
};

static void schedule_start(struct schedule *schedule, const struct trial_order *order)
{
	double seconds = (double)tester.end_clocks / (double)rte_get_tsc_hz();

	schedule->pps = schedule->full_pps * order->scale;
	schedule->sent = 0;
	schedule->not_before = 0;
	schedule->scale = order->scale;
	schedule->limit = isinf(schedule->pps) ? UINT64_MAX
					       : schedule_frames(schedule, order->scale, seconds);
	if (schedule->burst != 0)
		schedule->limit = RTE_MIN(schedule->burst, schedule->limit);
	if (schedule->at != NULL)
		schedule_timed_start(schedule, (double)rte_get_tsc_hz());
}

/*
 * Ports on the same clock begin a trial at the same time of it, so that frames of both directions
 * of a capture keep their distance in time. Clocks with equal readings are one.
 */
static uint64_t common_start(const struct tester_port *port, uint32_t number, uint64_t now)
{
	uint64_t near = rte_get_tsc_hz() / 1000000 * CLOCKS_ALIKE_US;

	for (unsigned i = 0; i < tester.nb_ports; i++) {
		const struct tester_port *other = &tester.ports[i];

		if (other != port && other->trial.started == number &&
			tester_clock(other->port) - now < near)
			return RTE_MIN(other->trial.start_clock, now);
	}
	return now;
}

static void trial_start(struct tester_port *port, uint32_t number, uint64_t now)
{
	port->paced = 0;
	for (unsigned i = 0; i < port->nb_schedules; i++)
		schedule_start(&port->schedules[i], &tester.order);
	port->trial.start_clock = common_start(port, number, now);
	port->trial.start_tsc = rte_rdtsc();
	slices_begin(port);
	__atomic_store_n(&port->trial.started, number, __ATOMIC_RELEASE);
}

/*
 * A burst that ends with the last slot finds, next time, its buffers as it left them: each
 * with the template of the stream whose turn it is again.
 */
static unsigned whole_rounds(const struct schedule *schedule, unsigned frames)
{
	return frames > schedule->nb_slots
		       ? frames - (schedule->position + frames) % schedule->nb_slots
		       : frames;
}

/* Number of frames of the schedule that are due, at most `room`. */
static unsigned due(const struct schedule *schedule, uint64_t elapsed, unsigned room)
{
	uint64_t frames;

	if (schedule->sent >= schedule->limit || elapsed < schedule->not_before)
		return 0;
	if (isinf(schedule->pps)) {
		frames = RTE_MIN(schedule->limit - schedule->sent, (uint64_t)room);
		return whole_rounds(schedule, (unsigned)frames);
	}
	if (unlikely(schedule->uneven)) {
		if (schedule->at != NULL)
			return schedule_timed_due(schedule, elapsed, room);
		frames = schedule_frames(
			schedule, schedule->scale, (double)elapsed / (double)rte_get_tsc_hz());
	} else
		frames = (uint64_t)(schedule->pps * (double)elapsed / (double)rte_get_tsc_hz());
	frames = RTE_MIN(frames, schedule->limit) - schedule->sent;
	return whole_rounds(schedule, (unsigned)RTE_MIN(frames, (uint64_t)room));
}

/*
 * Each frame becomes the stream's whose slot it takes; then each stream fills all of its
 * frames at once, which costs less than one at a time in the order of the slots.
 */
static void fill_by_slots(struct schedule *schedule, struct rte_mbuf **mbufs, unsigned count)
{
	struct stream *streams[STREAM_BURST_MAX];
	unsigned nb_streams = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned ahead = schedule->position + SLOTS_AHEAD;
		struct stream *stream = schedule->slots[schedule->position];

		if (likely(ahead < schedule->nb_slots))
			stream_prefetch(schedule->slots[ahead]);
		if (++schedule->position == schedule->nb_slots)
			schedule->position = 0;
		if (stream->nb_gathered == 0)
			streams[nb_streams++] = stream;
		stream->gathered[stream->nb_gathered++] = mbufs[i];
	}
	for (unsigned i = 0; i < nb_streams; i++) {
		stream_fill(streams[i], streams[i]->gathered, streams[i]->nb_gathered);
		streams[i]->nb_gathered = 0;
	}
}

static void fill(struct schedule *schedule, struct rte_mbuf **mbufs, unsigned count)
{
	if (schedule->nb_slots == 1)
		stream_fill(schedule->slots[0], mbufs, count);
	else
		fill_by_slots(schedule, mbufs, count);
	schedule->sent += count;
}

static bool trial_over(const struct tester_port *port, uint64_t elapsed, uint32_t number)
{
	if (__atomic_load_n(&tester.order.stop, __ATOMIC_RELAXED) == number)
		return true;
	for (unsigned i = 0; i < port->nb_schedules; i++)
		if (port->schedules[i].sent < port->schedules[i].limit &&
			(!isinf(port->schedules[i].pps) || elapsed < tester.end_clocks))
			return false;
	return elapsed >= tester.end_clocks || port->nb_schedules == 0;
}

/* The trial has what it went on for: it sends what was due by now. */
static void end_trial(uint64_t elapsed)
{
	double seconds = (double)elapsed / (double)rte_get_tsc_hz();

	tester.end_clocks = elapsed;
	for (unsigned i = 0; i < tester.nb_ports; i++)
		for (unsigned s = 0; s < tester.ports[i].nb_schedules; s++) {
			struct schedule *schedule = &tester.ports[i].schedules[s];
			uint64_t frames = schedule_frames(schedule, schedule->scale, seconds);

			if (!isinf(schedule->pps))
				schedule->limit = RTE_MAX(schedule->sent, frames);
		}
}

static void trial_finish(struct tester_port *port, uint64_t now)
{
	port->trial.end_clock = now;
	port->trial.end_tsc = rte_rdtsc();
	__atomic_store_n(&port->trial.finished, port->trial.started, __ATOMIC_RELEASE);
}

/* Sets when the schedule is read again, after this number of frames. */
static void pace(struct schedule *schedule, uint64_t elapsed, unsigned count)
{
	if (unlikely(schedule->at != NULL))
		schedule_timed_sent(schedule, elapsed, count);
	else
		schedule->not_before =
			elapsed + (uint64_t)(SCHEDULE_CATCH_UP * count * (double)rte_get_tsc_hz() /
					     schedule->pps);
}

static uint16_t generate(
	struct rte_graph *graph, struct rte_node *node, struct tester_port *port, uint64_t elapsed)
{
	unsigned room = STREAM_BURST_MAX, total = 0;
	struct rte_mbuf **mbufs = (struct rte_mbuf **)rte_node_next_stream_get(
		graph, node, NEXT_MADE, STREAM_BURST_MAX);

	for (unsigned i = 0; i < port->nb_schedules && total < room; i++) {
		struct schedule *schedule = &port->schedules[i];
		unsigned count = due(schedule, elapsed, room - total);

		if (count == 0)
			continue;
		if (unlikely(rte_mempool_get_bulk(port->pool, (void **)mbufs + total, count) != 0))
			break;
		fill(schedule, mbufs + total, count);
		pace(schedule, elapsed, count);
		total += count;
	}
	rte_node_next_stream_put(graph, node, NEXT_MADE, (uint16_t)total);
	return (uint16_t)total;
}

/*
 * The same where streams have bursts: a late worker goes on in small steps, so that streams that
 * take turns keep their order.
 */
static uint16_t generate_in_steps(
	struct rte_graph *graph, struct rte_node *node, struct tester_port *port, uint64_t elapsed)
{
	uint64_t step = rte_get_tsc_hz() / 1000000 * STEP_US;
	uint16_t made = 0;

	for (unsigned i = 0; i < STEPS_MAX && made == 0 && port->paced < elapsed; i++) {
		port->paced = RTE_MIN(elapsed, port->paced + step);
		made = generate(graph, node, port, port->paced);
	}
	return made;
}

/* A trial that is stopped does not wait for a link that takes nothing to take what is held. */
static void give_up(struct tester_port *port, uint32_t number)
{
	uint64_t now = tester_clock(port->port);

	if (port->trial.started != number)
		trial_start(port, number, now);
	trial_finish(port, now);
}

static uint16_t generator_process(struct rte_graph *graph, struct rte_node *node,
	__rte_unused void **objs, __rte_unused uint16_t count)
{
	struct tester_port *port = node_object(node);
	uint32_t number = __atomic_load_n(&tester.order.start, __ATOMIC_ACQUIRE);
	uint64_t now, elapsed;

	if (port->nb_held > 0) {
		uint16_t held = port->nb_held;

		if (unlikely(port->trial.finished != number && tester_gives_up(port, number)))
			give_up(port, number);
		port->nb_held = 0;
		rte_node_enqueue(graph, node, NEXT_KEPT, port->held, held);
		return 0; /* they were counted when they were made */
	}
	if (port->trial.finished == number)
		return 0;
	now = tester_clock(port->port);
	if (unlikely(port->trial.started != number))
		trial_start(port, number, now);
	elapsed = now - port->trial.start_clock;
	if (unlikely(slices_due(port, elapsed)) && slices_take(elapsed))
		end_trial(elapsed);
	if (unlikely(trial_over(port, elapsed, number))) {
		trial_finish(port, now);
		return 0;
	}
	if (unlikely(port->uneven))
		return generate_in_steps(graph, node, port, elapsed);
	return generate(graph, node, port, elapsed);
}

static struct node_type generator = {
	.name = "generator",
	.process = generator_process,
	.nexts = {[NEXT_MADE] = "tester-tx", [NEXT_KEPT] = "tester-tx"},
	.source = true,
	.template = true,
};
NODE_REGISTER(generator)
