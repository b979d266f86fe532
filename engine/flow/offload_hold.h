/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records that are held for rules: from the first place that one of the flow's directions gets,
 * on any port, until the last is free again. The rule thread's own; workers hear by orders.
 */
#ifndef LINERATE_OFFLOAD_HOLD_H
#define LINERATE_OFFLOAD_HOLD_H

#include "flow_table.h"

#include <stdbool.h>
#include <stdint.h>

enum offload_hold_state {
	OFFLOAD_ASKED, /* the worker has not answered */
	OFFLOAD_HELD,
	OFFLOAD_ENDED, /* the flow is closing or has ended: no more rules for it */
};

struct offload_hold {
	uint32_t mark;  /* of either direction */
	uint8_t state;  /* enum offload_hold_state */
	uint8_t places; /* that it is held for */
	uint8_t rules;  /* FLOW_RULE bits that stand */
};

/* Creates holds for the tables of all workers, up to this number at a time. Returns 0 or
 * -ENOMEM. */
int offload_holds_create(
	struct flow_table *const *tables, unsigned nb_tables, uint32_t records, unsigned holds);
/* From now on orders that find their ring full are dropped: the workers stop. */
void offload_holds_stop(void);
void offload_holds_destroy(void);

/* The worker's table that has the record. */
struct flow_table *offload_table(uint32_t mark);
unsigned offload_worker(uint32_t mark);

/* NULL when the flow is not held. */
struct offload_hold *offload_hold_find(uint32_t mark);
/* One place more; asks the worker for the first. */
struct offload_hold *offload_hold_take(uint32_t mark);
/* One place less; releases the record with the last. */
void offload_hold_drop(struct offload_hold *hold);
/* The flow ended before it could be held: nothing is to be released. */
void offload_hold_refused(struct offload_hold *hold);
/* The rule of the mark's direction stands, or does not any more. */
void offload_hold_rule(struct offload_hold *hold, uint32_t mark, bool stands);

#endif
