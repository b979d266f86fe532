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
	profile->scaled = profile->unscaled = profile->paced = 0;
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
}

/* Whether nothing more can come. */
static bool is_over(const struct profile *profile)
{
	const struct profile_order *order = profile->taken;

	if (order->packets != 0 && profile->sent >= order->packets)
		return true;
	for (unsigned i = 0; i < order->nb_schedules; i++)
		if (order->schedules[i]->sent < order->schedules[i]->limit)
			return false;
	return profile->limited || order->nb_schedules > 0;
}

static unsigned make(struct profile *profile, struct rte_mbuf **mbufs, unsigned room, double scaled,
	double unscaled)
{
	const struct profile_order *order = profile->taken;
	unsigned total = 0;

	if (order->packets != 0)
		room = (unsigned)RTE_MIN((uint64_t)room, order->packets - profile->sent);
	for (unsigned i = 0; i < order->nb_schedules && total < room; i++) {
		struct schedule *schedule = order->schedules[i];
		double clock = (schedule->unscaled ? unscaled : scaled) - schedule->origin;
		uint64_t elapsed = clock > 0 ? (uint64_t)clock : 0;
		unsigned count = schedule_due(schedule, elapsed, room - total);

		if (count == 0)
			continue;
		if (unlikely(rte_mempool_get_bulk(profile->port->senders[0]->pool,
				     (void **)mbufs + total, count) != 0))
			break;
		schedule_fill(schedule, mbufs + total, count);
		schedule_pace(schedule, elapsed, count);
		total += count;
	}
	profile->sent += total;
	return total;
}

/* As generate_in_steps(): streams that take turns keep their order when the worker was late. */
static unsigned make_in_steps(struct profile *profile, struct rte_mbuf **mbufs, unsigned room)
{
	double step = (double)rte_get_tsc_hz() / 1e6 * SCHEDULE_STEP_US;
	double behind = profile->unscaled - profile->scaled;
	unsigned made = 0;

	for (unsigned i = 0;
		i < SCHEDULE_STEPS_MAX && made == 0 && profile->paced < profile->scaled; i++) {
		profile->paced = RTE_MIN(profile->scaled, profile->paced + step);
		made = make(profile, mbufs, room, profile->paced, profile->paced + behind);
	}
	return made;
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
	made = profile->taken->uneven
		       ? make_in_steps(profile, mbufs, room)
		       : make(profile, mbufs, room, profile->scaled, profile->unscaled);
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
