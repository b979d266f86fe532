/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles at work, by their orders: nothing is shared between senders, and nothing waited for. */
#include "profile_run.h"

#include "profile_state.h"
#include "schedule_run.h"
#include "tester.h"

static void begin(struct profile_part *part, const struct profile_order *order, uint64_t now)
{
	uint64_t duration_clocks = order->plan.duration_clocks;

	__atomic_store_n(&part->run, order->plan.run, __ATOMIC_RELAXED);
	part->start_clock = part->read_clock = now;
	part->end_clock = duration_clocks == 0 ? UINT64_MAX : now + duration_clocks;
	part->scaled = part->unscaled = 0;
	part->sent = 0;
	part->limited = false;
}

/* Cycles of the profile's clock that a schedule goes by. */
static double clock_of(const struct profile_part *part, const struct schedule *schedule)
{
	return schedule->unscaled ? part->unscaled : part->scaled;
}

/* Schedules that the order before did not have begin now. */
static void begin_schedules(struct profile_part *part, const struct profile_order *order)
{
	for (unsigned i = 0; i < order->nb_schedules; i++) {
		struct schedule *schedule = order->schedules[i];

		if (schedule->run == order->plan.run)
			continue;
		schedule->run = order->plan.run;
		schedule->origin = clock_of(part, schedule);
		schedule->pps = schedule->full_pps;
		schedule->scale = 1;
		schedule->sent = schedule->not_before = 0;
		schedule->limit = schedule->burst != 0 ? schedule->burst : UINT64_MAX;
		schedule_set_clocks(schedule, (double)rte_get_tsc_hz());
		if (schedule->at != NULL)
			schedule_timed_start(schedule, (double)rte_get_tsc_hz());
	}
}

/*
 * Brings the profile's clocks to `now`: back, where rates changed before the sender learned of it.
 * No schedule minds: none sends before `not_before`, which is behind what it sent by.
 */
static void read_clocks(struct profile_part *part, uint64_t now)
{
	double passed = (double)(int64_t)(now - part->read_clock);

	if (part->speed > 0)
		part->unscaled += passed;
	part->scaled += passed * part->speed;
	part->read_clock = now;
}

static bool is_finished(const struct profile_part *part)
{
	return part->finished == part->serial;
}

static void finish(struct profile_part *part)
{
	__atomic_store_n(&part->finished, part->serial, __ATOMIC_RELEASE);
}

/* Lets the schedules send what was due by now, however late, and no more. */
static void limit_schedules(const struct profile_part *part)
{
	const struct profile_order *order = part->taken;

	for (unsigned i = 0; i < order->nb_schedules; i++) {
		struct schedule *schedule = order->schedules[i];
		double clock = clock_of(part, schedule) - schedule->origin;
		uint64_t due =
			schedule_frames(schedule, 1, RTE_MAX(clock, 0) / (double)rte_get_tsc_hz());

		schedule->limit = RTE_MIN(schedule->limit, RTE_MAX(due, schedule->sent));
	}
	for (unsigned clock = 0; clock < PROFILE_CLOCKS; clock++)
		due_heap_restart(&order->due[clock]);
}

/* Ends the run if its time is over by then. */
static void end_in_time(struct profile_part *part, uint64_t now)
{
	if (likely(now < part->end_clock || part->limited))
		return;
	read_clocks(part, part->end_clock);
	limit_schedules(part);
	part->limited = true;
}

/* Takes up an order. Returns false where it waits for its time. */
static bool take_up(struct profile_part *part, const struct profile_order *order, uint64_t now)
{
	const struct profile_plan *plan = &order->plan;
	uint64_t since = plan->since != 0 ? plan->since : now;

	if (plan->run != part->run) {
		if (plan->at_tsc > rte_rdtsc() && !plan->stop)
			return false;
		begin(part, order, since);
	} else if (!is_finished(part) || !plan->stop) {
		end_in_time(part, since);
		read_clocks(part, since);
	}
	part->taken = order;
	part->serial = plan->serial;
	part->speed = plan->scale;
	begin_schedules(part, order);
	if (part->limited)
		limit_schedules(part);
	if (plan->stop)
		finish(part);
	return true;
}

/* Takes the newest order, and says that it was seen. */
static void follow(struct profile_part *part, uint64_t now)
{
	const struct profile_order *order = __atomic_load_n(&part->order, __ATOMIC_ACQUIRE);

	if (likely(order == NULL || order->plan.serial == part->serial))
		return;
	(void)take_up(part, order, now);
	if (part->seen != order->plan.serial)
		__atomic_store_n(&part->seen, order->plan.serial, __ATOMIC_RELEASE);
}

/* Whether nothing more can come. */
static bool is_over(const struct profile_part *part)
{
	const struct profile_order *order = part->taken;

	if (part->sent >= order->packets)
		return true;
	for (unsigned clock = 0; clock < PROFILE_CLOCKS; clock++)
		if (due_heap_clock(&order->due[clock]) != DUE_NEVER)
			return false;
	return part->limited || order->plan.sends;
}

/* Those that are due by one of its clocks, the first one first. */
static unsigned make_by_clock(const struct profile_order *order, enum profile_clock clock,
	double now, struct rte_mempool *pool, struct rte_mbuf **mbufs, unsigned room)
{
	const struct due_heap *due = &order->due[clock];
	struct schedule *const *schedules =
		order->schedules + (clock == PROFILE_SCALED ? 0 : order->nb_scaled);
	uint64_t until = now > 0 ? (uint64_t)now : 0;
	unsigned total = 0;

	for (unsigned looks = 0;
		looks < SCHEDULE_LOOKS_MAX && total < room && due_heap_clock(due) <= until; looks++)
		total += schedule_take_turn(schedules[due_heap_number(due)], due, pool,
			mbufs + total, until, room - total);
	return total;
}

static unsigned make(
	struct profile_part *part, struct rte_mempool *pool, struct rte_mbuf **mbufs, unsigned room)
{
	const struct profile_order *order = part->taken;
	unsigned total;

	room = (unsigned)RTE_MIN((uint64_t)room, order->packets - part->sent);
	total = make_by_clock(order, PROFILE_SCALED, part->scaled, pool, mbufs, room);
	total += make_by_clock(
		order, PROFILE_UNSCALED, part->unscaled, pool, mbufs + total, room - total);
	part->sent += total;
	return total;
}

/* In a pause nothing is made, and nothing forgotten: what a late sender owes comes after it. */
static unsigned part_make(struct profile_part *part, struct rte_mempool *pool,
	struct rte_mbuf **mbufs, unsigned room, uint64_t now)
{
	unsigned made;

	if (is_finished(part))
		return 0;
	end_in_time(part, now);
	read_clocks(part, now);
	if (part->speed == 0 && !part->limited)
		return 0;
	made = part->speed == 0 ? 0 : make(part, pool, mbufs, room);
	if (made == 0 && (part->speed == 0 || is_over(part)))
		finish(part);
	return made;
}

unsigned profiles_make(struct tester_sender *sender, struct rte_mbuf **mbufs, unsigned room)
{
	const struct profile_set *set = __atomic_load_n(&sender->port->profiles, __ATOMIC_ACQUIRE);
	uint64_t now = tester_clock(sender->port->port);
	unsigned total = 0;

	for (unsigned i = 0; i < set->count; i++) {
		struct profile_part *part = &set->profiles[i]->parts[sender->number];

		follow(part, now);
		if (unlikely(part->settled != part->seen))
			__atomic_store_n(&part->settled, part->seen, __ATOMIC_RELEASE);
		if (total < room)
			total += part_make(part, sender->pool, mbufs + total, room - total, now);
	}
	return total;
}

void profiles_follow(struct tester_sender *sender)
{
	const struct profile_set *set = __atomic_load_n(&sender->port->profiles, __ATOMIC_ACQUIRE);
	uint64_t now = tester_clock(sender->port->port);

	for (unsigned i = 0; i < set->count; i++)
		follow(&set->profiles[i]->parts[sender->number], now);
}
