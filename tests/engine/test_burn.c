/* SPDX-License-Identifier: BSD-3-Clause */
/* A forwarder that burns cycles passes everything on in order, and takes the configured time. */
#include "core/worker.h"
#include "handoff/handoff.h"
#include "impair/burn.h"
#include "config_mistakes.h"
#include "harness.h"

#include <rte_cycles.h>
#include <rte_ip.h>

#define PACKETS 2000
#define NUMBER_AT (14 + 20 + 8) /* behind Ethernet, IPv4 and UDP */
#define CLOCKS 20000
#define OTHERS_CLOCKS 5000
#define PAUSE_US 5000

/* Cycles that went by while the frames were worked on. */
static uint64_t forward(unsigned packets)
{
	struct frame frame;
	uint64_t start;

	for (uint32_t number = 0; number < packets; number++) {
		frame_ip4(
			&frame, 0, RTE_IPV4(16, 0, 0, number % 64), RTE_IPV4(48, 0, 0, 1), 64, 18);
		memcpy(frame.bytes + NUMBER_AT, &number, sizeof(number));
		harness_put(0, &frame);
	}
	start = rte_rdtsc();
	harness_walk();
	return rte_rdtsc() - start;
}

/* Returns how many frames came out; their numbers must rise. */
static unsigned check_order(void)
{
	struct frame frame;
	uint32_t number, last = 0;
	unsigned count = 0;

	for (; harness_get(1, &frame); count++) {
		memcpy(&number, frame.bytes + NUMBER_AT, sizeof(number));
		CHECK(count == 0 || number > last);
		last = number;
	}
	return count;
}

static void all_go_on(void)
{
	uint64_t asked = (uint64_t)PACKETS * CLOCKS, spent = forward(PACKETS);

	/* A debt too small for a sleep may be left, and a wake-up may come a little early. */
	CHECK(spent > asked - rte_get_tsc_hz() / 5000);
	CHECK_EQUAL(check_order(), PACKETS);
}

/* Each of the three workers pays for the other two; they walk one after the other here. */
static void others_cost(void)
{
	uint64_t spent = forward(PACKETS);

	CHECK(handoff_queue(0, 1)->rings[PRIORITY_NORMAL].enqueued > 0 &&
		handoff_queue(0, 2)->rings[PRIORITY_NORMAL].enqueued > 0);
	CHECK(spent >= 2ull * OTHERS_CLOCKS * PACKETS);
	CHECK_EQUAL(harness_flush(), PACKETS);
}

static void calls_cost(void)
{
	unsigned calls = (PACKETS + NODE_VECTOR_MAX - 1) / NODE_VECTOR_MAX;

	CHECK(forward(PACKETS) >= 1000000ull * calls);
	CHECK_EQUAL(check_order(), PACKETS);
}

/* The first call starts the time, so the first pause comes later; or with it, when that took long.
 * What it then burnt too much is credited to the second. */
static void pauses_come(void)
{
	uint64_t us = rte_get_tsc_hz() / 1000000, spent;

	(void)forward(1);
	rte_delay_us_block(1000);
	spent = forward(1);
	CHECK(spent >= (PAUSE_US - WORKER_AWAY_US) * us);
	CHECK_EQUAL(harness_flush(), 2);
}

/* A stop ends a burn in progress. */
static void a_stop_ends_it(void)
{
	struct worker *worker = worker_of_forwarder(0);

	worker->request = WORKER_STOP;
	(void)forward(PACKETS);
	worker->request = WORKER_WALK;
	/* All is owed still. */
	CHECK_EQUAL(burn_burner(worker)->debt, (uint64_t)PACKETS * 1000000);
	CHECK_EQUAL(check_order(), PACKETS);
}

static void nothing_burns(void)
{
	(void)forward(1);
	for (const struct node_state *s = node_states(); s != NULL; s = s->link)
		CHECK(strcmp(s->type->name, "burn") != 0);
	CHECK_EQUAL(harness_flush(), 1);
}

static void parse_of_two_workers(const struct config_node *node)
{
	burn_parse(node, 2);
}

static unsigned mistakes(const char *text)
{
	return config_mistakes_in(text, parse_of_two_workers);
}

static void mistakes_are_one_line(void)
{
	CHECK_EQUAL(mistakes("{}"), 0);
	CHECK_EQUAL(mistakes("{\"clocks\": -1}"), 1);
	CHECK_EQUAL(mistakes("{\"clocks\": 1000001}"), 1);
	CHECK_EQUAL(mistakes("{\"clock\": 1}"), 1);
	CHECK_EQUAL(mistakes("{\"how\": \"slowly\"}"), 1);
	CHECK_EQUAL(mistakes("{\"call_clocks\": 1e9}"), 1);
	CHECK_EQUAL(mistakes("{\"contention_clocks\": \"5\"}"), 1);
	CHECK_EQUAL(mistakes("{\"pause_every_us\": 100}"), 1);
	CHECK_EQUAL(mistakes("{\"pause_for_us\": 100}"), 1);
	CHECK_EQUAL(mistakes("{\"pause_every_us\": 100, \"pause_for_us\": 100}"), 0);
}

#define IO(options) HARNESS_FORWARDER(2, "{\"mode\": \"io\", " options "}")

static const struct harness_case cases[] = {
	{"all go on, by spin", all_go_on, IO("\"burn\": {\"clocks\": 20000}")},
	{"all go on, by sleep", all_go_on, IO("\"burn\": {\"clocks\": 20000, \"how\": \"sleep\"}")},
	{"all go on, by syscall", all_go_on,
		IO("\"burn\": {\"clocks\": 20000, \"how\": \"syscall\"}")},
	{"all go on, by lock", all_go_on, IO("\"burn\": {\"clocks\": 20000, \"how\": \"lock\"}")},
	{"other workers cost", others_cost,
		IO("\"workers\": 3, \"burn\": {\"contention_clocks\": 5000}")},
	{"calls cost", calls_cost, IO("\"burn\": {\"call_clocks\": 1000000}")},
	{"pauses come", pauses_come,
		IO("\"burn\": {\"pause_every_us\": 500, \"pause_for_us\": 5000}")},
	{"a stop ends it", a_stop_ends_it,
		IO("\"burn\": {\"clocks\": 1000000, \"how\": \"sleep\"}")},
	{"nothing burns unless asked", nothing_burns, IO("\"workers\": 1")},
	{"mistakes are one line", .run = mistakes_are_one_line},
};
HARNESS_MAIN(cases)
