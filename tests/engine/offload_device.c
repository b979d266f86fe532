/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload_device.h"

#include "flow/offload_hold.h"
#include "test.h"

#include <errno.h>
#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_ring_elem.h>

#define RECORDS 1024
#define RING 4096
#define FRAME_BYTES 60
#define L4 34

struct device devices[PORTS];
struct port_driver driver;
static struct port ports[PORTS];
struct offload_port offloads[PORTS];
struct flow_table *table;
static struct flow_table *tables[1];
static uint32_t now_ms;
uint64_t sent, sent_marked;

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

void device_reset(struct device *device)
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

void devices_start(unsigned places)
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

void devices_stop(void)
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

void devices_packet(unsigned flow, unsigned direction, uint8_t tcp_flags)
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

/* One round of the rule thread. */
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

void devices_run(unsigned ms, unsigned flows, unsigned rate)
{
	while (ms-- > 0) {
		now_ms++;
		for (unsigned flow = 0; flow < flows; flow++)
			for (unsigned i = 0; i < rate; i++) {
				devices_packet(flow, 0, 0x10);
				devices_packet(flow, 1, 0x10);
			}
		while (flow_table_work(table, now_ms) > 0)
			;
		thread_round();
	}
}

unsigned held_records(void)
{
	unsigned held = 0;

	for (uint32_t i = 0; i < table->touched; i++)
		held += (table->records[i].held & FLOW_HELD) != 0;
	return held;
}

unsigned devices_failures(void)
{
	return test_failures;
}
