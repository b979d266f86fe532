/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile_run.h"

#include "profile_state.h"
#include "schedule_run.h"
#include "tester.h"

static void begin(struct profile *profile, const struct profile_order *order, uint64_t now)
{
	profile->run = order->run;
	profile->start_clock = profile->read_clock = now;
	profile->end_clock =
		order->duration_clocks == 0 ? UINT64_MAX : now + order->duration_clocks;
	profile->scaled = profile->unscaled = 0;
	profile->sent = 0;
	profile->limited = false;
}

/* Cycles of the profile's clock that a schedule goes by. */
static double clock_of(const struct profile *profile, const struct schedule *schedule)
{
	return schedule->unscaled ? profile->unscaled : profile->scaled;
}

/* Schedules that the order before did not have begin now. */
static void begin_schedules(struct profile *profile, const struct profile_order *order)
{
	for (unsigned i = 0; i < order->nb_schedules; i++) {
		struct schedule *schedule = order->schedules[i];

		if (schedule->run == order->run)
			continue;
		schedule->run = order->run;
		schedule->origin = clock_of(profile, schedule);
		schedule->pps = schedule->full_pps;
		schedule->scale = 1;
		schedule->sent = schedule->not_before = 0;
		schedule->limit = schedule->burst != 0 ? schedule->burst : UINT64_MAX;
		schedule_set_clocks(schedule, (double)rte_get_tsc_hz());
		if (schedule->at != NULL)
			schedule_timed_start(schedule, (double)rte_get_tsc_hz());
	}
}

/* Brings the profile's clocks up to `now`. */
static void read_clocks(struct profile *profile, uint64_t now)
{
	double passed = now > profile->read_clock ? (double)(now - profile->read_clock) : 0;

	if (profile->speed > 0)
		profile->unscaled += passed;
	profile->scaled += passed * profile->speed;
	profile->read_clock = RTE_MAX(now, profile->read_clock);
}

static void finish(struct profile *profile)
{
	__atomic_store_n(&profile->finished, profile->run, __ATOMIC_RELEASE);
}

/* Takes the newest order; returns whether frames are to be made by it. */
static bool take_order(struct profile *profile, uint64_t now)
{
	const struct profile_order *order = __atomic_load_n(&profile->order, __ATOMIC_ACQUIRE);

	if (order == NULL)
		return false;
	if (order->serial != profile->serial) {
		if (order->run != profile->run) {
			if (order->at_tsc > rte_rdtsc() && !order->stop)
				return false;
			begin(profile, order, now);
		} else if (profile->finished != order->run)
			read_clocks(profile, now);
		profile->taken = order;
		profile->serial = order->serial;
		profile->speed = order->scale;
		begin_schedules(profile, order);
	}
	if (profile->finished == profile->run)
		return false;
	if (order->stop)
		finish(profile);
	return !order->stop;
}

/* Its time is over: what was due by then is sent, however late, and no more. */
static void limit(struct profile *profile)
{
	const struct profile_order *order = profile->taken;

	for (unsigned i = 0; i < order->nb_schedules; i++) {
		struct schedule *schedule = order->schedules[i];
		double clock = clock_of(profile, schedule) - schedule->origin;
		uint64_t due =
			schedule_frames(schedule, 1, RTE_MAX(clock, 0) / (double)rte_get_tsc_hz());

		schedule->limit = RTE_MIN(schedule->limit, RTE_MAX(due, schedule->sent));
	}
	for (unsigned clock = 0; clock < PROFILE_CLOCKS; clock++)
		due_heap_restart(&order->due[clock]);
}

/* Whether nothing more can come. */
static bool is_over(const struct profile *profile)
{
	const struct profile_order *order = profile->taken;

	if (order->packets != 0 && profile->sent >= order->packets)
		return true;
	for (unsigned clock = 0; clock < PROFILE_CLOCKS; clock++)
		if (due_heap_clock(&order->due[clock]) != DUE_NEVER)
			return false;
	return profile->limited || order->nb_schedules > 0;
}

/* Those that are due by one of its clocks, the first one first. */
static unsigned make_by_clock(struct profile *profile, enum profile_clock clock, double now,
	struct rte_mbuf **mbufs, unsigned room)
{
	const struct profile_order *order = profile->taken;
	const struct due_heap *due = &order->due[clock];
	struct schedule *const *schedules =
		order->schedules + (clock == PROFILE_SCALED ? 0 : order->nb_scaled);
	uint64_t until = now > 0 ? (uint64_t)now : 0;
	unsigned total = 0;

	for (unsigned looks = 0;
		looks < SCHEDULE_LOOKS_MAX && total < room && due_heap_clock(due) <= until; looks++)
		total += schedule_take_turn(schedules[due_heap_number(due)], due,
			profile->port->senders[0]->pool, mbufs + total, until, room - total);
	return total;
}

static unsigned make(struct profile *profile, struct rte_mbuf **mbufs, unsigned room)
{
	const struct profile_order *order = profile->taken;
	unsigned total;

	if (order->packets != 0)
		room = (unsigned)RTE_MIN((uint64_t)room, order->packets - profile->sent);
	total = make_by_clock(profile, PROFILE_SCALED, profile->scaled, mbufs, room);
	total += make_by_clock(
		profile, PROFILE_UNSCALED, profile->unscaled, mbufs + total, room - total);
	profile->sent += total;
	return total;
}

static unsigned profile_make(
	struct profile *profile, struct rte_mbuf **mbufs, unsigned room, uint64_t now)
{
	unsigned made;

	if (!take_order(profile, now))
		return 0;
	if (unlikely(now >= profile->end_clock && !profile->limited)) {
		read_clocks(profile, profile->end_clock);
		limit(profile);
		profile->limited = true;
	}
	read_clocks(profile, now);
	made = make(profile, mbufs, room);
	if (made == 0 && is_over(profile))
		finish(profile);
	return made;
}

unsigned profiles_make(struct tester_sender *sender, struct rte_mbuf **mbufs, unsigned room)
{
	const struct profile_set *set = __atomic_load_n(&sender->port->profiles, __ATOMIC_ACQUIRE);
	uint64_t now = tester_clock(sender->port->port);
	unsigned total = 0;

	for (unsigned i = 0; i < set->count && total < room; i++)
		total += profile_make(set->profiles[i], mbufs + total, room - total, now);
	return total;
}

void profiles_follow(struct tester_sender *sender)
{
	const struct profile_set *set = __atomic_load_n(&sender->port->profiles, __ATOMIC_ACQUIRE);
	uint64_t now = tester_clock(sender->port->port);

	for (unsigned i = 0; i < set->count; i++)
		(void)take_order(set->profiles[i], now);
}
