/* SPDX-License-Identifier: BSD-3-Clause */
/* A forwarder that delays holds each frame, counts what it holds and what has no room, and lets all
 * go on in their order. */
#include "impair/delay.h"
#include "config_mistakes.h"
#include "harness.h"

#include <rte_ip.h>

#define NUMBER_AT (14 + 20 + 8) /* behind Ethernet, IPv4 and UDP */
#define MORE 100u

static void put(uint32_t number)
{
	struct frame frame;

	frame_ip4(&frame, 0, RTE_IPV4(16, 0, 0, number % 64), RTE_IPV4(48, 0, 0, 1), 64, 18);
	memcpy(frame.bytes + NUMBER_AT, &number, sizeof(number));
	harness_put(0, &frame);
}

static void in_order_after_the_time(void)
{
	struct frame frame;
	uint32_t number;

	for (uint32_t i = 0; i < MORE; i++)
		put(i);
	harness_walk_worker(0);
	harness_seconds(0.004999);
	CHECK_EQUAL(harness_held(), MORE);
	CHECK(!harness_get(1, &frame));
	harness_seconds(0.000002);
	harness_walk_worker(0);
	CHECK_EQUAL(harness_held(), 0);
	for (uint32_t i = 0; i < MORE; i++) {
		CHECK(harness_get(1, &frame));
		memcpy(&number, frame.bytes + NUMBER_AT, sizeof(number));
		CHECK_EQUAL(number, i);
	}
	CHECK(!harness_get(1, &frame));
}

static void what_waits_is_held(void)
{
	for (uint32_t i = 0; i < MORE; i++)
		put(i);
	harness_walk_worker(0);
	CHECK_EQUAL(harness_held(), MORE);
	CHECK_EQUAL(delay_held(), MORE);
	CHECK(harness_balanced());
	CHECK_EQUAL(harness_flush(), 0);
	/* Later frames leave later. */
	harness_seconds(0.06);
	put(MORE);
	harness_walk_worker(0);
	harness_seconds(0.06);
	CHECK_EQUAL(delay_held(), 1);
	CHECK_EQUAL(harness_flush(), MORE);
	harness_seconds(0.06);
	CHECK_EQUAL(delay_held(), 0);
	CHECK_EQUAL(harness_flush(), 1);
}

static unsigned mistakes(const char *text)
{
	return config_mistakes_in(text, delay_parse);
}

static void mistakes_are_one_line(void)
{
	CHECK_EQUAL(mistakes("{\"us\": 100}"), 0);
	CHECK_EQUAL(mistakes("{\"us\": -1}"), 1);
	CHECK_EQUAL(mistakes("{\"us\": 100001}"), 1);
	CHECK_EQUAL(mistakes("{\"us\": \"long\"}"), 1);
	CHECK_EQUAL(mistakes("{\"ms\": 1}"), 1);
}

static const struct harness_case cases[] = {
	{"in order, after the time", in_order_after_the_time,
		HARNESS_FORWARDER(2, "{\"mode\": \"io\", \"delay\": {\"us\": 5000}}")},
	{"what waits is held", what_waits_is_held,
		HARNESS_FORWARDER(2, "{\"mode\": \"io\", \"delay\": {\"us\": 100000}}")},
	{"beside burn", in_order_after_the_time,
		HARNESS_FORWARDER(2, "{\"mode\": \"io\", \"delay\": {\"us\": 5000}, \"burn\": "
				     "{\"clocks\": 10}}")},
	{"mistakes are one line", .run = mistakes_are_one_line},
};
HARNESS_MAIN(cases)
