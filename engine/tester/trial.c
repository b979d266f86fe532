/* SPDX-License-Identifier: BSD-3-Clause */
#include "trial.h"

#include "card/cards.h"
#include "connections.h"
#include "drain.h"
#include "link_watch.h"
#include "profile.h"
#include "slices.h"
#include "stream_rx.h"
#include "tester.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <rte_cycles.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	enum trial_state state;
	uint32_t number;
	bool drained;
	uint64_t paused_before, waits_before; /* card totals when the trial began */
	uint64_t paused_after;
	uint64_t sent_before, received_before;
	uint64_t asked;
} trial;

const char *trial_state_name(enum trial_state state)
{
	static const char *const names[] = {"idle", "running", "draining", "done"};

	return names[state];
}

static uint64_t paused_total(void)
{
	uint64_t paused = 0;

	for (unsigned i = 0; i < cards_count(); i++)
		paused += __atomic_load_n(&card_at(i)->paused, __ATOMIC_RELAXED);
	return paused;
}

static uint64_t waits_total(void)
{
	uint64_t waits = 0;

	for (unsigned i = 0; i < cards_count(); i++)
		for (unsigned p = 0; p < CARD_PORTS; p++)
			waits += card_at(i)->ports[p].link_waits;
	return waits;
}

/* Packets that the schedules will send at this scale; 0 when some are unpaced. */
static uint64_t asked_packets(double seconds, double scale)
{
	uint64_t asked = tester.connections == NULL
				 ? 0
				 : connections_asked(tester.connections, seconds, scale);

	for (unsigned i = 0; i < tester.nb_senders; i++)
		for (unsigned s = 0; s < tester.senders[i]->nb_schedules; s++) {
			const struct schedule *schedule = &tester.senders[i]->schedules[s];

			if (isinf(schedule->full_pps))
				return 0;
			asked += schedule_frames(schedule, scale, seconds);
		}
	return asked;
}

static uint64_t clocks_of(uint64_t us)
{
	return (uint64_t)((double)us / 1e6 * (double)rte_get_tsc_hz());
}

/* While no worker is at it. Returns 0 or -ENOMEM. */
static int give_order(const struct trial_plan *plan)
{
	tester.order.duration_clocks = clocks_of(plan->duration_us);
	tester.order.clean_clocks = clocks_of(plan->clean_us);
	tester.order.limit_clocks = clocks_of(RTE_MAX(plan->limit_us, plan->duration_us));
	tester.order.scale = plan->scale;
	tester.end_clocks =
		plan->clean_us == 0 ? tester.order.duration_clocks : tester.order.limit_clocks;
	return slices_prepare();
}

static void settle_streams(void)
{
	for (unsigned i = 0; i < tester.nb_streams; i++)
		stream_rx_settle(tester.streams[i]);
}

int trial_start(const struct trial_plan *plan)
{
	double seconds = (double)plan->duration_us / 1e6;
	int number = -EBUSY;

	if (tester.nb_ports == 0)
		return -ENODEV;
	pthread_mutex_lock(&lock);
	if ((trial.state == TRIAL_IDLE || trial.state == TRIAL_DONE) && !profiles_run())
		number = give_order(plan);
	if (number == 0) {
		/* Between trials the tester's worker does not use them: all senders have reported
		 * that they finished, and take up the next with `start`. */
		if (tester.connections != NULL)
			connections_clear(tester.connections);
		trial.number++;
		trial.drained = false;
		trial.paused_before = paused_total();
		trial.waits_before = waits_total();
		trial.sent_before = tester_sent();
		trial.received_before = tester_received();
		trial.asked = asked_packets(seconds, plan->scale);
		settle_streams();
		link_watch_start();
		__atomic_store_n(&tester.order.start, trial.number, __ATOMIC_RELEASE);
		trial.state = TRIAL_RUNNING;
		tester.has_trial = true;
		number = (int)trial.number;
	}
	pthread_mutex_unlock(&lock);
	return number;
}

int trial_stop(void)
{
	pthread_mutex_lock(&lock);
	__atomic_store_n(&tester.order.stop, trial.number, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	return 0;
}

static bool all_finished(void)
{
	for (unsigned i = 0; i < tester.nb_senders; i++)
		if (__atomic_load_n(&tester.senders[i]->trial.finished, __ATOMIC_ACQUIRE) !=
			trial.number)
			return false;
	return true;
}

static void follow_drain(uint64_t now)
{
	enum drain_state state = drain_follow(now);

	if (state == DRAIN_MOVING)
		return;
	trial.drained = state == DRAIN_DRAINED;
	trial.state = TRIAL_DONE;
	tester.has_trial = false;
}

void trial_tick(void)
{
	uint64_t now = rte_rdtsc();

	tester_workers_make_room();
	pthread_mutex_lock(&lock);
	if (trial.state == TRIAL_RUNNING && link_watch_look())
		__atomic_store_n(&tester.order.stop, trial.number, __ATOMIC_RELEASE);
	if (trial.state == TRIAL_RUNNING && all_finished()) {
		trial.state = TRIAL_DRAINING;
		/* One that goes on until it is clean enough ends when that is so. */
		if (tester.order.clean_clocks != 0)
			trial.asked =
				asked_packets((double)tester.end_clocks / (double)rte_get_tsc_hz(),
					tester.order.scale);
		drain_start(now);
		trial.paused_after = paused_total();
	}
	if (trial.state == TRIAL_DRAINING)
		follow_drain(now);
	pthread_mutex_unlock(&lock);
}

bool trial_active(void)
{
	return trial.state == TRIAL_RUNNING || trial.state == TRIAL_DRAINING;
}

bool trial_draining(void)
{
	return trial.state == TRIAL_DRAINING;
}

/* The longest of the senders' times; while one still sends, up to now. */
static void read_times(struct trial_status *status)
{
	status->start_tsc = UINT64_MAX;
	for (unsigned i = 0; i < tester.nb_senders; i++) {
		const struct sender_trial *part = &tester.senders[i]->trial;
		uint64_t clocks, end_tsc = part->end_tsc;

		if (__atomic_load_n(&part->started, __ATOMIC_ACQUIRE) != trial.number)
			continue;
		clocks = part->end_clock - part->start_clock;
		if (__atomic_load_n(&part->finished, __ATOMIC_ACQUIRE) != trial.number) {
			end_tsc = rte_rdtsc();
			clocks = end_tsc - part->start_tsc;
		}
		status->elapsed_us = RTE_MAX(status->elapsed_us,
			(uint64_t)((double)clocks * 1e6 / (double)rte_get_tsc_hz()));
		status->start_tsc = RTE_MIN(status->start_tsc, part->start_tsc);
		status->end_tsc = RTE_MAX(status->end_tsc, end_tsc);
	}
	if (status->start_tsc == UINT64_MAX)
		status->start_tsc = 0;
}

void trial_read(struct trial_status *status)
{
	uint64_t paused;

	*status = (struct trial_status){0};
	pthread_mutex_lock(&lock);
	status->number = trial.number;
	status->state = trial.state;
	if (trial.number != 0) {
		read_times(status);
		paused = trial.state == TRIAL_RUNNING ? paused_total() : trial.paused_after;
		status->paused_us = (uint64_t)((double)(paused - trial.paused_before) * 1e6 /
					       (double)rte_get_tsc_hz());
		status->asked_packets = trial.asked;
		status->sent_packets = tester_sent() - trial.sent_before;
		status->received_packets = tester_received() - trial.received_before;
		status->link_waits = waits_total() - trial.waits_before;
		status->drained = trial.drained;
	}
	pthread_mutex_unlock(&lock);
}
