/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's work for its flow table between vectors: timers, flow export, orders. */
#include "flow_place.h"

#include <netinet/in.h>

#include <rte_pause.h>
#include <rte_prefetch.h>
#include <rte_ring_elem.h>
#include <unistd.h>

/* Blocks of the wheel looked at in a call: some microseconds, so that no ring overflows. When the
 * wheel is late, as many as two vectors of new flows may bring. */
#define BLOCKS_A_CALL 4
#define BLOCKS_A_LATE_CALL 20
#define LATE_MS (2 * FLOW_TIMER_TICK_MS)
#define ORDERS_A_CALL 64
#define TELL_WAIT_US 2000000u

static bool past(uint32_t now_ms, uint32_t deadline_ms)
{
	return (int32_t)(now_ms - deadline_ms) >= 0;
}

static uint32_t sooner(uint32_t now_ms, uint32_t a_ms, uint32_t b_ms)
{
	return (int32_t)(a_ms - now_ms) < (int32_t)(b_ms - now_ms) ? a_ms : b_ms;
}

static uint32_t mark_of(const struct flow_table *table, uint32_t index)
{
	return FLOW_MARK(table->base + index, 0, table->records[index].generation);
}

bool flow_tell(struct flow_table *table, uint32_t index, enum flow_end_reason reason)
{
	const struct flow_record *record = &table->records[index];
	const struct flow_cold *cold = &table->cold[index];
	struct flow_export notice = {.key = record->key,
		.now_ms = table->now_ms,
		.mark = mark_of(table, index),
		.reason = (uint8_t)reason};

	if (table->rings.exports == NULL)
		return true;
	if (record->key.version == 6)
		notice.addresses6 = table->addresses6[index];
	for (unsigned d = 0; d < FLOW_DIRECTIONS; d++) {
		notice.packets[d] = record->packets[d];
		notice.bytes[d] = record->bytes[d];
		notice.first_ms[d] = cold->first_seen_ms[d];
		notice.last_ms[d] = record->last_seen_ms[d];
		notice.tcp_flags[d] = record->tcp_flags[d];
		notice.l3_offset[d] = record->l3_offset[d];
	}
	if (rte_ring_sp_enqueue_elem(table->rings.exports, &notice, sizeof(notice)) == 0)
		return true;
	table->counters.lost_exports++;
	return false;
}

bool flow_notice(struct flow_table *table, uint32_t mark, enum flow_notice_what what)
{
	struct flow_notice notice = {.mark = mark, .what = what};

	return table->rings.notices == NULL ||
	       rte_ring_sp_enqueue_elem(table->rings.notices, &notice, sizeof(notice)) == 0;
}

/* An ended flow with rules: the number waits until they are gone. */
static void wait_for_rules(struct flow_table *table, uint32_t index)
{
	struct flow_record *record = &table->records[index];

	if (flow_notice(table, mark_of(table, index), FLOW_NOTICE_ENDED))
		record->held |= FLOW_END_NOTIFIED;
	else
		flow_timer_add(&table->timer, index, table->timer.ms + FLOW_TIMER_TICK_MS);
}

static void end_flow(struct flow_table *table, uint32_t index, enum flow_end_reason reason)
{
	struct flow_record *record = &table->records[index];

	table->counters.ended[reason]++;
	(void)flow_tell(table, index, reason);
	flow_take_out(table, index);
	if ((record->held & FLOW_HELD) == 0) {
		flow_free_number(table, index);
		return;
	}
	__atomic_store_n(&record->state, FLOW_ENDED, __ATOMIC_RELEASE);
	wait_for_rules(table, index);
}

/* Next due time of the flow, and its reason: FLOW_STILL_LIVE is an export. */
static uint32_t deadline(const struct flow_table *table, uint32_t index, uint32_t now_ms,
	enum flow_end_reason *reason)
{
	const struct flow_timeouts *timeouts = &table->timeouts;
	const struct flow_record *record = &table->records[index];
	const struct flow_cold *cold = &table->cold[index];
	uint32_t seen = record->last_seen_ms[0], other = record->last_seen_ms[1], end, due;

	end = ((int32_t)(seen - other) < 0 ? other : seen) + timeouts->idle_ms;
	*reason = FLOW_END_IDLE;
	if (record->state == FLOW_CLOSING) {
		due = cold->closed_ms + timeouts->closing_ms;
		if (sooner(now_ms, due, end) == due) {
			*reason = FLOW_END_CLOSED;
			end = due;
		}
	}
	if (timeouts->hard_ms != 0) {
		/* A flow began with its first packet, whoever sent it. */
		uint32_t first = cold->first_seen_ms[0], second = cold->first_seen_ms[1];

		due = ((int32_t)(first - second) < 0 ? first : second) + timeouts->hard_ms;
		if (sooner(now_ms, due, end) == due) {
			*reason = FLOW_END_HARD;
			end = due;
		}
	}
	return end;
}

/* A live flow stays in the wheel until its end, or until its next check: TCP may be closed at any
 * time, without an access to the wheel. */
static void look_at(struct flow_table *table, uint32_t index)
{
	const struct flow_timeouts *timeouts = &table->timeouts;
	struct flow_record *record = &table->records[index];
	uint32_t now = table->timer.ms, next;
	enum flow_end_reason reason;

	if (unlikely(record->state == FLOW_ENDED)) {
		if ((record->held & FLOW_HELD) != 0)
			wait_for_rules(table, index);
		else
			flow_free_number(table, index);
		return;
	}
	next = deadline(table, index, now, &reason);
	if (past(now, next)) {
		end_flow(table, index, reason);
		return;
	}
	if (record->key.protocol == IPPROTO_TCP && record->state == FLOW_OPEN)
		next = sooner(now, next, now + timeouts->closing_ms);
	if (timeouts->export_ms != 0) {
		struct flow_cold *cold = &table->cold[index];

		if (past(now, cold->exported_ms + timeouts->export_ms)) {
			(void)flow_tell(table, index, FLOW_STILL_LIVE);
			cold->exported_ms = now;
		}
		next = sooner(now, next, cold->exported_ms + timeouts->export_ms);
	}
	flow_timer_add(&table->timer, index, next);
}

static unsigned run_wheel(struct flow_table *table)
{
	unsigned looked = 0, most = table->now_ms - table->timer.ms > LATE_MS ? BLOCKS_A_LATE_CALL
									      : BLOCKS_A_CALL;

	for (unsigned blocks = 0; blocks < most; blocks++) {
		struct flow_block *block = flow_timer_take(&table->timer, table->now_ms);

		if (block == NULL)
			break;
		for (uint32_t i = 0; i < block->count; i++) {
			rte_prefetch0(&table->records[block->entries[i]]);
			rte_prefetch0(&table->cold[block->entries[i]]);
		}
		for (uint32_t i = 0; i < block->count; i++)
			look_at(table, block->entries[i]);
		looked += block->count;
		flow_timer_give_back(&table->timer, block);
	}
	return looked;
}

static struct flow_record *record_of(struct flow_table *table, uint32_t mark, uint32_t *index)
{
	struct flow_record *record;

	*index = FLOW_MARK_INDEX(mark) - table->base;
	if (*index >= table->touched)
		return NULL;
	record = &table->records[*index];
	return record->generation == FLOW_MARK_GENERATION(mark) ? record : NULL;
}

/* Returns false when the answer found no room, and the order must be carried out again. */
static bool hold(struct flow_table *table, struct flow_record *record, uint32_t mark)
{
	if (record == NULL || (record->state != FLOW_OPEN) || (record->held & FLOW_HELD) != 0)
		return flow_notice(table, mark, FLOW_NOTICE_GONE);
	if (!flow_notice(table, mark, FLOW_NOTICE_HELD))
		return false;
	record->held |= FLOW_HELD;
	return true;
}

static void release(struct flow_table *table, struct flow_record *record, uint32_t index)
{
	if (record == NULL || (record->held & FLOW_HELD) == 0)
		return;
	if (record->state == FLOW_ENDED && (record->held & FLOW_END_NOTIFIED) != 0)
		flow_free_number(table, index);
	/* One that the thread does not know to have ended is in the wheel yet. */
	record->held = 0;
}

static bool carry_out(struct flow_table *table, const struct flow_order *order)
{
	uint32_t index;
	struct flow_record *record = record_of(table, order->mark, &index);

	switch ((enum flow_order_what)order->what) {
	case FLOW_ORDER_HOLD:
		return hold(table, record, order->mark);
	case FLOW_ORDER_RULES:
		if (record != NULL && (record->held & FLOW_HELD) != 0)
			record->held = (uint8_t)((record->held & ~FLOW_RULES) |
						 (order->rules & FLOW_RULES));
		return true;
	case FLOW_ORDER_RELEASE:
		release(table, record, index);
		return true;
	}
	return true;
}

static unsigned carry_out_orders(struct flow_table *table)
{
	unsigned done = 0;

	if (table->rings.orders == NULL)
		return 0;
	while (done < ORDERS_A_CALL) {
		struct flow_order order;

		if (!table->order_waits && rte_ring_sc_dequeue_elem(table->rings.orders,
						   &table->order, sizeof(order)) != 0)
			break;
		order = table->order;
		table->order_waits = !carry_out(table, &order);
		if (table->order_waits)
			break;
		done++;
	}
	return done;
}

static void hand_samples_over(struct flow_table *table)
{
	unsigned sent;

	if (table->nb_samples == 0)
		return;
	sent = rte_ring_sp_enqueue_burst_elem(table->rings.samples, table->samples,
		sizeof(table->samples[0]), table->nb_samples, NULL);
	table->counters.lost_samples += table->nb_samples - sent;
	table->nb_samples = 0;
}

unsigned flow_table_work(struct flow_table *table, uint32_t now_ms)
{
	unsigned orders = carry_out_orders(table);

	table->now_ms = now_ms;
	hand_samples_over(table);
	return orders + run_wheel(table);
}

void flow_table_tell_all(struct flow_table *table)
{
	unsigned waited_us = 0;

	for (uint32_t index = 0; index < table->touched; index++) {
		uint8_t state = table->records[index].state;

		if (state != FLOW_OPEN && state != FLOW_CLOSING)
			continue;
		while (!flow_tell(table, index, FLOW_END_STOP) && waited_us < TELL_WAIT_US) {
			table->counters.lost_exports--;
			usleep(200);
			waited_us += 200;
		}
		table->counters.ended[FLOW_END_STOP]++;
	}
}

void flow_note_first(struct flow_table *table, uint32_t index, enum flow_direction direction)
{
	table->cold[index].first_seen_ms[direction] = table->now_ms;
}

void flow_note_tcp_end(struct flow_table *table, uint32_t index)
{
	struct flow_record *record = &table->records[index];

	if (record->key.protocol != IPPROTO_TCP || record->state != FLOW_OPEN)
		return;
	if (((record->tcp_flags[0] | record->tcp_flags[1]) & FLOW_TCP_RST) == 0 &&
		(record->tcp_flags[0] & record->tcp_flags[1] & FLOW_TCP_FIN) == 0)
		return;
	record->state = FLOW_CLOSING;
	table->cold[index].closed_ms = table->now_ms;
	/* Should the ring be full, the thread learns it from ENDED. */
	if ((record->held & FLOW_HELD) != 0)
		(void)flow_notice(table, FLOW_MARK(table->base + index, 0, record->generation),
			FLOW_NOTICE_CLOSING);
}
