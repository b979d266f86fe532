/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams with bursts and starts of their own beside continuous ones: at any time each has sent
 * what is due by its own schedule, whatever the others do.
 */
#include "core/worker.h"
#include "port/port.h"
#include "tester/schedule_run.h"
#include "tester/tester.h"
#include "tester/trial.h"
#include "test.h"
#include "tester_harness.h"

#include <rte_cycles.h>

#define LENGTHS 1518

/* Frames by their length: each stream has its own. */
static uint64_t sent_of[LENGTHS];
static uint16_t order[1 << 20];
static unsigned nb_order;

static uint16_t test_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	(void)queue;
	for (uint16_t i = 0; i < count; i++) {
		sent_of[mbufs[i]->data_len]++;
		if (nb_order < RTE_DIM(order))
			order[nb_order++] = mbufs[i]->data_len;
	}
	rte_pktmbuf_free_bulk(mbufs, count);
	return count;
}

const struct tester_device tester_device = {.tx_burst = test_tx_burst, .max_frame_bytes = LENGTHS};

static uint64_t clocks(double us)
{
	return (uint64_t)(us * (double)rte_get_tsc_hz() / 1e6);
}

static uint64_t sent(const struct schedule *schedule)
{
	uint64_t frames = 0;

	for (uint32_t i = 0; i < schedule->nb_slots; i++) {
		bool known = false;

		for (uint32_t k = 0; k < i; k++)
			known |= schedule->slots[k] == schedule->slots[i];
		if (!known)
			frames += sent_of[schedule->slots[i]->frame_bytes - 4];
	}
	return frames;
}

static uint64_t due(const struct schedule *schedule, uint64_t clock)
{
	const struct tester_sender *sender = tester.senders[0];
	double seconds = (double)(clock - sender->trial.start_clock) / (double)rte_get_tsc_hz();

	return RTE_MIN(schedule_frames(schedule, 1.0, seconds), schedule->limit);
}

/* By each walk all is sent that was due by the one before, and nothing that is not due. */
static void each_keeps_its_times(void)
{
	const struct tester_sender *sender = tester.senders[0];
	uint64_t before, wrong = 0;

	CHECK(trial_start(&(struct trial_plan){.duration_us = 100000, .scale = 1.0}) > 0);
	tester_walk();
	CHECK(sender->nb_schedules >= 5);
	while (device_clock < clocks(99000)) {
		before = device_clock;
		device_clock += clocks(0.937);
		tester_walk();
		for (unsigned i = 0; i < sender->nb_schedules; i++) {
			const struct schedule *schedule = &sender->schedules[i];

			wrong += sent(schedule) < due(schedule, before) ||
				 sent(schedule) > due(schedule, device_clock);
		}
	}
	CHECK_EQUAL(wrong, 0);
	for (; device_clock < clocks(102000); device_clock += clocks(1))
		tester_walk();
	for (unsigned i = 0; i < sender->nb_schedules; i++) {
		CHECK(sender->schedules[i].sent > 0);
		CHECK_EQUAL(sender->schedules[i].sent, sender->schedules[i].limit);
	}
}

/* A worker that is late by milliseconds sends all, and streams that take turns stay in order. */
static void late_frames_keep_their_order(void)
{
	const struct tester_sender *sender = tester.senders[0];
	unsigned wrong = 0;

	CHECK(trial_start(&(struct trial_plan){.duration_us = 100000, .scale = 1.0}) > 0);
	tester_walk();
	while (device_clock < clocks(150000)) {
		device_clock += clocks(3000);
		for (unsigned i = 0; i < 100; i++, device_clock += clocks(1))
			tester_walk();
	}
	for (unsigned i = 0; i < sender->nb_schedules; i++)
		CHECK_EQUAL(sender->schedules[i].sent, sender->schedules[i].limit);
	CHECK(nb_order > 1000);
	/* One frame each: 60 bytes, 61, 62, and again. */
	for (unsigned i = 0; i < nb_order; i++)
		wrong += order[i] != 60 + i % 3;
	CHECK_EQUAL(wrong, 0);
}

/* One that is later than that sends all, and nothing that is not due. */
static void the_latest_are_sent_too(void)
{
	const struct tester_sender *sender = tester.senders[0];
	unsigned wrong = 0;

	CHECK(trial_start(&(struct trial_plan){.duration_us = 100000, .scale = 1.0}) > 0);
	tester_walk();
	while (device_clock < clocks(300000)) {
		device_clock += clocks(SCHEDULE_LATE_US * 3);
		for (unsigned i = 0; i < 100; i++, device_clock += clocks(1)) {
			tester_walk();
			for (unsigned k = 0; k < sender->nb_schedules; k++)
				wrong += sent(&sender->schedules[k]) >
					 due(&sender->schedules[k], device_clock);
		}
	}
	CHECK_EQUAL(wrong, 0);
	for (unsigned i = 0; i < sender->nb_schedules; i++)
		CHECK_EQUAL(sender->schedules[i].sent, sender->schedules[i].limit);
}

#define STREAM(bytes, pps, more) \
	"{\"port\": \"e0\", \"frame_bytes\": " bytes ", \"rate\": {\"pps\": " pps "}, " more \
	"\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {}}, {\"udp\": {}}]}"
#define BURSTS(frames, count, gap, start) \
	"\"bursts\": {\"frames\": " frames ", \"count\": " count ", \"gap_us\": " gap \
	"}, \"start_us\": " start ", "
#define MIXED \
	"\"streams\": [" STREAM("64", "70000", "") ", " STREAM("65", "35000", "") ", " STREAM( \
		"66", "90000", BURSTS("3", "0", "71.3", "0")) ", " STREAM("67", "100000", \
		BURSTS("1", "0", "333.7", "1001.3")) ", " STREAM("68", "50000", \
		BURSTS("10", "20", "2000.1", "17")) ", " STREAM("69", "33333", \
		"\"start_us\": 50000.3, ") ", " STREAM("70", "20000", "\"burst\": 100, ") "]"
#define TURNS \
	"\"streams\": [" STREAM("64", "100000", BURSTS("1", "0", "60", "0")) ", " STREAM( \
		"65", "100000", BURSTS("1", "0", "60", "20")) ", " STREAM("66", "100000", \
		BURSTS("1", "0", "60", "40")) "]"

static const struct tester_case cases[] = {
	{"each keeps its times", each_keeps_its_times, .text = MIXED},
	{"late frames keep their order", late_frames_keep_their_order, .text = TURNS},
	{"the latest are sent too", the_latest_are_sent_too, .text = MIXED},
};
TESTER_MAIN(cases)
