/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices of a trial: which are disturbed, what they count, and how long a trial goes on. */
#include "core/ledger.h"
#include "core/node.h"
#include "core/worker.h"
#include "tester/slices.h"
#include "tester/tester.h"
#include "tester/trial.h"
#include "test.h"
#include "tester_harness.h"

#include <rte_cycles.h>

const struct tester_device tester_device = {.max_frame_bytes = 1518};

#define STREAM_OF(pps) \
	"\"streams\": [{\"port\": \"e0\", \"rate\": {\"pps\": " pps "}, \"layers\": " \
	"[{\"ethernet\": {}}, {\"ipv4\": {}}, {\"udp\": {}}]}]"
#define STREAM STREAM_OF("100000")
#define FAST_STREAM STREAM_OF("1000000")

static uint64_t clocks(double us)
{
	return (uint64_t)(us * (double)rte_get_tsc_hz() / 1e6);
}

/* The device's clock goes faster than the TSC, so nothing here takes it for having stood still. */
static void pass_ms(unsigned ms)
{
	uint64_t until = device_clock + clocks(1000.0 * ms);

	while (device_clock < until) {
		device_clock += clocks(20);
		worker_of_tester(0)->last_tsc = rte_rdtsc();
		tester_walk();
	}
}

static void start(unsigned duration_ms, unsigned clean_ms, unsigned limit_ms)
{
	const struct trial_plan plan = {
		.duration_us = 1000ull * duration_ms,
		.scale = 1.0,
		.clean_us = 1000ull * clean_ms,
		.limit_us = 1000ull * limit_ms,
	};

	CHECK(trial_start(&plan) > 0);
	worker_of_tester(0)->last_tsc = rte_rdtsc();
	tester_walk();
}

static bool is_over(void)
{
	return tester.ports[0].senders[0]->trial.finished == tester.order.start;
}

static void an_undisturbed_trial_ends_on_time(void)
{
	struct slices_clean clean;
	struct trial_status status;

	start(45, 45, 135);
	pass_ms(44);
	CHECK(!is_over());
	pass_ms(2);
	CHECK(is_over());
	/* Four whole ones, and a half. */
	CHECK_EQUAL(slices_count(), 5);
	clean = slices_clean();
	CHECK_EQUAL(clean.slices, 5);
	CHECK(clean.clocks >= clocks(45000) && clean.clocks < clocks(45100));
	CHECK(clean.sent >= 4490 && clean.sent <= 4500);
	CHECK_EQUAL(clean.received, 0);
	for (unsigned i = 0; i < slices_count(); i++)
		CHECK(!slices_at(i)->disturbed);
	trial_tick();
	trial_read(&status);
	CHECK(status.asked_packets >= 4500 && status.asked_packets <= 4510);
	CHECK(status.sent_packets + 10 > status.asked_packets);
}

/* It was away in the tick that is under way: the TSC goes slower here than the device's clock. */
static void be_away(double us)
{
	struct worker *worker = worker_of_tester(0);

	worker->away_clocks += clocks(us);
	worker->away_until = rte_rdtsc();
	worker->away_since = worker->away_until - clocks(us);
}

/* Whether the millisecond that ends then was disturbed. */
static bool is_disturbed(unsigned end_ms)
{
	for (unsigned i = 0; i < slices_count(); i++)
		if (slices_at(i)->end_clocks + clocks(500) > clocks(1000.0 * end_ms))
			return slices_at(i)->disturbed;
	return false;
}

static unsigned disturbed_ms(unsigned of_ms)
{
	unsigned count = 0;

	for (unsigned ms = 1; ms <= of_ms; ms++)
		count += is_disturbed(ms);
	return count;
}

static void a_disturbed_tick_is_made_up_for(void)
{
	start(50, 50, 150);
	pass_ms(14);
	usleep(1000);
	be_away(300);
	usleep(1500);
	pass_ms(36);
	CHECK(!is_over());
	pass_ms(4);
	CHECK(is_over());
	CHECK(is_disturbed(15));
	CHECK(disturbed_ms(50) <= 3);
	/* 0-10, 10-14, the disturbed one, up to 20, and three more. */
	CHECK_EQUAL(slices_count(), slices_clean().slices + 1);
	for (unsigned i = 0; i < slices_count(); i++) {
		const struct slice *slice = slices_at(i);

		CHECK((slice->worker == worker_of_tester(0)) == slice->disturbed);
		CHECK_EQUAL(slice->away_clocks, slice->disturbed ? clocks(300) : 0);
	}
	CHECK(slices_clean().clocks >= clocks(50000) && slices_clean().clocks < clocks(51100));
}

static struct node_state lossy_state;

/* A node's counter, to lose packets by. */
static uint64_t *lossy(void)
{
	static const struct node_type type = {.name = "lossy", .reasons = {"lost on purpose"}};
	struct node_state *last = node_states();

	lossy_state.type = &type;
	while (last->link != NULL && last != &lossy_state)
		last = last->link;
	if (last != &lossy_state)
		last->link = &lossy_state;
	return &lossy_state.drops[0];
}

/* A stall that is too short to count as away does no harm by itself. */
static void a_stall_with_a_loss_disturbs(void)
{
	uint64_t *lost = lossy();

	start(40, 40, 40);
	pass_ms(5);
	worker_of_tester(0)->long_stalls++;
	*lost += 1;
	pass_ms(10);
	worker_of_tester(0)->long_stalls++;
	pass_ms(10);
	*lost += 1;
	pass_ms(16);
	CHECK(is_disturbed(6));
	CHECK_EQUAL(disturbed_ms(40), 1);
	for (unsigned i = 0; i < slices_count(); i++) {
		CHECK_EQUAL(slices_at(i)->away_clocks, 0);
		CHECK(slices_at(i)->worker == NULL);
	}
}

/* A stall is counted when it ends; rings overflow before that, and are emptied after it. */
static void a_stall_disturbs_lossy_neighbours(void)
{
	uint64_t *lost = lossy();

	start(20, 20, 20);
	pass_ms(4);
	for (unsigned ms = 5; ms <= 8; ms++) {
		*lost += 1;
		worker_of_tester(0)->long_stalls += ms == 6;
		pass_ms(1);
	}
	pass_ms(13);
	CHECK(is_disturbed(5) && is_disturbed(6) && is_disturbed(7));
	CHECK_EQUAL(disturbed_ms(20), 3);
}

/* A late tester sends more than it was asked to for a while: a loss then is its own. */
static void a_loss_while_catching_up_disturbs(void)
{
	uint64_t *lost = lossy();

	start(40, 40, 40);
	pass_ms(4);
	device_clock += clocks(500);
	pass_ms(2);
	*lost += 1;
	pass_ms(24);
	*lost += 1;
	pass_ms(11);
	CHECK(is_disturbed(7));
	CHECK_EQUAL(disturbed_ms(40), 1);
}

/* Away at a tick's end, and not back yet: it is counted when it is. */
static void pause_over_a_boundary_disturbs_both(void)
{
	start(40, 40, 40);
	pass_ms(9);
	usleep(1000);
	device_clock += clocks(1500);
	worker_of_tester(0)->last_tsc = rte_rdtsc() - 2 * worker_away_limit();
	tester_walk();
	be_away(250);
	pass_ms(30);
	CHECK(is_disturbed(10) && is_disturbed(11));
	CHECK(!is_disturbed(8));
}

/* Away from shortly before a tick's end: rings overflowed in that one already. */
static void pause_that_began_before_disturbs_both(void)
{
	start(40, 40, 40);
	pass_ms(9);
	be_away(50000);
	usleep(1500);
	pass_ms(32);
	CHECK(is_disturbed(9) && is_disturbed(10));
	CHECK_EQUAL(disturbed_ms(40), 2);
}

/* Rings that filled while a worker was away are emptied after that. */
static void recovery_disturbs_the_next(void)
{
	start(30, 30, 30);
	pass_ms(9);
	be_away(250);
	pass_ms(2);
	/* The TSC knows when it was, and goes slower here than the device's clock. */
	usleep(2000);
	pass_ms(20);
	CHECK(is_disturbed(10) && is_disturbed(11));
	CHECK(!is_disturbed(13));
}

static void it_ends_at_the_limit(void)
{
	start(20, 20, 50);
	for (unsigned i = 0; i < 60; i++) {
		worker_of_tester(0)->away_clocks += clocks(300);
		pass_ms(1);
	}
	CHECK(is_over());
	CHECK_EQUAL(slices_count(), 5);
	CHECK_EQUAL(slices_clean().slices, 0);
	CHECK_EQUAL(slices_clean().clocks, 0);
}

/* Losses in disturbed slices, and in all, by place; also after the last slice. */
static void losses_are_distinguished(void)
{
	struct ledger disturbed, all;
	uint64_t lost_disturbed = 0, lost_all = 0, *lost = lossy();

	start(30, 30, 30);
	pass_ms(5);
	*lost += 3;
	pass_ms(10);
	worker_of_tester(0)->away_clocks += clocks(300);
	*lost += 40;
	pass_ms(16);
	*lost += 2;
	slices_losses(&disturbed, &all);
	for (unsigned i = 0; i < all.count; i++) {
		lost_disturbed += disturbed.entries[i].packets;
		lost_all += all.entries[i].packets;
	}
	CHECK_EQUAL(lost_disturbed, 40);
	CHECK_EQUAL(lost_all, 45);
	for (unsigned i = 0; i < slices_count(); i++)
		CHECK(!slices_at(i)->disturbed || slices_at(i)->lost == 40);
	ledger_free(&disturbed);
	ledger_free(&all);
}

static void trials_on_time_have_none(void)
{
	start(20, 20, 20);
	pass_ms(21);
	CHECK_EQUAL(slices_count(), 2);
	trial_tick();
	tester_walk();
	usleep(250000);
	trial_tick();
	tester_walk();
	trial_tick();
	tester_walk();
	trial_tick();
	start(20, 0, 0);
	pass_ms(21);
	CHECK(is_over());
	CHECK_EQUAL(slices_count(), 0);
}

static const struct tester_case cases[] = {
	{"an undisturbed trial ends on time", an_undisturbed_trial_ends_on_time, .text = STREAM},
	{"a disturbed tick is made up for", a_disturbed_tick_is_made_up_for, .text = STREAM},
	{"a stall with a loss disturbs", a_stall_with_a_loss_disturbs, .text = STREAM},
	{"a stall disturbs lossy neighbours", a_stall_disturbs_lossy_neighbours, .text = STREAM},
	{"a loss while catching up disturbs", a_loss_while_catching_up_disturbs,
		.text = FAST_STREAM},
	{"pause over a boundary disturbs both", pause_over_a_boundary_disturbs_both,
		.text = STREAM},
	{"pause that began before disturbs both", pause_that_began_before_disturbs_both,
		.text = STREAM},
	{"recovery disturbs the next", recovery_disturbs_the_next, .text = STREAM},
	{"it ends at the limit", it_ends_at_the_limit, .text = STREAM},
	{"losses are distinguished", losses_are_distinguished, .text = STREAM},
	{"trials on time have none", trials_on_time_have_none, .text = STREAM},
};
TESTER_MAIN(cases)
