/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules for a flow table's flows on ports that do as they are told, or do not: whatever happens,
 * each packet is recorded once, and no record is held for a rule that is gone.
 */
#include "flow/offload_hold.h"
#include "flow/offload_port.h"
#include "flow/offload_rule.h"
#include "test.h"

#include <errno.h>
#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_errno.h>
#include <rte_ring_elem.h>

#define FLOWS 64
#define PORTS 2
#define RECORDS 1024
#define RING 4096
#define RULES_MAX 256
#define FRAME_BYTES 60
#define L4 34

/* A port that looks flows up, as well as it is allowed to. */
struct device {
	unsigned capacity;
	int refuse; /* errno of each rule; 0: they are made */
	enum rte_flow_error_type type;
	int keep; /* errno of each destruction; 0: they are done */
	bool silent;
	struct device_rule {
		bool stands;
		uint8_t tuple[13];
		uint32_t mark;
		uint16_t queue;
	} rules[RULES_MAX];
	unsigned standing, created;
};

static struct device devices[PORTS];
static struct port_driver driver;
static struct port ports[PORTS];
static struct offload_port offloads[PORTS];
static struct flow_table *table;
static struct flow_table *tables[1];
static uint32_t now_ms;
static uint64_t sent, sent_marked;

static int device_error(struct rte_flow_error *error, int number, enum rte_flow_error_type type)
{
	return rte_flow_error_set(error, number, type, NULL, "as the test wants it");
}

static void tuple_of_rule(const struct rte_flow_item *pattern, uint8_t tuple[13])
{
	const struct rte_flow_item_ipv4 *ip = pattern[1].spec, *mask = pattern[1].mask;
	const struct rte_flow_item_tcp *upper = pattern[2].spec, *upper_mask = pattern[2].mask;

	CHECK(pattern[0].type == RTE_FLOW_ITEM_TYPE_ETH);
	CHECK(pattern[1].type == RTE_FLOW_ITEM_TYPE_IPV4);
	CHECK(pattern[3].type == RTE_FLOW_ITEM_TYPE_END);
	CHECK(mask->hdr.src_addr == UINT32_MAX && mask->hdr.dst_addr == UINT32_MAX);
	CHECK(upper_mask->hdr.src_port == 0xffff && upper_mask->hdr.dst_port == 0xffff);
	tuple[0] = pattern[2].type == RTE_FLOW_ITEM_TYPE_TCP ? IPPROTO_TCP : IPPROTO_UDP;
	memcpy(tuple + 1, &ip->hdr.src_addr, 8);
	memcpy(tuple + 9, &upper->hdr.src_port, 4);
}

static struct rte_flow *device_create(struct port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	struct device *device = port->device;
	unsigned i = 0;

	CHECK(attr->ingress == 1 && attr->egress == 0);
	if (device->refuse != 0 || device->standing == device->capacity) {
		(void)device_error(error, device->refuse == 0 ? ENOSPC : device->refuse,
			device->refuse == 0 ? RTE_FLOW_ERROR_TYPE_UNSPECIFIED : device->type);
		return NULL;
	}
	while (device->rules[i].stands)
		i++;
	tuple_of_rule(pattern, device->rules[i].tuple);
	CHECK(actions[0].type == RTE_FLOW_ACTION_TYPE_MARK);
	CHECK(actions[1].type == RTE_FLOW_ACTION_TYPE_QUEUE);
	CHECK(actions[2].type == RTE_FLOW_ACTION_TYPE_END);
	device->rules[i].mark = ((const struct rte_flow_action_mark *)actions[0].conf)->id;
	device->rules[i].queue = ((const struct rte_flow_action_queue *)actions[1].conf)->index;
	device->rules[i].stands = true;
	device->standing++;
	device->created++;
	return (struct rte_flow *)&device->rules[i];
}

static int device_destroy(struct port *port, struct rte_flow *flow, struct rte_flow_error *error)
{
	struct device *device = port->device;
	struct device_rule *rule = (struct device_rule *)flow;

	if (device->keep != 0)
		return device_error(error, device->keep, RTE_FLOW_ERROR_TYPE_HANDLE);
	if (!rule->stands)
		return device_error(error, ENOENT, RTE_FLOW_ERROR_TYPE_HANDLE);
	rule->stands = false;
	device->standing--;
	return 0;
}

static void device_reset(struct device *device)
{
	for (unsigned i = 0; i < RULES_MAX; i++)
		device->rules[i].stands = false;
	device->standing = 0;
}

static struct rte_ring *ring(unsigned bytes)
{
	struct rte_ring *made = aligned_alloc(RTE_CACHE_LINE_SIZE,
		RTE_ALIGN_CEIL(rte_ring_get_memsize_elem(bytes, RING), RTE_CACHE_LINE_SIZE));

	CHECK(rte_ring_init(made, "ring", RING, RING_F_SP_ENQ | RING_F_SC_DEQ) == 0);
	return made;
}

static void start(unsigned places)
{
	const struct flow_table_config config = {
		.capacity = RECORDS, .seed = 1, .timeouts = {.idle_ms = 3000, .closing_ms = 500}};

	memset(devices, 0, sizeof(devices));
	table = tables[0] = flow_table_create(&config);
	table->rings.orders = ring(sizeof(struct flow_order));
	table->rings.notices = ring(sizeof(struct flow_notice));
	table->rings.samples = ring(sizeof(struct flow_sample));
	table->offload = true;
	driver.name = "device";
	driver.flow_create = device_create;
	driver.flow_destroy = device_destroy;
	CHECK(offload_holds_create(tables, 1, RECORDS, PORTS * places) == 0);
	for (unsigned i = 0; i < PORTS; i++) {
		devices[i].capacity = RULES_MAX;
		ports[i] = (struct port){.index = (uint16_t)i,
			.driver = &driver,
			.device = &devices[i],
			.nb_rx_queues = 1};
		snprintf(ports[i].name, sizeof(ports[i].name), "p%u", i);
		CHECK(offload_port_create(&offloads[i], &ports[i], RECORDS, places, now_ms) == 0);
	}
	sent = sent_marked = 0;
}

static void stop(void)
{
	for (unsigned i = 0; i < PORTS; i++)
		offload_port_destroy(&offloads[i]);
	offload_holds_destroy();
	free(table->rings.orders);
	free(table->rings.notices);
	free(table->rings.samples);
	flow_table_free(table);
}

/* Odd flows are TCP. Direction 0 comes in by port 0, 1 by port 1. */
static void make_frame(uint8_t *frame, unsigned flow, unsigned direction, uint8_t tcp_flags)
{
	uint8_t protocol = flow % 2 == 1 ? IPPROTO_TCP : IPPROTO_UDP;
	const uint8_t ends[2][4] = {{10, 0, 0, 1}, {10, 0, 1, (uint8_t)flow}};
	const uint16_t numbers[2] = {
		rte_cpu_to_be_16((uint16_t)(1000 + flow)), rte_cpu_to_be_16(80)};

	memset(frame, 0, FRAME_BYTES);
	frame[12] = 8;
	frame[14] = 0x45;
	frame[17] = FRAME_BYTES - 14;
	frame[22] = 64;
	frame[23] = protocol;
	memcpy(frame + 26, ends[direction], 4);
	memcpy(frame + 30, ends[!direction], 4);
	memcpy(frame + L4, &numbers[direction], 2);
	memcpy(frame + L4 + 2, &numbers[!direction], 2);
	if (protocol == IPPROTO_TCP) {
		frame[L4 + 12] = 0x50;
		frame[L4 + 13] = tcp_flags;
	} else {
		frame[L4 + 5] = FRAME_BYTES - L4;
	}
}

/* As the port does: what a rule matches gets its mark. */
static void look_up(struct rte_mbuf *mbuf, const struct device *device, const uint8_t *frame)
{
	uint8_t tuple[13];

	tuple[0] = frame[23];
	memcpy(tuple + 1, frame + 26, 8);
	memcpy(tuple + 9, frame + L4, 4);
	for (unsigned i = 0; i < RULES_MAX; i++) {
		if (!device->rules[i].stands || device->silent ||
			memcmp(device->rules[i].tuple, tuple, sizeof(tuple)) != 0)
			continue;
		mbuf->ol_flags |= RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;
		mbuf->hash.fdir.hi = device->rules[i].mark;
		sent_marked++;
		return;
	}
}

static void packet(unsigned flow, unsigned direction, uint8_t tcp_flags)
{
	uint8_t frame[FRAME_BYTES + 64];
	struct rte_mbuf mbuf = {.buf_addr = frame,
		.data_len = FRAME_BYTES,
		.pkt_len = FRAME_BYTES,
		.nb_segs = 1,
		.port = (uint16_t)direction};
	struct rte_mbuf *mbufs[1] = {&mbuf};

	make_frame(frame, flow, direction, tcp_flags);
	look_up(&mbuf, &devices[direction], frame);
	flow_table_record(table, mbufs, 1);
	sent++;
}

/* What the rule thread does in a round. */
static void thread_round(void)
{
	struct flow_notice notice;
	struct flow_sample sample;

	while (rte_ring_sc_dequeue_elem(table->rings.notices, &notice, sizeof(notice)) == 0)
		offload_ports_notice(offloads, PORTS, &notice);
	while (rte_ring_sc_dequeue_elem(table->rings.samples, &sample, sizeof(sample)) == 0)
		if (offloads[sample.port].on)
			offload_policy_samples(offloads[sample.port].policy, &sample, 1);
	for (unsigned i = 0; i < PORTS; i++) {
		offload_port_clock(&offloads[i], now_ms);
		(void)offload_port_work(&offloads[i]);
	}
}

/* `rate` packets a millisecond of each of the first `flows`, in both directions. */
static void run(unsigned ms, unsigned flows, unsigned rate)
{
	while (ms-- > 0) {
		now_ms++;
		for (unsigned flow = 0; flow < flows; flow++)
			for (unsigned i = 0; i < rate; i++) {
				packet(flow, 0, 0x10);
				packet(flow, 1, 0x10);
			}
		while (flow_table_work(table, now_ms) > 0)
			;
		thread_round();
	}
}

static unsigned held_records(void)
{
	unsigned held = 0;

	for (uint32_t i = 0; i < table->touched; i++)
		held += (table->records[i].held & FLOW_HELD) != 0;
	return held;
}

static void all_is_recorded(void)
{
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
	start(RULES_MAX);
	run(2000, 8, 2);
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
	run(100, 8, 2);
	CHECK_EQUAL(table->counters.marked, 8 * 2 * 2 * 100);
	CHECK_EQUAL(table->counters.bad_marks, 0);
	all_is_recorded();
	run(4000, 0, 0);
	CHECK_EQUAL(table->counters.ended[FLOW_END_IDLE], 8);
	CHECK_EQUAL(offloads[0].counters.ended, 8);
	nothing_is_left();
	stop();
}

/* Not past FIN or RST. */
static void tcp_loses_its_rule_when_it_closes(void)
{
	start(RULES_MAX);
	run(2000, 2, 2);
	CHECK_EQUAL(devices[0].standing, 2);
	packet(1, 0, 0x14); /* RST */
	run(20, 1, 2);
	CHECK_EQUAL(devices[0].standing, 1);
	CHECK_EQUAL(devices[1].standing, 1);
	CHECK_EQUAL(held_records(), 1);
	/* What comes before the flow has ended does not bring it back. */
	run(300, 2, 2);
	CHECK_EQUAL(devices[0].standing, 1);
	all_is_recorded();
	run(4000, 0, 0);
	nothing_is_left();
	stop();
}

static void refused_rules_are_counted_by_type(void)
{
	start(RULES_MAX);
	devices[0].refuse = ENOTSUP;
	devices[0].type = RTE_FLOW_ERROR_TYPE_ITEM_MASK;
	run(2000, 20, 1);
	CHECK_EQUAL(offloads[0].counters.refused[RTE_FLOW_ERROR_TYPE_ITEM_MASK], 8);
	CHECK_EQUAL(offloads[0].counters.switched_off, 1);
	CHECK(!offloads[0].on);
	CHECK(strstr(offloads[0].reason, "as the test wants it") != NULL);
	/* The other port goes on. */
	CHECK(offloads[1].on);
	CHECK_EQUAL(devices[1].standing, 20);
	all_is_recorded();
	run(5000, 0, 0);
	nothing_is_left();
	stop();
}

/* Switched on again, when the port has learned its lesson. */
static void off_and_on_again(void)
{
	start(RULES_MAX);
	devices[0].refuse = EINVAL;
	devices[0].type = RTE_FLOW_ERROR_TYPE_ACTION;
	run(2000, 20, 1);
	CHECK(!offloads[0].on);
	devices[0].refuse = 0;
	offloads[0].wanted = true;
	run(1500, 20, 1);
	CHECK(offloads[0].on);
	CHECK_EQUAL(devices[0].standing, 20);
	offloads[0].wanted = false;
	run(500, 20, 1);
	CHECK(!offloads[0].on);
	CHECK_EQUAL(devices[0].standing, 0);
	CHECK_EQUAL(offloads[0].counters.switched_off, 2);
	CHECK_EQUAL(devices[1].standing, 20);
	all_is_recorded();
	stop();
}

static void marks_that_never_come(void)
{
	start(RULES_MAX);
	devices[0].silent = true;
	run(4000, 20, 1);
	CHECK_EQUAL(offloads[0].counters.silent, OFFLOAD_FAILURES_MAX);
	CHECK(!offloads[0].on);
	CHECK_EQUAL(devices[0].standing, 0);
	CHECK(offloads[1].on);
	CHECK_EQUAL(offloads[1].counters.silent, 0);
	CHECK_EQUAL(devices[1].standing, 20);
	all_is_recorded();
	stop();
}

/* Rules are made anew, and the port stays on. */
static void a_reset_under_way(void)
{
	start(RULES_MAX);
	run(2000, 20, 1);
	CHECK_EQUAL(devices[0].standing, 20);
	device_reset(&devices[0]);
	run(6000, 20, 1);
	CHECK_EQUAL(offloads[0].counters.lost, 20);
	CHECK_EQUAL(offloads[0].counters.silent, 0);
	CHECK(offloads[0].on);
	CHECK_EQUAL(devices[0].standing, 20);
	CHECK_EQUAL(devices[0].created, 40);
	all_is_recorded();
	stop();
}

/* After the reset rules have no effect any more. */
static void a_reset_that_ends_it(void)
{
	start(RULES_MAX);
	run(2000, 20, 1);
	device_reset(&devices[0]);
	devices[0].silent = true;
	run(8000, 20, 1);
	CHECK_EQUAL(offloads[0].counters.lost, 20);
	CHECK_EQUAL(offloads[0].counters.silent, OFFLOAD_FAILURES_MAX);
	CHECK(!offloads[0].on);
	all_is_recorded();
	stop();
}

/* A device that takes fewer rules than the policy has places. */
static void a_full_table(void)
{
	start(RULES_MAX);
	devices[0].capacity = 10;
	run(4000, 20, 1);
	CHECK_EQUAL(devices[0].standing, 10);
	CHECK(offloads[0].on);
	CHECK(offloads[0].limit >= 10 && offloads[0].limit <= 12);
	CHECK(offloads[0].counters.full >= 4);
	CHECK_EQUAL(offloads[0].failures, 0);
	devices[0].capacity = RULES_MAX;
	run(15000, 20, 1);
	CHECK_EQUAL(devices[0].standing, 20);
	all_is_recorded();
	stop();
}

/* A table that never has room for anything is no table. */
static void no_room_at_all(void)
{
	start(RULES_MAX);
	devices[0].capacity = 0;
	run(3000, 20, 1);
	CHECK(!offloads[0].on);
	CHECK_EQUAL(offloads[0].counters.promoted, 0);
	stop();
}

/* While the port will not destroy a rule its mark may come: the record is not given away. */
static void rules_that_cannot_be_destroyed(void)
{
	start(RULES_MAX);
	run(2000, 4, 2);
	devices[0].keep = EIO;
	run(4000, 0, 0);
	CHECK_EQUAL(table->live, 0);
	CHECK_EQUAL(held_records(), 4);
	CHECK(offloads[0].counters.not_destroyed >= 4);
	/* The same flows again: other records, and the old marks do no harm. */
	run(100, 4, 2);
	CHECK(table->counters.bad_marks > 0);
	all_is_recorded();
	devices[0].keep = 0;
	run(5000, 0, 0);
	nothing_is_left();
	stop();
}

static void ports_without_rules(void)
{
	start(RULES_MAX);
	driver.flow_create = NULL;
	run(2000, 20, 1);
	CHECK(!offloads[0].on && !offloads[1].on);
	CHECK(strstr(offloads[0].reason, "takes no rte_flow rules") != NULL);
	all_is_recorded();
	stop();
}

/* What has no rule stays in software, and no port is blamed for it. */
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
	start(16);
	for (unsigned i = 0; i < 400; i++) {
		run(100 + (unsigned)random() % 200, (unsigned)random() % FLOWS, 1);
		disturb();
		if (random() % 3 == 0)
			packet((unsigned)random() % FLOWS | 1, 0, 0x14);
	}
	CHECK(offloads[0].counters.promoted > 100);
	CHECK(table->counters.marked > 1000);
	all_is_recorded();
	for (unsigned i = 0; i < PORTS; i++)
		devices[i].keep = 0;
	run(8000, 0, 0);
	nothing_is_left();
	stop();
}

int main(void)
{
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
		{NULL, NULL},
	};

	return test_run(cases);
}
