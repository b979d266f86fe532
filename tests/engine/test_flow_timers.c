/* SPDX-License-Identifier: BSD-3-Clause */
/* When a flow table's flows end, to a tick; and a table that is full until they do. */
#include "flow/flow_table.h"
#include "flow_frames.h"
#include "test.h"
#include "eal.h"

#include <netinet/in.h>
#include <rte_mbuf.h>

#define CAPACITY_MAX 500
#define TICK FLOW_TIMER_TICK_MS

static struct flow_table *table;
static struct end_pair pairs[2 * CAPACITY_MAX];

/* One TCP packet of the pair, both ways alike. */
static void send_one(unsigned pair, unsigned from, uint8_t tcp_flags)
{
	static uint8_t buffer[RTE_PKTMBUF_HEADROOM + FLOW_FRAME_BYTES];
	struct frame_wish wish = {.from = from, .tcp_flags = tcp_flags};
	struct rte_mbuf mbuf = {.buf_addr = buffer, .data_off = RTE_PKTMBUF_HEADROOM};
	struct rte_mbuf *vector[] = {&mbuf};

	mbuf.data_len =
		(uint16_t)flow_make_frame(&pairs[pair], &wish, buffer + RTE_PKTMBUF_HEADROOM);
	mbuf.pkt_len = mbuf.data_len;
	flow_table_record(table, vector, 1);
}

static void start(unsigned capacity, struct flow_timeouts with)
{
	const struct flow_table_config config = {.capacity = capacity, .timeouts = with};

	for (unsigned i = 0; i < 2 * capacity; i++)
		pairs[i] = (struct end_pair){.version = 4,
			.protocol = IPPROTO_TCP,
			.addresses = {{10, 0, (uint8_t)(i >> 8), (uint8_t)i}, {20, 0, 0, 1}},
			.ports = {80, (uint16_t)i}};
	table = flow_table_create(&config);
}

static void work_until(uint32_t ms)
{
	while (flow_table_work(table, ms) != 0 || ms - table->timer.ms >= TICK)
		;
}

/* No flow makes room for another. */
static void full(void)
{
	start(CAPACITY_MAX, (struct flow_timeouts){.idle_ms = 5000, .closing_ms = 2000});
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < 1000; i++)
			send_one(i, i % 2, 0x10);
	CHECK_EQUAL(table->live, 500);
	CHECK_EQUAL(table->counters.created, 500);
	CHECK_EQUAL(table->counters.not_recorded[FLOW_TABLE_FULL], 3 * 500);
	for (unsigned i = 0; i < 500; i++)
		CHECK_EQUAL(table->records[i].packets[i % 2], 3);
	work_until(4999);
	CHECK_EQUAL(table->live, 500);
	work_until(5000);
	CHECK_EQUAL(table->live, 0);
	send_one(999, 0, 0x10);
	CHECK_EQUAL(table->live, 1);
	flow_table_free(table);
}

/* Each of them at its time, to a tick. */
static void timers(void)
{
	start(10, (struct flow_timeouts){.idle_ms = 5000, .closing_ms = 2000, .hard_ms = 20000});
	send_one(0, 0, 0x11);
	send_one(1, 0, 0x04);
	send_one(2, 0, 0x10);
	work_until(1000);
	send_one(0, 1, 0x11); /* FIN both ways */
	work_until(1999);
	CHECK_EQUAL(table->live, 3);
	work_until(2000);
	CHECK_EQUAL(table->counters.ended[FLOW_END_CLOSED], 1);
	work_until(2999);
	CHECK_EQUAL(table->live, 2);
	work_until(3000);
	CHECK_EQUAL(table->counters.ended[FLOW_END_CLOSED], 2);
	for (uint32_t ms = 4000; ms <= 19000; ms += 1000) {
		work_until(ms);
		send_one(2, 1, 0x10);
	}
	CHECK_EQUAL(table->live, 1);
	work_until(20000);
	CHECK_EQUAL(table->counters.ended[FLOW_END_HARD], 1);
	send_one(3, 0, 0x10);
	work_until(24992);
	CHECK_EQUAL(table->live, 1);
	work_until(25000);
	CHECK_EQUAL(table->counters.ended[FLOW_END_IDLE], 1);
	flow_table_free(table);
}

/* The clock's 32 bits go round after 49 days. */
static void clock_goes_round(void)
{
	start(10, (struct flow_timeouts){.idle_ms = 5000, .closing_ms = 2000});
	table->now_ms = 0xfffffff0u;
	table->timer.ms = 0xfffffff0u;
	send_one(0, 0, 0x10);
	work_until(2000);
	send_one(0, 1, 0x10);
	work_until(6990);
	CHECK_EQUAL(table->live, 1);
	work_until(7000);
	CHECK_EQUAL(table->live, 0);
	flow_table_free(table);
}

int main(void)
{
	static const struct test_case cases[] = {
		{"a full table", full},
		{"timers", timers},
		{"the clock goes round", clock_goes_round},
	};

	if (!eal_start("64", "--lcores=0@0"))
		return EXIT_FAILURE;
	return TEST_RUN(cases);
}
