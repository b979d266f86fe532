/* SPDX-License-Identifier: BSD-3-Clause */
/* State shared by the parts of forwarding mode `flowtable`: a flow table for each worker. */
#ifndef LINERATE_FLOWTABLE_H
#define LINERATE_FLOWTABLE_H

#include "core/worker.h"
#include "flow_table.h"

struct flowtable {
	struct flow_table *tables[WORKERS_MAX]; /* by the forwarder's worker */
	unsigned nb_tables;                     /* 0: the mode is another */
};
extern struct flowtable flowtable;

/* The tables' clock: milliseconds since the first call. */
uint32_t flowtable_clock_ms(void);
/* For tests. */
void flowtable_clock_advance(uint32_t milliseconds);

#endif
