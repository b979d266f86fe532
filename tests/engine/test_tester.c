/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials, schedules and connections of a tester whose device notes what comes out of which port. */
#include "core/worker.h"
#include "port/port.h"
#include "tester/connections.h"
#include "tester/tester.h"
#include "tester/trial.h"
#include "test.h"
#include "tester_harness.h"

#include <math.h>
#include <rte_cycles.h>

#define SENT_MAX 65536

static unsigned nb_sent;
static uint16_t sent_by[SENT_MAX]; /* port */

static uint16_t test_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	const struct port *port = queue;

	for (uint16_t i = 0; i < count && nb_sent < SENT_MAX; i++)
		sent_by[nb_sent++] = port->index;
	rte_pktmbuf_free_bulk(mbufs, count);
	return count;
}

const struct tester_device tester_device = {.tx_burst = test_tx_burst, .max_frame_bytes = 1518};

static uint64_t clocks(double us)
{
	return (uint64_t)(us * (double)rte_get_tsc_hz() / 1e6);
}

/* Within a few of each other: a tick of the wheel, a step of the case. */
static bool is_near(double got, double wanted)
{
	bool near = fabs(got - wanted) <= 4;

	if (!near)
		fprintf(stderr, "%.6g is not near %.6g\n", got, wanted);
	return near;
}

/* Since the clock began. */
static double now_us(void)
{
	return (double)device_clock * 1e6 / (double)rte_get_tsc_hz();
}

/* Walks once each `step_us` for so long; returns how many frames were sent. */
static unsigned pass(double us, double step_us)
{
	uint64_t until = device_clock + clocks(us);
	unsigned before = nb_sent;

	while (device_clock < until) {
		device_clock += clocks(step_us);
		tester_walk();
	}
	return nb_sent - before;
}

#define CONNECTIONS(cps, packets) \
	"\"connections\": {\"client_port\": \"e0\", \"server_port\": \"e1\", " \
	"\"client_macs\": {\"dst\": \"02:00:00:00:0e:00\"}, " \
	"\"server_macs\": {\"dst\": \"02:00:00:00:0e:01\"}, " \
	"\"clients\": {\"min\": \"16.0.0.1\", \"max\": \"16.0.0.200\"}, " \
	"\"servers\": {\"min\": \"48.0.0.1\", \"max\": \"48.0.0.1\"}, " \
	"\"templates\": [{\"cps\": " cps ", \"packets\": [" packets "]}]}"
#define FRAME \
	"\"frame\": \"0200000000010200000000020800450000200001000040110000" \
	"0a0000010a000002c35000350000000068656c6f\""
#define CLIENT "{\"from\": \"client\", \"after_us\": 0, " FRAME "}"
#define LATE_SERVER "{\"from\": \"server\", \"after_us\": 1e6, " FRAME "}"
#define SERVER "{\"from\": \"server\", \"after_us\": 0, " FRAME "}"

/* Both ports' packets come in the order in which they are due, however late the worker is. */
static void answers_do_not_overtake(void)
{
	static const uint16_t order[] = {0, 0, 1, 1, 0};

	CHECK(trial_start(&(struct trial_plan){.duration_us = 1000000, .scale = 1.0}) > 0);
	tester_walk();
	pass(1000000, 400);
	CHECK_EQUAL(nb_sent, 10 * RTE_DIM(order));
	for (unsigned i = 0; i < nb_sent; i++)
		CHECK_EQUAL(sent_by[i], order[i % RTE_DIM(order)]);
}

/* Descheduled for 5 ms, a worker catches up little by little and at last entirely. */
static void connections_catch_up_slowly(void)
{
	CHECK(trial_start(&(struct trial_plan){.duration_us = 1000000, .scale = 1.0}) > 0);
	tester_walk();
	pass(2000, 1);
	CHECK(is_near(nb_sent, now_us()));
	device_clock += clocks(5000);
	/* Its first call makes what a call may, and the rest comes by a third faster. */
	CHECK(pass(100, 1) <= STREAM_BURST_MAX + 100 * 4 / 3 + 4);
	for (unsigned i = 0; i < 100; i++)
		CHECK(pass(100, 1) <= 100 * 4 / 3 + 4);
	CHECK(nb_sent + 1000 < now_us());
	pass(10000, 1);
	CHECK(is_near(nb_sent, now_us()));
}

/* A worker whose loop is slow, but always, is not late. */
static void slow_loops_keep_the_rate(void)
{
	CHECK(trial_start(&(struct trial_plan){.duration_us = 1000000, .scale = 1.0}) > 0);
	tester_walk();
	pass(40000, 400);
	CHECK(is_near(nb_sent, now_us() / 10));
}

/* A trial that is cut off leaves nothing to the next, and reports at once that no connection is
 * active. */
static void trials_start_afresh(void)
{
	const struct connections *connections;

	for (unsigned trial = 1; trial <= 3; trial++) {
		struct trial_status status;

		CHECK_EQUAL(trial_start(&(struct trial_plan){.duration_us = 1000000, .scale = 1.0}),
			trial);
		connections = tester.connections;
		CHECK_EQUAL(connections->nb_free, connections->max_active);
		tester_walk();
		CHECK(is_near(pass(10000, 100), 100));
		CHECK(is_near((double)connections_active(connections), 100));
		trial_stop();
		tester_walk();
		CHECK_EQUAL(connections_active(connections), 0);
		CHECK_EQUAL(connections->templates[0].cut, connections->templates[0].started);
		trial_read(&status);
		while (status.state != TRIAL_DONE) {
			tester_walk();
			trial_tick();
			trial_read(&status);
		}
	}
}

#define BURST \
	"\"streams\": [{\"port\": \"e0\", \"burst\": 10, \"rate\": {\"max\": true}, \"layers\": " \
	"[{\"ethernet\": {}}, {\"ipv4\": {}}, {\"udp\": {}}]}]"

/* Where no line sets the pace a burst still has its length, and each trial's has. */
static void a_burst_has_its_length(void)
{
	CHECK(trial_start(&(struct trial_plan){.duration_us = 1000, .scale = 1.0}) > 0);
	tester_walk();
	tester_walk();
	CHECK_EQUAL(nb_sent, 10);
	pass(2000, 1);
	CHECK_EQUAL(nb_sent, 10);
}

static enum trial_state state_now(void)
{
	struct trial_status status;

	trial_tick();
	trial_read(&status);
	return status.state;
}

/* Packets in flight have not drained as long as a worker, which may have them, does not walk. */
static void nothing_drains_without_a_walk(void)
{
	struct trial_status status;

	CHECK(trial_start(&(struct trial_plan){.duration_us = 1000, .scale = 1.0}) > 0);
	tester_walk();
	pass(2000, 1);
	CHECK_EQUAL(state_now(), TRIAL_DRAINING);
	usleep(300000);
	CHECK_EQUAL(state_now(), TRIAL_DRAINING);
	tester_walk();
	CHECK_EQUAL(state_now(), TRIAL_DRAINING);
	tester_walk();
	CHECK_EQUAL(state_now(), TRIAL_DONE);
	trial_read(&status);
	CHECK(status.drained);
}

static void only_streams_have_pools(void)
{
	CHECK(tester.ports[0].senders[0]->pool != NULL);
	CHECK(tester.ports[1].senders[0]->pool == NULL);
}

static const struct tester_case cases[] = {
	{"answers do not overtake", answers_do_not_overtake,
		.text = CONNECTIONS("10", CLIENT ", " CLIENT ", " SERVER ", " SERVER ", " CLIENT)},
	{"connections catch up slowly", connections_catch_up_slowly,
		.text = CONNECTIONS("1000000", CLIENT)},
	{"slow loops keep the rate", slow_loops_keep_the_rate,
		.text = CONNECTIONS("100000", CLIENT)},
	{"trials start afresh", trials_start_afresh,
		.text = CONNECTIONS("10000", CLIENT ", " LATE_SERVER)},
	{"a burst has its length", a_burst_has_its_length, .text = BURST},
	{"nothing drains without a walk", nothing_drains_without_a_walk, .text = BURST},
	{"only streams have pools", only_streams_have_pools, .text = BURST},
};
TESTER_MAIN(cases)
