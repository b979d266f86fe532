/* SPDX-License-Identifier: BSD-3-Clause */
#include "drain.h"

#include "core/ledger.h"
#include "core/worker.h"
#include "impair/delay.h"
#include "port/port.h"
#include "link_watch.h"

#include <rte_cycles.h>

/* Nothing may move for this long, when the ledger balances and when it does not … */
#define QUIET_MS 5
#define QUIET_UNBALANCED_MS 200
/* … and after this long no more is waited for. */
#define GIVE_UP_MS 3000
/* A worker that is within a walk ends it, and walks once more. */
#define WALKS 2

enum stage {
	STAGE_FORWARDERS, /* are to walk */
	STAGE_TESTER,     /* is to walk after them */
	STAGE_WALKED,
};

static struct {
	uint64_t moved; /* sum of all counters */
	enum stage stage;
	uint64_t loops[WORKERS_MAX]; /* of each worker, when the stage began */
	uint64_t quiet_since, since; /* TSC */
} drain;

static bool works_in(const struct worker *worker, enum stage stage)
{
	unsigned role = stage == STAGE_FORWARDERS ? WORKER_FORWARDER : WORKER_TESTER;

	return (worker->role & role) != 0;
}

static void begin_stage(enum stage stage)
{
	drain.stage = stage;
	for (unsigned i = 0; i < workers_count(); i++)
		drain.loops[i] = __atomic_load_n(&worker_at(i)->loops, __ATOMIC_RELAXED);
}

/* One that sleeps is woken by what comes. */
static bool have_walked(enum stage stage)
{
	for (unsigned i = 0; i < workers_count(); i++) {
		const struct worker *worker = worker_at(i);

		if (works_in(worker, stage) &&
			__atomic_load_n(&worker->asleep_since, __ATOMIC_RELAXED) == 0 &&
			__atomic_load_n(&worker->loops, __ATOMIC_RELAXED) < drain.loops[i] + WALKS)
			return false;
	}
	return true;
}

static uint64_t ports_moved(void)
{
	uint64_t moved = 0;

	for (unsigned i = 0; i < ports_count(); i++) {
		struct port_stats stats = {0};

		port_at(i)->driver->stats(port_at(i), &stats);
		moved += stats.rx_packets + stats.rx_missed + stats.tx_packets;
	}
	return moved;
}

/* Whether all that left the ledger's left side has arrived on its right side. */
static bool balanced(uint64_t *moved)
{
	struct ledger ledger;
	uint64_t in, out = 0;

	ledger_read(&ledger);
	in = ledger_sum(&ledger, LEDGER_SENT) + ledger_sum(&ledger, LEDGER_ORIGINATED);
	for (unsigned kind = LEDGER_RECEIVED; kind < LEDGER_KINDS; kind++)
		out += ledger_sum(&ledger, (enum ledger_kind)kind);
	*moved = in + out + ports_moved();
	ledger_free(&ledger);
	/* Delayed packets are in the ledger, but still in flight. */
	return in == out && delay_held() == 0;
}

void drain_start(uint64_t now)
{
	drain.since = drain.quiet_since = now;
	begin_stage(STAGE_FORWARDERS);
}

enum drain_state drain_follow(uint64_t now)
{
	uint64_t ms = rte_get_tsc_hz() / 1000, moved;
	/* Packets sent to a link that is down are never received: they are not waited for. */
	bool even = balanced(&moved), waits = !even && link_watch_count() == 0;

	if (moved != drain.moved) {
		drain.moved = moved;
		drain.quiet_since = now;
		begin_stage(STAGE_FORWARDERS);
	}
	while (drain.stage != STAGE_WALKED && have_walked(drain.stage))
		begin_stage(drain.stage + 1);
	if (now - drain.quiet_since >= (waits ? QUIET_UNBALANCED_MS : QUIET_MS) * ms &&
		(even || drain.stage == STAGE_WALKED))
		return DRAIN_DRAINED;
	return now - drain.since >= GIVE_UP_MS * ms ? DRAIN_GIVEN_UP : DRAIN_MOVING;
}
