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
/* A tester that sends more than this share of what is due, and a burst, sends what it is late with.
 */
#define CATCHING_UP_SHARE 1.01

/* One counter of a place of loss. */
struct watched {
	const uint64_t *packets;
	unsigned entry;       /* of `places` */
	uint64_t first, last; /* when the trial began, and at the last tick's end */
	uint64_t now;         /* at the end of the tick that is being read */
	uint64_t grown;       /* in the last tick */
	uint64_t disturbed;   /* in disturbed ticks */
};

/* The next one can still show that this one was disturbed. */
struct tick {
	struct slice counts;
	uint64_t cell; /* ticks of one cell may be one slice */
	bool unsteady; /* a worker was stalled, or the tester sent faster than it was asked to */
};

struct slices_clock slices_clock = {.due = UINT64_MAX};

static struct {
	unsigned count, room;
	struct slice *slices;
	bool is_open; /* slices[count] takes more ticks */
	uint64_t open_cell;
	struct tick last;
	bool has_last;
	struct ledger places;
	struct watched *watched;
	struct slices_clean clean;
	uint64_t length;       /* cycles of a tick */
	double due_per_clock;  /* frames, of all ports; infinite when unpaced */
	uint64_t last_elapsed; /* up to where sums are */
	uint64_t last_tsc, last_sent, last_received;     /* of the last tick */
	uint64_t away[WORKERS_MAX], stalls[WORKERS_MAX]; /* at the last tick's end */
} slices;

static uint64_t tick_length(void)
{
	uint64_t length = rte_get_tsc_hz() / 1000 * TICK_MS;

	return RTE_MAX(length, tester.order.limit_clocks / TICKS_MAX);
}

/* As if each tick were a slice. The trial's own end may fall within a tick. */
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
	slices_clock.sender = NULL;
	slices_clock.due = UINT64_MAX;
	slices.count = 0;
	slices.is_open = slices.has_last = false;
	slices.last = (struct tick){0};
	slices.clean = (struct slices_clean){0};
	if (tester.order.clean_clocks == 0)
		return 0;
	slices.length = tick_length();
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

	for (unsigned i = 0; i < tester.nb_senders; i++)
		for (unsigned s = 0; s < tester.senders[i]->nb_schedules; s++)
			sent += tester.senders[i]->schedules[s].sent;
	return sent;
}

/* A trial ends when its own time is over, too, and not at the next tick's end alone. */
static uint64_t next_end(uint64_t elapsed)
{
	uint64_t next = (elapsed / slices.length + 1) * slices.length;

	return elapsed < tester.order.duration_clocks ? RTE_MIN(next, tester.order.duration_clocks)
						      : RTE_MIN(next, tester.order.limit_clocks);
}

/* As the trial was ordered: the other senders may not have begun it yet. */
static double due_frames_per_clock(void)
{
	double pps = 0;

	for (unsigned i = 0; i < tester.nb_senders; i++)
		for (unsigned s = 0; s < tester.senders[i]->nb_schedules; s++)
			pps += tester.senders[i]->schedules[s].full_pps * tester.order.scale;
	return pps / (double)rte_get_tsc_hz();
}

/* The first that has streams: all agree on it, whichever of their workers begins first. */
static bool takes_slices(const struct tester_sender *sender)
{
	for (unsigned i = 0; i < tester.nb_senders; i++)
		if (tester.senders[i]->nb_schedules > 0)
			return sender == tester.senders[i];
	return false;
}

void slices_begin(const struct tester_sender *sender)
{
	if (tester.order.clean_clocks == 0 || !takes_slices(sender))
		return;
	for (unsigned i = 0; i < workers_count(); i++) {
		slices.away[i] = worker_at(i)->away_clocks;
		slices.stalls[i] = worker_at(i)->long_stalls;
	}
	for (unsigned i = 0; i < slices.places.nb_counters; i++)
		slices.watched[i].first = slices.watched[i].last = *slices.watched[i].packets;
	slices.last_tsc = sender->trial.start_tsc;
	slices.last_elapsed = slices.last_sent = 0;
	slices.last_received = tester_received_frames();
	slices.due_per_clock = due_frames_per_clock();
	slices_clock.due = next_end(0);
	slices_clock.sender = sender;
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
static bool is_recovering(const struct worker *worker, uint64_t tick_start)
{
	uint64_t recovery = rte_get_tsc_hz() / 1000 * RECOVERY_MS;
	uint64_t until = __atomic_load_n(&worker->away_until, __ATOMIC_RELAXED);

	return until <= tick_start && until + recovery > tick_start &&
	       until - __atomic_load_n(&worker->away_since, __ATOMIC_RELAXED) > worker_away_limit();
}

/* Whether the worker that was away for `returned` cycles of a tick, and is for `still` now, was so
 * before the tick began. Of several times only the last is known: the first may be that one. */
static bool was_away_before(
	const struct worker *worker, uint64_t returned, uint64_t still, uint64_t now)
{
	uint64_t since = __atomic_load_n(&worker->away_since, __ATOMIC_RELAXED);
	uint64_t until = __atomic_load_n(&worker->away_until, __ATOMIC_RELAXED);

	if (still > now - slices.last_tsc)
		return true;
	return returned != 0 && (since < slices.last_tsc || returned > until - since);
}

/* Notes a worker's pauses in the tick that ends `now`, and in the one before. */
static void look_at_worker(struct tick *tick, unsigned index, uint64_t now)
{
	const struct worker *worker = worker_at(index);
	uint64_t away = __atomic_load_n(&worker->away_clocks, __ATOMIC_RELAXED);
	uint64_t stalls = __atomic_load_n(&worker->long_stalls, __ATOMIC_RELAXED);
	uint64_t returned = away - slices.away[index], still = away_now(worker, now);
	uint64_t here = returned + still;

	if (here > tick->counts.away_clocks) {
		tick->counts.away_clocks = here;
		tick->counts.worker = worker;
	}
	tick->counts.disturbed |= here != 0 || is_recovering(worker, slices.last_tsc);
	tick->unsteady |= stalls != slices.stalls[index];
	if (was_away_before(worker, returned, still, now))
		slices.last.counts.disturbed = true;
	slices.away[index] = away;
	slices.stalls[index] = stalls;
}

/* Packets that a late tester sends faster than it was asked to are another load than the trial's.
 */
static bool is_catching_up(const struct tick *tick)
{
	double due = slices.due_per_clock *
		     (double)(tick->counts.end_clocks - slices.last.counts.end_clocks);

	return (double)tick->counts.sent > CATCHING_UP_SHARE * due + STREAM_BURST_MAX;
}

/* A stall too short to count as away does no harm unless packets are lost by it, and those may be
 * lost shortly before it is counted, and while rings are emptied after it. So it is with packets
 * sent too fast. */
static void look_at_losses(struct tick *tick)
{
	bool unsteady;

	tick->unsteady |= is_catching_up(tick);
	unsteady = tick->unsteady || slices.last.unsteady;
	tick->counts.disturbed |= unsteady && tick->counts.lost != 0;
	slices.last.counts.disturbed |= tick->unsteady && slices.last.counts.lost != 0;
}

static void close_slice(void)
{
	if (!slices.is_open)
		return;
	slices.is_open = false;
	slices.clean.slices += !slices.slices[slices.count].disturbed;
	__atomic_store_n(&slices.count, slices.count + 1, __ATOMIC_RELEASE);
}

static void extend_slice(struct slice *slice, const struct slice *by)
{
	slice->end_clocks = by->end_clocks;
	slice->tsc_clocks += by->tsc_clocks;
	slice->sent += by->sent;
	slice->received += by->received;
	slice->lost += by->lost;
	if (slice->worker == by->worker)
		slice->away_clocks += by->away_clocks;
	else if (by->away_clocks > slice->away_clocks) {
		slice->away_clocks = by->away_clocks;
		slice->worker = by->worker;
	}
}

static void add_to_sums(const struct slice *tick, uint64_t clocks)
{
	if (tick->disturbed) {
		for (unsigned i = 0; i < slices.places.nb_counters; i++)
			slices.watched[i].disturbed += slices.watched[i].grown;
		return;
	}
	slices.clean.clocks += clocks;
	slices.clean.sent += tick->sent;
	slices.clean.received += tick->received;
}

/* Both of its neighbours are known: adds it to the slice that is open, or opens one. */
static void add_last_tick(void)
{
	const struct slice *tick = &slices.last.counts;
	struct slice *open = &slices.slices[slices.count];

	if (!slices.has_last)
		return;
	if (slices.is_open &&
		(open->disturbed != tick->disturbed || slices.open_cell != slices.last.cell))
		close_slice();
	add_to_sums(tick, tick->end_clocks - slices.last_elapsed);
	slices.last_elapsed = tick->end_clocks;
	if (slices.is_open) {
		extend_slice(open, tick);
		return;
	}
	slices.slices[slices.count] = *tick;
	slices.open_cell = slices.last.cell;
	slices.is_open = true;
}

/* Counts what was lost in the tick. */
static void read_places(struct tick *tick)
{
	for (unsigned i = 0; i < slices.places.nb_counters; i++) {
		struct watched *watched = &slices.watched[i];
		uint64_t packets = __atomic_load_n(watched->packets, __ATOMIC_RELAXED);

		watched->now = packets;
		tick->counts.lost += packets - watched->last;
	}
}

static void note_grown(void)
{
	for (unsigned i = 0; i < slices.places.nb_counters; i++) {
		struct watched *watched = &slices.watched[i];

		watched->grown = watched->now - watched->last;
		watched->last = watched->now;
	}
}

static bool is_enough(uint64_t elapsed)
{
	uint64_t clean = slices.clean.clocks;

	if (!slices.last.counts.disturbed)
		clean += elapsed - slices.last_elapsed;
	return elapsed >= tester.order.limit_clocks || slices.count + 2 >= slices.room ||
	       (elapsed >= tester.order.duration_clocks && clean >= tester.order.clean_clocks);
}

static struct tick read_tick(uint64_t elapsed)
{
	uint64_t now = rte_rdtsc(), sent = sent_frames(), received = tester_received_frames();
	struct tick tick = {
		.counts =
			{
				.end_clocks = elapsed,
				.tsc_clocks = now - slices.last_tsc,
				.sent = sent - slices.last_sent,
				.received = received - slices.last_received,
			},
		.cell = (slices_clock.due - 1) / (SLICE_TICKS * slices.length),
	};

	read_places(&tick);
	for (unsigned i = 0; i < workers_count(); i++)
		if (worker_at(i)->graph != NULL)
			look_at_worker(&tick, i, now);
	look_at_losses(&tick);
	slices.last_tsc = now;
	slices.last_sent = sent;
	slices.last_received = received;
	return tick;
}

bool slices_take(uint64_t elapsed)
{
	struct tick tick = read_tick(elapsed);
	bool enough;

	add_last_tick();
	note_grown();
	slices.last = tick;
	slices.has_last = true;
	enough = is_enough(elapsed);
	slices_clock.due = enough ? UINT64_MAX : next_end(elapsed);
	if (enough) {
		add_last_tick();
		close_slice();
	}
	return enough;
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
