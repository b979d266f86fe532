/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A resource that serves one unit after the other at a fixed rate: a link's bytes, a PCIe link's
 * bytes, a card's packets. Time is in TSC cycles, kept as double: after ten days of uptime it still
 * resolves half a cycle.
 */
#ifndef LINERATE_PACER_H
#define LINERATE_PACER_H

#include <stdbool.h>
#include <stdint.h>

struct pacer {
	double free_at;         /* when the resource has served all it was given */
	double clocks_per_unit; /* 0: no limit */
	double backlog;         /* cycles of work that may wait for it */
};

static inline void pacer_set(
	struct pacer *pacer, double units_per_second, double tsc_hz, double backlog_clocks)
{
	pacer->free_at = 0;
	pacer->clocks_per_unit = units_per_second > 0 ? tsc_hz / units_per_second : 0;
	pacer->backlog = backlog_clocks;
}

/* Nothing used the resource until `since`: time before that is gone. */
static inline void pacer_idle_until(struct pacer *pacer, double since)
{
	if (pacer->free_at < since)
		pacer->free_at = since;
}

static inline bool pacer_has_room(const struct pacer *pacer, double now)
{
	return pacer->free_at <= now + pacer->backlog;
}

static inline void pacer_take(struct pacer *pacer, double units)
{
	pacer->free_at += units * pacer->clocks_per_unit;
}

#endif
