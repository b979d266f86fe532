/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules for a flow table's flows on ports that do as requested, or do not: whatever happens, each
 * packet is recorded once, and no record is held for a rule that is gone.
 */
#include "flow/offload_rule.h"
#include "offload_device.h"
#include "test.h"

#include <errno.h>
#include <netinet/in.h>
#include <rte_byteorder.h>

static void all_is_recorded(void)
{
	CHECK_EQUAL(devices_failures(), 0);
	CHECK_EQUAL(table->counters.packets, sent);
	for (unsigned i = 0; i < FLOW_NOT_RECORDED_REASONS; i++)
		CHECK_EQUAL(table->counters.not_recorded[i], 0);
	CHECK(table->counters.marked + table->counters.bad_marks == sent_marked);
}

static void nothing_is_left(void)
{
	CHECK_EQUAL(held_records(), 0);
	for (unsigned i = 0; i < PORTS; i++) {
		CHECK_EQUAL(offloads[i].standing, 0);
		CHECK_EQUAL(devices[i].standing, 0);
		CHECK_EQUAL(offload_policy_used(offloads[i].policy), 0);
	}
	CHECK_EQUAL(table->live, 0);
}

/* Flows are promoted in both directions, and end with their rules. */
static void a_flow_from_birth_to_end(void)
{
	devices_start(RULES_MAX);
	devices_run(2000, 8, 2);
	for (unsigned i = 0; i < PORTS; i++) {
		CHECK_EQUAL(devices[i].standing, 8);
		CHECK_EQUAL(offloads[i].counters.promoted, 8);
		CHECK_EQUAL(offloads[i].counters.create.count, 8);
	}
	CHECK_EQUAL(held_records(), 8);
	for (uint32_t i = 0; i < table->touched; i++)
		CHECK_EQUAL(table->records[i].held & FLOW_RULES, FLOW_RULES);
	sent_marked = 0;
	table->counters.marked = 0;
	devices_run(100, 8, 2);
	CHECK_EQUAL(table->counters.marked, 8 * 2 * 2 * 100);
	CHECK_EQUAL(table->counters.bad_marks, 0);
	all_is_recorded();
	devices_run(4000, 0, 0);
	CHECK_EQUAL(table->counters.ended[FLOW_END_IDLE], 8);
	CHECK_EQUAL(offloads[0].counters.ended, 8);
	nothing_is_left();
	devices_stop();
}

/* Not past FIN or RST. */
static void tcp_loses_its_rule_when_it_closes(void)
{
	devices_start(RULES_MAX);
	devices_run(2000, 2, 2);
	CHECK_EQUAL(devices[0].standing, 2);
	devices_packet(1, 0, 0x14); /* RST */
	devices_run(20, 1, 2);
	CHECK_EQUAL(devices[0].standing, 1);
	CHECK_EQUAL(devices[1].standing, 1);
	CHECK_EQUAL(held_records(), 1);
	/* Packets that were sent before the flow ended do not restore it. */
	devices_run(300, 2, 2);
	CHECK_EQUAL(devices[0].standing, 1);
	all_is_recorded();
	devices_run(4000, 0, 0);
	nothing_is_left();
	devices_stop();
}

static void refused_rules_are_counted_by_type(void)
{
	devices_start(RULES_MAX);
	devices[0].refuse = ENOTSUP;
	devices[0].type = RTE_FLOW_ERROR_TYPE_ITEM_MASK;
	devices_run(2000, 20, 1);
	CHECK_EQUAL(offloads[0].counters.refused[RTE_FLOW_ERROR_TYPE_ITEM_MASK], 8);
	CHECK_EQUAL(offloads[0].counters.switched_off, 1);
	CHECK(!offloads[0].on);
	CHECK(strstr(offloads[0].reason, "as the test wants it") != NULL);
	/* The other port goes on. */
	CHECK(offloads[1].on);
	CHECK_EQUAL(devices[1].standing, 20);
	all_is_recorded();
	devices_run(5000, 0, 0);
	nothing_is_left();
	devices_stop();
}

/* Switched on again, when the port has learned its lesson. */
static void off_and_on_again(void)
{
	devices_start(RULES_MAX);
	devices[0].refuse = EINVAL;
	devices[0].type = RTE_FLOW_ERROR_TYPE_ACTION;
	devices_run(2000, 20, 1);
	CHECK(!offloads[0].on);
	devices[0].refuse = 0;
	offloads[0].wanted = true;
	devices_run(1500, 20, 1);
	CHECK(offloads[0].on);
	CHECK_EQUAL(devices[0].standing, 20);
	offloads[0].wanted = false;
	devices_run(500, 20, 1);
	CHECK(!offloads[0].on);
	CHECK_EQUAL(devices[0].standing, 0);
	CHECK_EQUAL(offloads[0].counters.switched_off, 2);
	CHECK_EQUAL(devices[1].standing, 20);
	all_is_recorded();
	devices_stop();
}

static void marks_that_never_come(void)
{
	devices_start(RULES_MAX);
	devices[0].silent = true;
	devices_run(4000, 20, 1);
	CHECK_EQUAL(offloads[0].counters.silent, OFFLOAD_FAILURES_MAX);
	CHECK(!offloads[0].on);
	CHECK_EQUAL(devices[0].standing, 0);
	CHECK(offloads[1].on);
	CHECK_EQUAL(offloads[1].counters.silent, 0);
	CHECK_EQUAL(devices[1].standing, 20);
	all_is_recorded();
	devices_stop();
}

/* Rules are made anew, and the port stays on. */
static void a_reset_under_way(void)
{
	devices_start(RULES_MAX);
	devices_run(2000, 20, 1);
	CHECK_EQUAL(devices[0].standing, 20);
	device_reset(&devices[0]);
	devices_run(6000, 20, 1);
	CHECK_EQUAL(offloads[0].counters.lost, 20);
	CHECK_EQUAL(offloads[0].counters.silent, 0);
	CHECK(offloads[0].on);
	CHECK_EQUAL(devices[0].standing, 20);
	CHECK_EQUAL(devices[0].created, 40);
	all_is_recorded();
	devices_stop();
}

/* After the reset rules have no effect any more. */
static void a_reset_that_ends_it(void)
{
	devices_start(RULES_MAX);
	devices_run(2000, 20, 1);
	device_reset(&devices[0]);
	devices[0].silent = true;
	devices_run(8000, 20, 1);
	CHECK_EQUAL(offloads[0].counters.lost, 20);
	CHECK_EQUAL(offloads[0].counters.silent, OFFLOAD_FAILURES_MAX);
	CHECK(!offloads[0].on);
	all_is_recorded();
	devices_stop();
}

/* A device that takes fewer rules than the policy has places. */
static void a_full_table(void)
{
	devices_start(RULES_MAX);
	devices[0].capacity = 10;
	devices_run(4000, 20, 1);
	CHECK_EQUAL(devices[0].standing, 10);
	CHECK(offloads[0].on);
	CHECK(offloads[0].limit >= 10 && offloads[0].limit <= 12);
	CHECK(offloads[0].counters.full >= 4);
	CHECK_EQUAL(offloads[0].failures, 0);
	devices[0].capacity = RULES_MAX;
	devices_run(15000, 20, 1);
	CHECK_EQUAL(devices[0].standing, 20);
	all_is_recorded();
	devices_stop();
}

/* A table that never has room for anything is no table. */
static void no_room_at_all(void)
{
	devices_start(RULES_MAX);
	devices[0].capacity = 0;
	devices_run(3000, 20, 1);
	CHECK(!offloads[0].on);
	CHECK_EQUAL(offloads[0].counters.promoted, 0);
	devices_stop();
}

/* While the port will not destroy a rule its mark may come: the record is not given away. */
static void rules_that_cannot_be_destroyed(void)
{
	devices_start(RULES_MAX);
	devices_run(2000, 4, 2);
	devices[0].keep = EIO;
	devices_run(4000, 0, 0);
	CHECK_EQUAL(table->live, 0);
	CHECK_EQUAL(held_records(), 4);
	CHECK(offloads[0].counters.not_destroyed >= 4);
	/* The same flows again: other records, and the old marks do no harm. */
	devices_run(100, 4, 2);
	CHECK(table->counters.bad_marks > 0);
	all_is_recorded();
	devices[0].keep = 0;
	devices_run(5000, 0, 0);
	nothing_is_left();
	devices_stop();
}

static void ports_without_rules(void)
{
	devices_start(RULES_MAX);
	driver.flow_create = NULL;
	devices_run(2000, 20, 1);
	CHECK(!offloads[0].on && !offloads[1].on);
	CHECK(strstr(offloads[0].reason, "takes no rte_flow rules") != NULL);
	all_is_recorded();
	devices_stop();
}

/* Packets without a rule stay in software, and no port is blamed for it. */
static void tags_stay_in_software(void)
{
	struct flow_view view = {
		.record = {.key = {.version = 4, .protocol = IPPROTO_UDP}, .l3_offset = {18, 14}}};
	struct offload_rule rule;

	CHECK(!offload_rule_make(&rule, &view, FLOW_LOW_TO_HIGH, 1, 0));
	CHECK(offload_rule_make(&rule, &view, FLOW_HIGH_TO_LOW, 1, 0));
	view.record.key.protocol = IPPROTO_ICMP;
	CHECK(!offload_rule_make(&rule, &view, FLOW_HIGH_TO_LOW, 1, 0));
}

static void rules_say_who_sends(void)
{
	struct flow_view view = {.record = {.key = {.version = 6,
						    .protocol = IPPROTO_SCTP,
						    .low_port = 5,
						    .high_port = 6},
					 .l3_offset = {14, 14}},
		.addresses6 = {.low = {1}, .high = {2}}};
	const struct rte_flow_item_ipv6 *ip;
	const struct rte_flow_item_sctp *sctp;
	struct offload_rule rule;

	CHECK(offload_rule_make(&rule, &view, FLOW_HIGH_TO_LOW, 77, 3));
	CHECK(rule.pattern[1].type == RTE_FLOW_ITEM_TYPE_IPV6);
	ip = rule.pattern[1].spec;
	CHECK(((const uint8_t *)&ip->hdr.src_addr)[0] == 2);
	CHECK(((const uint8_t *)&ip->hdr.dst_addr)[0] == 1);
	CHECK(rule.pattern[2].type == RTE_FLOW_ITEM_TYPE_SCTP);
	sctp = rule.pattern[2].spec;
	CHECK_EQUAL(sctp->hdr.src_port, rte_cpu_to_be_16(6));
	CHECK_EQUAL(sctp->hdr.dst_port, rte_cpu_to_be_16(5));
	CHECK_EQUAL(rule.mark.id, 77);
	CHECK_EQUAL(rule.queue.index, 3);
}

/* Everything at once, in any order. */
static void disturb(void)
{
	struct device *device = &devices[random() % PORTS];
	static const int errors[] = {0, 0, 0, ENOTSUP, ENOSPC, EIO};

	switch (random() % 6) {
	case 0:
		device->refuse = errors[random() % 6];
		device->type = (enum rte_flow_error_type)(random() % RTE_FLOW_ERROR_TYPE_ACTION);
		break;
	case 1:
		device->silent = random() % 4 == 0;
		break;
	case 2:
		device_reset(device);
		break;
	case 3:
		device->keep = random() % 3 == 0 ? EBUSY : 0;
		break;
	case 4:
		offloads[random() % PORTS].wanted = random() % 4 != 0;
		break;
	default:
		device->capacity = (unsigned)random() % 40;
	}
}

static void anything_may_happen(void)
{
	srandom(3);
	devices_start(16);
	for (unsigned i = 0; i < 400; i++) {
		devices_run(100 + (unsigned)random() % 200, (unsigned)random() % FLOWS, 1);
		disturb();
		if (random() % 3 == 0)
			devices_packet((unsigned)random() % FLOWS | 1, 0, 0x14);
	}
	CHECK(offloads[0].counters.promoted > 100);
	CHECK(table->counters.marked > 1000);
	all_is_recorded();
	for (unsigned i = 0; i < PORTS; i++)
		devices[i].keep = 0;
	devices_run(8000, 0, 0);
	nothing_is_left();
	devices_stop();
}

static const struct test_case cases[] = {
	{"a flow from birth to end", a_flow_from_birth_to_end},
	{"TCP loses its rule when it closes", tcp_loses_its_rule_when_it_closes},
	{"refused rules are counted by type", refused_rules_are_counted_by_type},
	{"off and on again", off_and_on_again},
	{"marks that never come", marks_that_never_come},
	{"a reset under way", a_reset_under_way},
	{"a reset that ends it", a_reset_that_ends_it},
	{"a full table", a_full_table},
	{"no room at all", no_room_at_all},
	{"rules that cannot be destroyed", rules_that_cannot_be_destroyed},
	{"ports without rules", ports_without_rules},
	{"tags stay in software", tags_stay_in_software},
	{"rules say who sends", rules_say_who_sends},
	{"anything may happen", anything_may_happen},
};
TEST_MAIN(cases)
