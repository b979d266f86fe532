/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload_port.h"

#include "offload_hold.h"
#include "offload_rule.h"

#include <errno.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time for which a flow is not tried again: it changed during programming or lost its rule by a
 * reset; the table had no room for it; the port refused its rule; its rule had no effect; there is
 * none for it, or it has ended. Another flow with its number is not barred. */
#define BAR_SOON_MS 1000
#define BAR_FULL_MS 5000
#define BAR_REFUSED_MS 30000
#define BAR_SILENT_MS 60000
#define BAR_FOREVER_MS 3600000
/* The first refusal is chance; this number in a row means a full table. */
#define FULL_MAX 4
/* Interval at which a full table is tried again: its other users may have left. */
#define LIMIT_MS 1000
#define LIMIT_STEPS 64
/* Chosen and not made yet: what is best may change. */
#define AHEAD_MAX 16
#define SAY_MS 10000

static void add(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

int offload_port_create(struct offload_port *offload, struct port *port, uint32_t records,
	unsigned places, uint32_t now_ms)
{
	*offload = (struct offload_port){.port = port,
		.records = records,
		.nb_places = places,
		.limit = places,
		.on = true,
		.wanted = true,
		.now_ms = now_ms,
		.limit_ms = now_ms};
	offload->policy = offload_policy_create(records, places, now_ms);
	offload->rules = calloc(places, sizeof(*offload->rules));
	offload->bar_ms = calloc(places, sizeof(*offload->bar_ms));
	if (offload->policy == NULL || offload->rules == NULL || offload->bar_ms == NULL ||
		offload_queue_create(&offload->create, places) != 0 ||
		offload_queue_create(&offload->destroy, places) != 0 ||
		offload_queue_create(&offload->again, places) != 0)
		return -ENOMEM;
	return 0;
}

void offload_port_destroy(struct offload_port *offload)
{
	offload_policy_destroy(offload->policy);
	free(offload->rules);
	free(offload->bar_ms);
	free(offload->create.places);
	free(offload->destroy.places);
	free(offload->again.places);
}

static uint32_t mark_of(const struct offload_port *offload, unsigned place)
{
	return offload_policy_place(offload->policy, place)->mark;
}

/* The place is free, and the record if it was the last. */
static void leave_place(struct offload_port *offload, unsigned place, uint32_t bar_ms)
{
	uint32_t mark = mark_of(offload, place);
	struct offload_hold *hold = offload_hold_find(mark);

	offload_policy_free(offload->policy, place, bar_ms);
	if (hold != NULL)
		offload_hold_drop(hold);
}

static void leave(struct offload_port *offload, unsigned place, uint32_t bar_ms)
{
	offload->bar_ms[place] = bar_ms;
	offload_policy_leave(offload->policy, place);
	offload_queue_put(&offload->destroy, place);
}

static void switch_off(struct offload_port *offload, const char *reason)
{
	offload->on = false;
	__atomic_store_n(&offload->wanted, false, __ATOMIC_RELAXED);
	add(&offload->counters.switched_off);
	snprintf(offload->reason, sizeof(offload->reason), "%s", reason);
	for (unsigned place = 0; place < offload->nb_places; place++)
		if (offload_policy_place(offload->policy, place)->state == OFFLOAD_STANDING)
			leave(offload, place, 0);
}

static void fail(struct offload_port *offload, const char *what, const char *reason)
{
	char text[OFFLOAD_ERROR_BYTES];

	if (++offload->failures < OFFLOAD_FAILURES_MAX || !offload->on)
		return;
	snprintf(text, sizeof(text), "%s%s%s", what, reason[0] == '\0' ? "" : ": ", reason);
	fprintf(stderr,
		"port %s: offload is switched off, flows are looked up in software: %s %d times in "
		"a row (/linerate/offload,on,%s tries again)\n",
		offload->port->name, text, OFFLOAD_FAILURES_MAX, offload->port->name);
	switch_off(offload, text);
}

static void took(struct offload_times *times, uint64_t started_tsc)
{
	uint64_t ns = (uint64_t)((double)(rte_rdtsc() - started_tsc) * (double)NS_PER_S /
				 (double)rte_get_tsc_hz());

	times->min = times->count == 0 ? ns : RTE_MIN(times->min, ns);
	times->max = RTE_MAX(times->max, ns);
	times->sum += ns;
	add(&times->count);
}

static void note_error(struct offload_port *offload, const struct rte_flow_error *error, int number)
{
	snprintf(offload->counters.last_error, sizeof(offload->counters.last_error), "%s",
		error->message == NULL ? strerror(number) : error->message);
}

/* No room: one flow's bad luck, or a table that is full. */
static void refused_for_room(struct offload_port *offload, unsigned place)
{
	add(&offload->counters.full);
	leave_place(offload, place, BAR_FULL_MS);
	if (++offload->full_in_row < FULL_MAX)
		return;
	if (offload->standing == 0) {
		fail(offload, "the port has no room for any rule", offload->counters.last_error);
		return;
	}
	offload->limit = offload->standing;
	offload_policy_limit(offload->policy, offload->limit);
}

static void refused(struct offload_port *offload, unsigned place, struct rte_flow_error *error)
{
	int number = rte_errno;

	note_error(offload, error, number);
	if (number == ENOSPC) {
		refused_for_room(offload, place);
		return;
	}
	add(&offload->counters.refused[RTE_MIN((unsigned)error->type, OFFLOAD_ERROR_TYPES - 1u)]);
	leave_place(offload, place, BAR_REFUSED_MS);
	fail(offload, "rules are refused", offload->counters.last_error);
}

/* The worker has a queue of its own, or hands its packets off whatever queue they come from. */
static uint16_t queue_of(const struct offload_port *offload, uint32_t mark)
{
	return (uint16_t)(offload_worker(mark) % offload->port->nb_rx_queues);
}

static bool read_flow(uint32_t mark, struct flow_view *view)
{
	const struct flow_table *table = offload_table(mark);

	return flow_table_read(table, FLOW_MARK_INDEX(mark) - table->base, view) &&
	       view->record.generation == FLOW_MARK_GENERATION(mark) &&
	       view->record.state == FLOW_OPEN;
}

static void make_rule(struct offload_port *offload, unsigned place)
{
	uint32_t mark = mark_of(offload, place);
	enum flow_direction direction = (enum flow_direction)FLOW_MARK_DIRECTION(mark);
	struct offload_hold *hold = offload_hold_find(mark);
	struct rte_flow_error error = {.message = NULL};
	struct offload_rule rule;
	struct flow_view view;
	uint64_t started;

	if (!offload->on || hold->state != OFFLOAD_HELD || !read_flow(mark, &view)) {
		leave_place(offload, place,
			hold->state == OFFLOAD_ENDED ? BAR_FOREVER_MS : BAR_SOON_MS);
		return;
	}
	if (!offload_rule_make(&rule, &view, direction, mark, queue_of(offload, mark))) {
		add(&offload->counters.unsuited);
		leave_place(offload, place, BAR_FOREVER_MS);
		return;
	}
	started = rte_rdtsc();
	offload->rules[place] =
		port_flow_create(offload->port, &rule.attr, rule.pattern, rule.actions, &error);
	if (offload->rules[place] == NULL) {
		refused(offload, place, &error);
		return;
	}
	took(&offload->counters.create, started);
	offload->full_in_row = 0;
	offload->standing++;
	add(&offload->counters.promoted);
	offload_policy_stands(offload->policy, place);
	offload_hold_rule(hold, mark, true);
}

static void destroy_rule(struct offload_port *offload, unsigned place)
{
	uint32_t mark = mark_of(offload, place);
	struct rte_flow_error error = {.message = NULL};
	uint64_t started = rte_rdtsc();
	int rc = port_flow_destroy(offload->port, offload->rules[place], &error);

	if (rc == 0) {
		took(&offload->counters.destroy, started);
	} else if (rc != -ENOENT) {
		/* It may stand: its mark must go on to mean this flow. */
		note_error(offload, &error, -rc);
		add(&offload->counters.not_destroyed);
		offload_queue_put(&offload->again, place);
		return;
	}
	offload->standing--;
	offload_hold_rule(offload_hold_find(mark), mark, false);
	leave_place(offload, place, offload->bar_ms[place]);
}

/* A worker is asked for the record, or the rule can be made at once. */
static void begin(struct offload_port *offload, unsigned place)
{
	struct offload_hold *hold = offload_hold_take(mark_of(offload, place));

	if (hold == NULL)
		offload_policy_free(offload->policy, place, 0);
	else if (hold->state == OFFLOAD_ASKED)
		offload->nb_asked++;
	else
		offload_queue_put(&offload->create, place);
}

static bool choose(struct offload_port *offload)
{
	struct offload_choice choice;

	if (!offload->on || offload->nb_asked + offload->create.count >= AHEAD_MAX ||
		!offload_policy_next(offload->policy, &choice))
		return false;
	if (choice.what == OFFLOAD_PROMOTE) {
		begin(offload, choice.place);
	} else {
		add(&offload->counters.demoted);
		leave(offload, choice.place, 0);
	}
	return true;
}

bool offload_port_work(struct offload_port *offload)
{
	unsigned place;

	while (choose(offload))
		;
	if (offload_queue_take(&offload->destroy, &place))
		destroy_rule(offload, place);
	else if (offload_queue_take(&offload->create, &place))
		make_rule(offload, place);
	else
		return false;
	return true;
}

/* The place's rule can be made, or its flow ended before. */
static void answered(struct offload_port *offload, uint32_t mark, bool held)
{
	int place = offload_policy_find(offload->policy, mark);

	if (place < 0 ||
		offload_policy_place(offload->policy, (unsigned)place)->state != OFFLOAD_PROMOTED)
		return;
	offload->nb_asked--;
	if (held) {
		offload_queue_put(&offload->create, (unsigned)place);
		return;
	}
	offload_hold_refused(offload_hold_find(mark));
	offload_policy_free(offload->policy, (unsigned)place, BAR_FOREVER_MS);
}

/* The flow is closing or has ended: its rule goes. */
static void ended(struct offload_port *offload, uint32_t mark)
{
	int place = offload_policy_find(offload->policy, mark);

	/* One whose rule is not made yet is seen to have ended when its turn comes. */
	if (place < 0 ||
		offload_policy_place(offload->policy, (unsigned)place)->state != OFFLOAD_STANDING)
		return;
	add(&offload->counters.ended);
	leave(offload, (unsigned)place, BAR_FOREVER_MS);
}

void offload_ports_notice(
	struct offload_port *ports, unsigned count, const struct flow_notice *notice)
{
	struct offload_hold *hold = offload_hold_find(notice->mark);
	bool held = notice->what == FLOW_NOTICE_HELD;

	/* Its record was released in the meantime. */
	if (hold == NULL)
		return;
	if (hold->state == OFFLOAD_ASKED && (held || notice->what == FLOW_NOTICE_GONE)) {
		hold->state = OFFLOAD_HELD;
		for (unsigned i = 0; i < count; i++)
			answered(&ports[i], notice->mark, held);
	} else if (hold->state == OFFLOAD_HELD) {
		hold->state = OFFLOAD_ENDED;
		for (unsigned i = 0; i < count; i++)
			ended(&ports[i], notice->mark);
	}
}

/* Rules worked and do not any more: they are made anew. */
static void say_lost(struct offload_port *offload)
{
	if (offload->logged_lost && offload->now_ms - offload->logged_ms < SAY_MS)
		return;
	fprintf(stderr,
		"port %s: rules have lost their effect, as after a reset of the port: they are "
		"made anew\n",
		offload->port->name);
	offload->logged_lost = true;
	offload->logged_ms = offload->now_ms;
}

/* A rule that stood when others lost theirs may not have had the time to show an effect. */
static bool was_lost(const struct offload_port *offload, const struct offload_place *place)
{
	return place->worked ||
	       (offload->lost_seen && (int32_t)(offload->lost_ms - place->since_ms) > 0);
}

static void look_for_lost(struct offload_port *offload)
{
	for (unsigned place = 0; place < offload->nb_places; place++) {
		const struct offload_place *one = offload_policy_place(offload->policy, place);

		if (!offload_policy_silent(offload->policy, place) || !was_lost(offload, one))
			continue;
		add(&offload->counters.lost);
		say_lost(offload);
		if (one->worked) {
			offload->lost_seen = true;
			offload->lost_ms = offload->now_ms;
		}
		leave(offload, place, BAR_SOON_MS);
	}
}

static void look_for_silent(struct offload_port *offload)
{
	for (unsigned place = 0; place < offload->nb_places && offload->on; place++) {
		if (!offload_policy_silent(offload->policy, place))
			continue;
		add(&offload->counters.silent);
		leave(offload, place, BAR_SILENT_MS);
		fail(offload, "rules have no effect, packets come without their mark", "");
	}
}

/* A packet that comes marked ends a row of failures. */
static void look_for_marked(struct offload_port *offload)
{
	uint64_t marked = offload_policy_marked(offload->policy);

	if (marked != offload->marked_seen)
		offload->failures = 0;
	offload->marked_seen = marked;
}

/* Switched on again: what was barred may have another try. */
static void switch_on(struct offload_port *offload)
{
	struct offload_policy *fresh;

	if (offload_policy_used(offload->policy) > 0)
		return;
	fresh = offload_policy_create(offload->records, offload->nb_places, offload->now_ms);
	if (fresh == NULL)
		return;
	offload_policy_destroy(offload->policy);
	offload->policy = fresh;
	offload->limit = offload->nb_places;
	offload->marked_seen = 0;
	offload->failures = 0;
	offload->full_in_row = 0;
	offload->reason[0] = '\0';
	offload->on = true;
}

void offload_port_clock(struct offload_port *offload, uint32_t now_ms)
{
	bool wanted = __atomic_load_n(&offload->wanted, __ATOMIC_RELAXED);
	unsigned place;

	offload->now_ms = now_ms;
	if (!offload_policy_clock(offload->policy, now_ms))
		return;
	offload->threshold = offload_policy_threshold(offload->policy);
	look_for_marked(offload);
	look_for_lost(offload);
	look_for_silent(offload);
	while (offload_queue_take(&offload->again, &place))
		offload_queue_put(&offload->destroy, place);
	if (wanted && !offload->on)
		switch_on(offload);
	else if (!wanted && offload->on)
		switch_off(offload, "by request");
	if (offload->limit < offload->nb_places && now_ms - offload->limit_ms >= LIMIT_MS) {
		offload->limit += offload->limit / LIMIT_STEPS + 1;
		offload->limit = RTE_MIN(offload->limit, offload->nb_places);
		offload_policy_limit(offload->policy, offload->limit);
		offload->limit_ms = now_ms;
	}
}

/* One by one, where the port cannot at once. The rules' records are of no use any more. */
void offload_port_stop(struct offload_port *offload)
{
	struct rte_flow_error error = {.message = NULL};

	if (offload->standing == 0 || port_flow_flush(offload->port, &error) == 0)
		return;
	for (unsigned place = 0; place < offload->nb_places; place++) {
		uint8_t state = offload_policy_place(offload->policy, place)->state;

		if (state == OFFLOAD_STANDING || state == OFFLOAD_LEAVING)
			(void)port_flow_destroy(offload->port, offload->rules[place], &error);
	}
}
