/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow table against a dictionary: random packets of random flows, timers, and a port whose
 * rules mark packets rightly, wrongly or not at all, come and go. The same flows, the same counts,
 * at any time. With SIMD and without, and with all flows in one bucket.
 */
#include "flow/flow_table.h"
#include "flow_frames.h"
#include "flow_rules_model.h"
#include "test.h"
#include "eal.h"

#include <netinet/in.h>
#include <rte_mbuf.h>
#include <rte_ring_elem.h>

#define PAIRS_MAX 2000
#define TICK FLOW_TIMER_TICK_MS
#define FRAGMENTS 32 /* first fragments that later ones may follow */

static const struct flow_timeouts timeouts = {
	.idle_ms = 5000, .closing_ms = 2000, .hard_ms = 30000, .export_ms = 7000};

struct known_flow {
	bool live, closing;
	unsigned incarnation;
	uint64_t packets[2], bytes[2];
	uint32_t first[2], last[2], born, closed;
	uint8_t flags[2];
};

struct known_fragment {
	unsigned pair, from, incarnation;
	uint32_t id, learnt;
};

static struct flow_table *table;
static unsigned nb_pairs, window;
static struct end_pair pairs[PAIRS_MAX];
static struct known_flow known[PAIRS_MAX];
static struct known_fragment fragments[FRAGMENTS];
static unsigned nb_live;
static uint32_t now_ms, next_id;
static uint64_t not_recorded[FLOW_NOT_RECORDED_REASONS], all_packets, created, ended, still_live;

static struct rte_mbuf mbufs[FLOW_VECTOR_MAX];
static uint8_t buffers[FLOW_VECTOR_MAX][RTE_PKTMBUF_HEADROOM + FLOW_FRAME_BYTES];
static struct rte_mbuf *vector[FLOW_VECTOR_MAX];

/* The model's view of a packet of the vector. */
struct packet {
	unsigned pair, from;
	uint8_t flags;
	unsigned bytes;
	enum { WHOLE, FIRST, LATER, LOST, NO_IP, BROKEN } kind;
	struct known_fragment *fragment;
};

static unsigned find_pair(const struct flow_key *key, const struct flow_addresses6 *six)
{
	unsigned i = 0;

	while (i < nb_pairs && !flow_pair_has_key(&pairs[i], key, six))
		i++;
	CHECK(i < nb_pairs);
	return i < nb_pairs ? i : 0;
}

static void note(const struct packet *packet)
{
	const struct end_pair *pair = &pairs[packet->pair];
	struct known_flow *flow = &known[packet->pair];
	unsigned direction = packet->from != pair->low;

	if (!flow->live) {
		if (nb_live + rules_waiting() == table->capacity) {
			not_recorded[FLOW_TABLE_FULL]++;
			return;
		}
		*flow = (struct known_flow){.live = true,
			.incarnation = flow->incarnation + 1,
			.born = now_ms,
			.last = {now_ms, now_ms}};
		nb_live++;
		created++;
	}
	if (flow->packets[direction]++ == 0)
		flow->first[direction] = now_ms;
	flow->bytes[direction] += packet->bytes;
	flow->last[direction] = now_ms;
	flow->flags[direction] |= packet->flags;
	if (!flow->closing && (((flow->flags[0] | flow->flags[1]) & 4) != 0 ||
				      (flow->flags[0] & flow->flags[1] & 1) != 0)) {
		flow->closing = true;
		flow->closed = now_ms;
	}
}

static void note_packet(const struct packet *packet)
{
	const struct known_fragment *fragment = packet->fragment;

	switch (packet->kind) {
	case NO_IP:
		not_recorded[FLOW_NOT_IP]++;
		return;
	case BROKEN:
		not_recorded[FLOW_BROKEN]++;
		return;
	case LOST:
		not_recorded[FLOW_LOST_FRAGMENT]++;
		return;
	case LATER:
		if (known[packet->pair].live &&
			known[packet->pair].incarnation == fragment->incarnation &&
			now_ms - fragment->learnt < FLOW_FRAGMENTS_MS)
			note(packet);
		else
			not_recorded[FLOW_LOST_FRAGMENT]++;
		return;
	case FIRST:
	case WHOLE:
		note(packet);
	}
	if (packet->kind != FIRST)
		return;
	packet->fragment->learnt = now_ms;
	packet->fragment->incarnation =
		known[packet->pair].live ? known[packet->pair].incarnation : 0;
}

/* Popular flows change with time. */
static unsigned any_pair(void)
{
	return (now_ms / 3000 * 37 + flow_dice(flow_dice(window) + 1)) % nb_pairs;
}

static void make_fragment(struct packet *packet, struct frame_wish *wish)
{
	struct known_fragment *fragment = &fragments[flow_dice(FRAGMENTS)];

	wish->fragment = true;
	if (flow_dice(2) == 0) {
		/* A new packet's first, in place of the oldest. */
		wish->more = true;
		wish->fragment_id = ++next_id;
		fragment = &fragments[next_id % FRAGMENTS];
		fragment->pair = packet->pair;
		fragment->from = packet->from;
		fragment->id = wish->fragment_id;
		packet->fragment = fragment;
		packet->kind = FIRST;
		return;
	}
	packet->flags = 0;
	wish->fragment_offset = 1 + flow_dice(100);
	wish->more = flow_dice(2);
	if (flow_dice(4) == 0 || fragment->learnt == 0) {
		packet->kind = LOST;
		wish->fragment_id = ++next_id;
		return;
	}
	packet->kind = LATER;
	packet->pair = fragment->pair;
	packet->from = wish->from = fragment->from;
	packet->fragment = fragment;
	wish->fragment_id = fragment->id;
}

/* Without the end of its headers. */
static unsigned cut(const struct end_pair *pair, const struct frame_wish *wish)
{
	unsigned l3 = 14 + 4 * wish->tags + 4 * wish->labels;

	return l3 + 1 + flow_dice(pair->version == 4 ? 19 : 39);
}

static void make_packet(unsigned place, struct packet *packet)
{
	struct frame_wish wish = {.from = flow_dice(2), .payload = flow_dice(100)};
	struct rte_mbuf *mbuf = &mbufs[place];
	uint8_t *frame = buffers[place] + RTE_PKTMBUF_HEADROOM;

	*packet = (struct packet){.pair = any_pair(), .from = wish.from, .kind = WHOLE};
	if (flow_dice(4) == 0) {
		wish.tags = flow_dice(3);
		wish.labels = flow_dice(3);
		wish.extensions = flow_dice(3);
	}
	if (pairs[packet->pair].protocol == IPPROTO_TCP) {
		wish.tcp_flags =
			(uint8_t)(0x10 | (flow_dice(60) == 0) | (flow_dice(300) == 0) << 2);
		packet->flags = wish.tcp_flags;
	}
	if (flow_dice(20) == 0)
		make_fragment(packet, &wish);
	packet->bytes = flow_make_frame(&pairs[packet->pair], &wish, frame);
	if (packet->kind == WHOLE && flow_dice(50) == 0) {
		packet->kind = BROKEN;
		packet->bytes = cut(&pairs[packet->pair], &wish);
	} else if (packet->kind == WHOLE && flow_dice(50) == 0) {
		packet->kind = NO_IP;
		frame[12 + 4 * wish.tags] = 0x08;
		frame[13 + 4 * wish.tags] = 0x06;
	}
	*mbuf = (struct rte_mbuf){.buf_addr = buffers[place],
		.data_off = RTE_PKTMBUF_HEADROOM,
		.data_len = (uint16_t)packet->bytes,
		.pkt_len = packet->bytes,
		.port = 3};
}

/* The table looks at marked packets first, at those whose marks are wrong last. */
static void one_vector(void)
{
	struct packet packets[FLOW_VECTOR_MAX];
	enum rules_mark marks[FLOW_VECTOR_MAX];
	unsigned count = 1 + flow_dice(FLOW_VECTOR_MAX);

	for (unsigned i = 0; i < count; i++) {
		struct packet *packet = &packets[i];

		make_packet(i, packet);
		marks[i] = RULES_UNMARKED;
		if (packet->kind == WHOLE)
			marks[i] = rules_mark(
				&mbufs[i], packet->pair, packet->from != pairs[packet->pair].low);
		vector[i] = &mbufs[i];
	}
	for (unsigned pass = RULES_MARKED; pass <= RULES_WRONG; pass++)
		for (unsigned i = 0; i < count; i++)
			if (marks[i] == (enum rules_mark)pass)
				note_packet(&packets[i]);
	all_packets += count;
	flow_table_record(table, vector, count);
}

static uint32_t deadline(const struct known_flow *flow, enum flow_end_reason *reason)
{
	uint32_t end = RTE_MAX(flow->last[0], flow->last[1]) + timeouts.idle_ms;

	*reason = FLOW_END_IDLE;
	if (flow->closing && flow->closed + timeouts.closing_ms <= end) {
		end = flow->closed + timeouts.closing_ms;
		*reason = FLOW_END_CLOSED;
	}
	if (flow->born + timeouts.hard_ms <= end) {
		end = flow->born + timeouts.hard_ms;
		*reason = FLOW_END_HARD;
	}
	return end;
}

static void check_counts(const struct flow_export *notice, const struct known_flow *flow)
{
	for (unsigned d = 0; d < 2; d++) {
		CHECK_EQUAL(notice->packets[d], flow->packets[d]);
		CHECK_EQUAL(notice->bytes[d], flow->bytes[d]);
		CHECK_EQUAL(notice->tcp_flags[d], flow->flags[d]);
		if (flow->packets[d] == 0)
			continue;
		CHECK_EQUAL(notice->first_ms[d], flow->first[d]);
		CHECK_EQUAL(notice->last_ms[d], flow->last[d]);
	}
}

/* The wheel stands at the last whole tick. */
static void check_notices(void)
{
	uint32_t wheel = now_ms / TICK * TICK;
	struct flow_export notice;
	enum flow_end_reason reason;

	while (rte_ring_sc_dequeue_elem(table->rings.exports, &notice, sizeof(notice)) == 0) {
		unsigned pair = find_pair(&notice.key, &notice.addresses6);
		struct known_flow *flow = &known[pair];

		CHECK(flow->live);
		check_counts(&notice, flow);
		if (notice.reason == FLOW_STILL_LIVE) {
			still_live++;
			continue;
		}
		CHECK(deadline(flow, &reason) <= wheel);
		CHECK_EQUAL(notice.reason, reason);
		rules_flow_ended(pair);
		flow->live = false;
		nb_live--;
		ended++;
	}
	for (unsigned i = 0; i < nb_pairs; i++)
		CHECK(!known[i].live || deadline(&known[i], &reason) > wheel);
}

static void pass_time(uint32_t milliseconds)
{
	now_ms += milliseconds;
	while (flow_table_work(table, now_ms) != 0 || now_ms - table->timer.ms >= TICK)
		;
	rules_listen();
	check_notices();
	rules_work();
	CHECK_EQUAL(table->live, nb_live);
	CHECK_EQUAL(table->touched - table->nb_free, nb_live + rules_waiting());
}

static void check_all(void)
{
	struct flow_view view;
	unsigned seen = 0;

	for (uint32_t i = 0; i < table->touched; i++) {
		const struct known_flow *flow;

		if (!flow_table_read(table, i, &view) || view.record.state == FLOW_ENDED)
			continue;
		flow = &known[find_pair(&view.record.key, &view.addresses6)];
		seen++;
		CHECK(flow->live);
		for (unsigned d = 0; d < 2; d++) {
			CHECK_EQUAL(view.record.packets[d], flow->packets[d]);
			CHECK_EQUAL(view.record.bytes[d], flow->bytes[d]);
			CHECK_EQUAL(view.record.tcp_flags[d], flow->flags[d]);
		}
	}
	CHECK_EQUAL(seen, nb_live);
	CHECK_EQUAL(table->counters.packets, all_packets);
	CHECK_EQUAL(table->counters.created, created);
	CHECK_EQUAL(table->counters.lost_exports, 0);
	for (unsigned r = 0; r < FLOW_NOT_RECORDED_REASONS; r++)
		CHECK_EQUAL(table->counters.not_recorded[r], not_recorded[r]);
}

static void make_pairs(unsigned count)
{
	for (nb_pairs = 0; nb_pairs < count;) {
		bool new = true;

		flow_random_pair(&pairs[nb_pairs]);
		for (unsigned i = 0; i < nb_pairs && new; i++)
			new = !flow_pairs_same(&pairs[i], &pairs[nb_pairs]);
		nb_pairs += new;
	}
}

static void start(unsigned capacity, unsigned count)
{
	const struct flow_table_config config = {
		.capacity = capacity, .base = 1000, .seed = 42, .timeouts = timeouts};

	flow_dice_seed(20261121);
	make_pairs(count);
	window = RTE_MIN(capacity, count);
	table = flow_table_create(&config);
	now_ms = 0;
	nb_live = 0;
	all_packets = created = ended = still_live = 0;
	memset(known, 0, sizeof(known));
	memset(fragments, 0, sizeof(fragments));
	memset(not_recorded, 0, sizeof(not_recorded));
	rules_start(table, find_pair);
}

static void finish(void)
{
	uint64_t recorded = all_packets, right, wrong;

	check_all();
	/* None of the ways was missed. */
	CHECK(ended > 100 && still_live > 100);
	for (unsigned r = 0; r < FLOW_NOT_RECORDED_REASONS; r++) {
		CHECK(not_recorded[r] > 0);
		recorded -= not_recorded[r];
	}
	CHECK(recorded > all_packets / 2);
	pass_time(200000);
	rules_give_all_back();
	pass_time(200000);
	CHECK_EQUAL(nb_live, 0);
	CHECK_EQUAL(ended, created);
	CHECK_EQUAL(table->touched, table->nb_free);
	rules_stop(&right, &wrong);
	CHECK_EQUAL(table->counters.bad_marks, wrong);
	CHECK(wrong > 100 && right > 1000);
	CHECK(table->counters.marked <= right && table->counters.marked > right / 2);
	flow_table_free(table);
}

static void some_traffic(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		one_vector();
		if (flow_dice(3) == 0)
			pass_time(flow_dice(30));
		if (flow_dice(300) == 0)
			pass_time(flow_dice(3000));
		if (flow_dice(3000) == 0)
			pass_time(40000);
		if (i % 500 == 0)
			check_all();
	}
	finish();
}

static void with_simd(void)
{
	start(1300, PAIRS_MAX);
	some_traffic(8000);
}

static void without_simd(void)
{
	start(1300, PAIRS_MAX);
	flow_table_use_scalar(table);
	some_traffic(8000);
}

static void in_one_bucket(void)
{
	start(60, 100);
	table->mask = 0;
	some_traffic(4000);
}

int main(void)
{
	static const struct test_case cases[] = {
		{"like a dictionary, with SIMD", with_simd},
		{"like a dictionary, without SIMD", without_simd},
		{"like a dictionary, all flows in one bucket", in_one_bucket},
	};

	if (!eal_start("64", "--lcores=0@0"))
		return EXIT_FAILURE;
	return TEST_RUN(cases);
}
