/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_rules_model.h"

#include "flow_frames.h"

#include <rte_ring_elem.h>
#include <stdlib.h>

#define RULES 40
#define OLD_MARKS 64u

enum rule_state {
	NO_RULE,
	ASKED,
	HELD,
	GIVEN_BACK, /* the table has not read it yet */
};

static struct rule {
	enum rule_state state;
	unsigned pair;
	uint32_t mark;
	bool marks[2];
	bool ended, reported;
} rules[RULES];

static struct flow_table *table;
static rules_find_pair_t find_pair;
static uint32_t old_marks[OLD_MARKS];
static unsigned nb_old, nb_started;
static uint64_t right, wrong;

static struct rte_ring *ring(const char *kind, unsigned element, unsigned size)
{
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *made;

	snprintf(name, sizeof(name), "%s-%u", kind, nb_started);
	made = rte_ring_create_elem(name, element, size, SOCKET_ID_ANY,
		RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (made == NULL)
		abort();
	return made;
}

void rules_start(struct flow_table *of, rules_find_pair_t finder)
{
	table = of;
	find_pair = finder;
	nb_started++;
	memset(rules, 0, sizeof(rules));
	nb_old = 0;
	right = wrong = 0;
	table->rings = (struct flow_rings){
		.exports = ring("exports", sizeof(struct flow_export), 4096),
		.samples = ring("samples", sizeof(struct flow_sample), 64),
		.orders = ring("orders", sizeof(struct flow_order), 256),
		/* So few that answers wait. */
		.notices = ring("notices", sizeof(struct flow_notice), 3),
	};
	table->offload = true;
}

static void order(const struct rule *rule, enum flow_order_what what)
{
	struct flow_order sent = {.mark = rule->mark, .what = (uint16_t)what};

	if (what == FLOW_ORDER_RULES)
		sent.rules = (uint16_t)((rule->marks[0] ? FLOW_RULE(0) : 0) |
					(rule->marks[1] ? FLOW_RULE(1) : 0));
	if (rte_ring_sp_enqueue_elem(table->rings.orders, &sent, sizeof(sent)) != 0)
		abort();
}

static bool names_somebody(uint32_t mark)
{
	uint32_t index = FLOW_MARK_INDEX(mark) - table->base;
	struct flow_view view;

	return index < table->capacity && flow_table_read(table, index, &view) &&
	       view.record.generation == FLOW_MARK_GENERATION(mark) &&
	       view.record.state != FLOW_ENDED;
}

static uint32_t wrong_mark(void)
{
	switch (flow_dice(4)) {
	case 0:
		return FLOW_MARK(table->base + table->capacity + flow_dice(100), flow_dice(2), 1);
	case 1:
		return FLOW_MARK(flow_dice(table->base), 0, 1 + flow_dice(127));
	case 2:
		return flow_dice(1 << 16);
	default:
		return nb_old == 0 ? 1 : old_marks[flow_dice(RTE_MIN(nb_old, OLD_MARKS))];
	}
}

static enum rules_mark set_mark(struct rte_mbuf *mbuf, uint32_t mark, bool is_right)
{
	mbuf->ol_flags |= RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;
	mbuf->hash.fdir.hi = mark;
	right += is_right;
	wrong += !is_right;
	return is_right ? RULES_MARKED : RULES_WRONG;
}

enum rules_mark rules_mark(struct rte_mbuf *mbuf, unsigned pair, unsigned direction)
{
	uint32_t mark;

	for (unsigned i = 0; i < RULES; i++)
		if (rules[i].state == HELD && rules[i].pair == pair && rules[i].marks[direction])
			return set_mark(mbuf, rules[i].mark | direction << FLOW_INDEX_BITS,
				!rules[i].ended);
	if (flow_dice(100) != 0)
		return RULES_UNMARKED;
	mark = wrong_mark();
	return names_somebody(mark) ? RULES_UNMARKED : set_mark(mbuf, mark, false);
}

static struct rule *rule_of(uint32_t mark)
{
	for (unsigned i = 0; i < RULES; i++)
		if (rules[i].state != NO_RULE && rules[i].mark == mark)
			return &rules[i];
	return NULL;
}

/* The table has read the order, and the number is free unless the flow lives on. */
static bool is_given_back(const struct rule *rule)
{
	const struct flow_record *record =
		&table->records[FLOW_MARK_INDEX(rule->mark) - table->base];

	return record->generation != FLOW_MARK_GENERATION(rule->mark) ||
	       record->state == FLOW_FREE ||
	       (record->state != FLOW_ENDED && (record->held & FLOW_HELD) == 0);
}

void rules_listen(void)
{
	struct flow_notice notice;

	while (rte_ring_sc_dequeue_elem(table->rings.notices, &notice, sizeof(notice)) == 0) {
		struct rule *rule = rule_of(notice.mark);

		if (rule == NULL)
			abort();
		switch ((enum flow_notice_what)notice.what) {
		case FLOW_NOTICE_HELD:
			/* One rule is made, or both; or the port only says that it is. */
			rule->state = HELD;
			rule->marks[0] = flow_dice(4) != 0;
			rule->marks[1] = flow_dice(4) != 0;
			order(rule, FLOW_ORDER_RULES);
			break;
		case FLOW_NOTICE_GONE:
			rule->state = NO_RULE;
			break;
		case FLOW_NOTICE_CLOSING:
			break;
		case FLOW_NOTICE_ENDED:
			rule->reported = true;
			break;
		}
	}
	/* Only now: a flow may have ended, and been reported, before its number was given back. */
	for (unsigned i = 0; i < RULES; i++)
		if (rules[i].state == GIVEN_BACK && is_given_back(&rules[i]))
			rules[i].state = NO_RULE;
}

void rules_flow_ended(unsigned pair)
{
	for (unsigned i = 0; i < RULES; i++)
		if ((rules[i].state == HELD || rules[i].state == GIVEN_BACK) &&
			rules[i].pair == pair)
			rules[i].ended = true;
}

static void give_back(struct rule *rule)
{
	old_marks[nb_old++ % OLD_MARKS] = rule->mark;
	order(rule, FLOW_ORDER_RELEASE);
	rule->state = GIVEN_BACK;
}

static void ask(uint32_t mark)
{
	uint32_t index = FLOW_MARK_INDEX(mark) - table->base;
	struct rule *place = NULL;
	struct flow_view view;

	mark &= ~(1u << FLOW_INDEX_BITS);
	for (unsigned i = 0; i < RULES; i++)
		if (rules[i].state == NO_RULE)
			place = &rules[i];
	if (place == NULL || rule_of(mark) != NULL || !names_somebody(mark) ||
		!flow_table_read(table, index, &view))
		return;
	*place = (struct rule){.state = ASKED,
		.pair = find_pair(&view.record.key, &view.addresses6),
		.mark = mark};
	order(place, FLOW_ORDER_HOLD);
}

void rules_work(void)
{
	struct flow_sample sample;
	bool reset = flow_dice(500) == 0;

	while (rte_ring_sc_dequeue_elem(table->rings.samples, &sample, sizeof(sample)) == 0)
		if (flow_dice(4) == 0)
			ask(sample.mark);
	for (unsigned i = 0; i < RULES; i++) {
		struct rule *rule = &rules[i];

		if (reset)
			rule->marks[0] = rule->marks[1] = false;
		if (rule->state != HELD || (rule->ended && !rule->reported))
			continue;
		if (flow_dice(rule->ended ? 20 : 400) == 0)
			give_back(rule);
	}
}

unsigned rules_waiting(void)
{
	unsigned waiting = 0;

	for (unsigned i = 0; i < RULES; i++)
		waiting +=
			rules[i].ended && (rules[i].state == HELD || rules[i].state == GIVEN_BACK);
	return waiting;
}

void rules_give_all_back(void)
{
	for (unsigned i = 0; i < RULES; i++)
		if (rules[i].state == HELD)
			give_back(&rules[i]);
}

void rules_stop(uint64_t *rightly, uint64_t *wrongly)
{
	*rightly = right;
	*wrongly = wrong;
	rte_ring_free(table->rings.exports);
	rte_ring_free(table->rings.samples);
	rte_ring_free(table->rings.orders);
	rte_ring_free(table->rings.notices);
}
