/* SPDX-License-Identifier: BSD-3-Clause */
#include "slices.h"

#include "core/ledger.h"
#include "core/worker.h"
#include "tester.h"

#include <errno.h>
#include <rte_cycles.h>
#include <stdlib.h>
#include <string.h>

/* Rings that filled while a worker was away are emptied within this. */
#define RECOVERY_MS 1

/* One counter of a place of loss. */
struct watched {
	const uint64_t *packets;
	unsigned entry;       /* of `places` */
	uint64_t first, last; /* when the trial began, and at the last slice's end */
	uint64_t grown;       /* in the last slice */
	uint64_t disturbed;   /* in disturbed slices */
};

struct slices_clock slices_clock = {.due = UINT64_MAX};

static struct {
	unsigned count, room;
	struct slice *slices;
	struct ledger places;
	struct watched *watched;
	struct slices_clean clean;
	uint64_t length; /* cycles of a slice */
	uint64_t last_tsc, last_sent, last_received;
	uint64_t away[WORKERS_MAX], stalls[WORKERS_MAX]; /* at the last slice's end */
} slices;

static uint64_t slice_length(void)
{
	uint64_t length = rte_get_tsc_hz() / 1000 * SLICE_MS;

	return RTE_MAX(length, 2 * tester.order.limit_clocks / SLICES_MAX);
}

/* One more than fit evenly: the trial's own end may fall within a slice. */
static unsigned slices_needed(void)
{
	return (unsigned)(tester.order.limit_clocks / slices.length) + 3;
}

static int watch_places(void)
{
	ledger_free(&slices.places);
	free(slices.watched);
	ledger_watch(&slices.places);
	slices.watched = calloc((size_t)slices.places.nb_counters + 1, sizeof(*slices.watched));
	if (slices.watched == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < slices.places.nb_counters; i++) {
		slices.watched[i].packets = slices.places.counters[i].packets;
		slices.watched[i].entry = slices.places.counters[i].entry;
	}
	return 0;
}

int slices_prepare(void)
{
	slices_clock.port = NULL;
	slices_clock.due = UINT64_MAX;
	slices.count = 0;
	slices.clean = (struct slices_clean){0};
	if (tester.order.clean_clocks == 0)
		return 0;
	slices.length = slice_length();
	if (slices_needed() > slices.room) {
		struct slice *more = realloc(slices.slices, slices_needed() * sizeof(*more));

		if (more == NULL)
			return -ENOMEM;
		slices.slices = more;
		slices.room = slices_needed();
	}
	return watch_places();
}

static uint64_t sent_frames(void)
{
	uint64_t sent = 0;

	for (unsigned i = 0; i < tester.nb_ports; i++)
		for (unsigned s = 0; s < tester.ports[i].nb_schedules; s++)
			sent += tester.ports[i].schedules[s].sent;
	return sent;
}

/* A trial ends when its own time is over, too, and not at the next slice's end alone. */
static uint64_t next_end(uint64_t elapsed)
{
	uint64_t next = (elapsed / slices.length + 1) * slices.length;

	return elapsed < tester.order.duration_clocks ? RTE_MIN(next, tester.order.duration_clocks)
						      : RTE_MIN(next, tester.order.limit_clocks);
}

void slices_begin(const struct tester_port *port)
{
	if (tester.order.clean_clocks == 0 || slices_clock.port != NULL || port->nb_schedules == 0)
		return;
	for (unsigned i = 0; i < workers_count(); i++) {
		slices.away[i] = worker_at(i)->away_clocks;
		slices.stalls[i] = worker_at(i)->long_stalls;
	}
	for (unsigned i = 0; i < slices.places.nb_counters; i++)
		slices.watched[i].first = slices.watched[i].last = *slices.watched[i].packets;
	slices.last_tsc = port->trial.start_tsc;
	slices.last_sent = 0;
	slices.last_received = tester.received;
	slices_clock.due = next_end(0);
	slices_clock.port = port;
}

/* Away at this moment, which is counted only when it is back. */
static uint64_t away_now(const struct worker *worker, uint64_t now)
{
	uint64_t last = __atomic_load_n(&worker->last_tsc, __ATOMIC_RELAXED);

	if (__atomic_load_n(&worker->asleep_since, __ATOMIC_RELAXED) != 0 ||
		__atomic_load_n(&worker->waiting_since, __ATOMIC_RELAXED) != 0)
		return 0;
	return now > last + worker_away_limit() ? now - last : 0;
}

/* Whether the worker resumed so recently that its rings may still be full. */
static bool is_recovering(const struct worker *worker, uint64_t slice_start)
{
	uint64_t recovery = rte_get_tsc_hz() / 1000 * RECOVERY_MS;
	uint64_t until = __atomic_load_n(&worker->away_until, __ATOMIC_RELAXED);

	return until <= slice_start && until + recovery > slice_start &&
	       until - __atomic_load_n(&worker->away_since, __ATOMIC_RELAXED) > worker_away_limit();
}

/* Notes a worker's pauses in the slice that ends `now`. A stall too short to count as descheduled
 * does no harm unless packets are lost by it. */
static void look_at_worker(struct slice *slice, unsigned index, uint64_t now)
{
	const struct worker *worker = worker_at(index);
	uint64_t away = __atomic_load_n(&worker->away_clocks, __ATOMIC_RELAXED);
	uint64_t stalls = __atomic_load_n(&worker->long_stalls, __ATOMIC_RELAXED);
	uint64_t here = away - slices.away[index] + away_now(worker, now);

	if (here > slice->away_clocks) {
		slice->away_clocks = here;
		slice->worker = worker;
	}
	slice->disturbed |= here != 0 || is_recovering(worker, slices.last_tsc) ||
			    (slice->lost != 0 && stalls != slices.stalls[index]);
	slices.away[index] = away;
	slices.stalls[index] = stalls;
}

static void read_places(struct slice *slice)
{
	for (unsigned i = 0; i < slices.places.nb_counters; i++) {
		struct watched *watched = &slices.watched[i];
		uint64_t packets = __atomic_load_n(watched->packets, __ATOMIC_RELAXED);

		watched->grown = packets - watched->last;
		watched->last = packets;
		slice->lost += watched->grown;
	}
}

static void add_clean(const struct slice *slice, uint64_t clocks)
{
	slices.clean.slices++;
	slices.clean.clocks += clocks;
	slices.clean.sent += slice->sent;
	slices.clean.received += slice->received;
}

static void add_disturbed(void)
{
	for (unsigned i = 0; i < slices.places.nb_counters; i++)
		slices.watched[i].disturbed += slices.watched[i].grown;
}

static bool is_enough(uint64_t elapsed)
{
	return elapsed >= tester.order.limit_clocks || slices.count == slices.room ||
	       (elapsed >= tester.order.duration_clocks &&
		       slices.clean.clocks >= tester.order.clean_clocks);
}

bool slices_take(uint64_t elapsed)
{
	uint64_t now = rte_rdtsc(), sent = sent_frames();
	uint64_t began = slices.count == 0 ? 0 : slices.slices[slices.count - 1].end_clocks;
	struct slice *slice = &slices.slices[slices.count];

	*slice = (struct slice){
		.end_clocks = elapsed,
		.tsc_clocks = now - slices.last_tsc,
		.sent = sent - slices.last_sent,
		.received = tester.received - slices.last_received,
	};
	read_places(slice);
	for (unsigned i = 0; i < workers_count(); i++)
		if (worker_at(i)->graph != NULL)
			look_at_worker(slice, i, now);
	if (slice->disturbed)
		add_disturbed();
	else
		add_clean(slice, elapsed - began);
	slices.last_tsc = now;
	slices.last_sent = sent;
	slices.last_received = tester.received;
	__atomic_store_n(&slices.count, slices.count + 1, __ATOMIC_RELEASE);
	slices_clock.due = is_enough(elapsed) ? UINT64_MAX : next_end(elapsed);
	return slices_clock.due == UINT64_MAX;
}

unsigned slices_count(void)
{
	return __atomic_load_n(&slices.count, __ATOMIC_ACQUIRE);
}

const struct slice *slices_at(unsigned index)
{
	return &slices.slices[index];
}

struct slices_clean slices_clean(void)
{
	return slices.clean;
}

void slices_losses(struct ledger *disturbed, struct ledger *all)
{
	memset(disturbed, 0, sizeof(*disturbed));
	memset(all, 0, sizeof(*all));
	for (unsigned i = 0; slices_count() > 0 && i < slices.places.nb_counters; i++) {
		const struct watched *watched = &slices.watched[i];
		const char *place = slices.places.entries[watched->entry].place;

		ledger_add(disturbed, LEDGER_LOSS, watched->disturbed, "%s", place);
		ledger_add(all, LEDGER_LOSS, *watched->packets - watched->first, "%s", place);
	}
}
