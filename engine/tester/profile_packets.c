/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile_packets.h"

#include "tester_state.h"

#include <rte_cycles.h>

/* More than any run sends. */
#define PACKETS_MAX (1ull << 60)
/* Time after which a schedule that sends at all has sent something. */
#define SECONDS_MAX 1e10
#define SEARCH_STEPS 100

/* Orders to be divided for, and how far the parts are. */
struct ahead {
	const struct profile *profile;
	const struct profile_plan *plan;
	struct profile_order **orders;
};

static bool has_begun(const struct ahead *ahead, unsigned sender)
{
	return ahead->profile->parts[sender].run == ahead->plan->run;
}

static uint64_t sent_by(const struct ahead *ahead, unsigned sender)
{
	return has_begun(ahead, sender) ? ahead->profile->parts[sender].sent : 0;
}

/* Frames of the schedule within that time from now on. */
static uint64_t of_schedule(
	const struct ahead *ahead, unsigned sender, const struct schedule *schedule, double seconds)
{
	const struct profile_part *part = &ahead->profile->parts[sender];
	double clock = schedule->unscaled ? part->unscaled : part->scaled;
	bool begun = has_begun(ahead, sender) && schedule->run == ahead->plan->run;
	double before = begun ? (clock - schedule->origin) / (double)rte_get_tsc_hz() : 0;
	uint64_t sent = begun ? schedule->sent : 0, frames;

	seconds *= schedule->unscaled ? 1 : ahead->profile->scale;
	frames = schedule_frames(schedule, 1, before + seconds);
	return RTE_MIN(frames > sent ? frames - sent : 0, PACKETS_MAX);
}

static uint64_t of_sender(const struct ahead *ahead, unsigned sender, double seconds)
{
	const struct profile_order *order = ahead->orders[sender];
	uint64_t frames = 0;

	for (unsigned i = 0; i < order->nb_schedules && frames < PACKETS_MAX; i++)
		frames += of_schedule(ahead, sender, order->schedules[i], seconds);
	return RTE_MIN(frames, PACKETS_MAX);
}

static uint64_t of_all(const struct ahead *ahead, double seconds)
{
	uint64_t frames = 0;

	for (unsigned s = 0; s < ahead->profile->port->nb_senders && frames < PACKETS_MAX; s++)
		frames += of_sender(ahead, s, seconds);
	return frames;
}

/* Gives each sender what it sends by `low`, and of what is left some that is due by `high`. */
static void give(const struct ahead *ahead, uint64_t packets, double low, double high)
{
	uint64_t left = packets - of_all(ahead, low);

	for (unsigned s = 0; s < ahead->profile->port->nb_senders; s++) {
		uint64_t surely = of_sender(ahead, s, low);
		uint64_t more = RTE_MIN(of_sender(ahead, s, high) - surely, left);

		ahead->orders[s]->packets = sent_by(ahead, s) + surely + more;
		left -= more;
	}
}

void profile_packets_divide(const struct profile *profile, const struct profile_plan *plan,
	struct profile_order **orders)
{
	struct ahead ahead = {profile, plan, orders};
	unsigned nb_senders = profile->port->nb_senders;
	uint64_t packets = plan->packets;
	double low = -SECONDS_MAX, high = 1e-6;

	for (unsigned s = 0; s < nb_senders; s++)
		orders[s]->packets = packets == 0 || nb_senders > 1 ? UINT64_MAX : packets;
	if (packets == 0 || nb_senders == 1)
		return;
	for (unsigned s = 0; s < nb_senders; s++)
		packets -= RTE_MIN(packets, sent_by(&ahead, s));
	while (high < SECONDS_MAX && of_all(&ahead, high) < packets)
		high *= 2;
	if (of_all(&ahead, high) < packets || packets >= PACKETS_MAX)
		return; /* they all send less */
	for (unsigned step = 0; step < SEARCH_STEPS; step++) {
		double middle = low + (high - low) / 2;

		if (of_all(&ahead, middle) >= packets)
			high = middle;
		else
			low = middle;
	}
	give(&ahead, packets, low, high);
}
