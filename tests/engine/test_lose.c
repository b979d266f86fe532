/* SPDX-License-Identifier: BSD-3-Clause */
/* A forwarder that loses frames at random loses as many as it is to, counts each, and lets the
 * others go on in their order. */
#include "core/node.h"
#include "impair/lose.h"
#include "config_mistakes.h"
#include "harness.h"

#include <math.h>
#include <rte_ip.h>

#define ROUNDS 50
#define ROUND_PACKETS 2000
#define PACKETS ((uint64_t)ROUNDS * ROUND_PACKETS)
#define NUMBER_AT (14 + 20 + 8) /* behind Ethernet, IPv4 and UDP */

static uint64_t counted_as_lost(void)
{
	uint64_t lost = 0;

	for (const struct node_state *s = node_states(); s != NULL; s = s->link)
		if (strcmp(s->type->name, "lose") == 0)
			lost += s->drops[0];
	return lost;
}

/* Returns how many of a round came out; their numbers must rise. */
static unsigned forward(void)
{
	struct frame frame;
	uint32_t last = 0;
	unsigned count = 0;

	for (uint32_t number = 0; number < ROUND_PACKETS; number++) {
		frame_ip4(
			&frame, 0, RTE_IPV4(16, 0, 0, number % 64), RTE_IPV4(48, 0, 0, 1), 64, 18);
		memcpy(frame.bytes + NUMBER_AT, &number, sizeof(number));
		harness_put(0, &frame);
	}
	harness_walk();
	for (; harness_get(1, &frame); count++) {
		uint32_t number;

		memcpy(&number, frame.bytes + NUMBER_AT, sizeof(number));
		CHECK(count == 0 || number > last);
		last = number;
	}
	return count;
}

/* Within five standard deviations of what a fair draw would lose. */
static void lost_as_asked(double probability)
{
	double expected = (double)PACKETS * probability;
	double deviation = sqrt(expected * (1 - probability));
	uint64_t passed = 0;

	for (unsigned round = 0; round < ROUNDS; round++)
		passed += forward();
	CHECK_EQUAL(passed + counted_as_lost(), PACKETS);
	CHECK(fabs((double)counted_as_lost() - expected) <= 5 * deviation);
}

static void few(void)
{
	lost_as_asked(0.001);
}

static void half(void)
{
	lost_as_asked(0.5);
}

static void most(void)
{
	lost_as_asked(0.99);
}

static void every_one(void)
{
	lost_as_asked(1);
}

/* So small that none can be expected to be lost: no draw may wrap. */
static void hardly_any(void)
{
	lost_as_asked(1e-18);
}

static void no_node(void)
{
	CHECK_EQUAL(forward(), ROUND_PACKETS);
	for (const struct node_state *s = node_states(); s != NULL; s = s->link)
		CHECK(strcmp(s->type->name, "lose") != 0);
}

static unsigned mistakes(const char *text)
{
	return config_mistakes_in(text, lose_parse);
}

static void mistakes_are_one_line(void)
{
	CHECK_EQUAL(mistakes("{\"probability\": 0.5}"), 0);
	CHECK_EQUAL(mistakes("{\"probability\": -0.1}"), 1);
	CHECK_EQUAL(mistakes("{\"probability\": 1.1}"), 1);
	CHECK_EQUAL(mistakes("{\"probability\": \"often\"}"), 1);
	CHECK_EQUAL(mistakes("{\"chance\": 0.5}"), 1);
}

#define IO(options) HARNESS_FORWARDER(2, "{\"mode\": \"io\", " options "}")

static const struct harness_case cases[] = {
	{"few are lost", few, IO("\"lose\": {\"probability\": 0.001}")},
	{"half are lost", half, IO("\"lose\": {\"probability\": 0.5}")},
	{"most are lost", most, IO("\"lose\": {\"probability\": 0.99}")},
	{"every one is lost", every_one, IO("\"lose\": {\"probability\": 1}")},
	{"hardly any is lost", hardly_any, IO("\"lose\": {\"probability\": 1e-18}")},
	{"beside burn", half, IO("\"burn\": {\"clocks\": 10}, \"lose\": {\"probability\": 0.5}")},
	{"nothing is lost unless asked", no_node, IO("\"lose\": {\"probability\": 0}")},
	{"mistakes are one line", .run = mistakes_are_one_line},
};
HARNESS_MAIN(cases)
