/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow offload: selects the flows that ports look up, and programs their rules. Programming a rule
 * takes from 20 us to over 10 ms, so no worker does it: each has three rings of one writer and one
 * reader with the offload thread (struct flow_rings).
 *
 *   worker ── samples ─► policy: who deserves a rule ──► HOLD ──► worker
 *   worker ── HELD ────► rte_flow rule on the port where that direction comes in ── RULES ─► worker
 *   worker ── CLOSING, ENDED ─► the rules are destroyed ── RELEASE ─► worker
 *
 * At most as many notices and orders are in flight as there are rules: the rings hold more, and a
 * writer that finds one full tries again. Samples that find theirs full are lost, and counted.
 */
#ifndef LINERATE_OFFLOAD_H
#define LINERATE_OFFLOAD_H

#include "core/config.h"
#include "flow_table.h"

#include <stdbool.h>

/* Reads the "offload" object; without it, nothing is offloaded. */
void offload_parse(const struct config_node *node);
bool offload_wanted(void);
/*
 * With tables made and before workers walk: table I is that of the forwarder's worker I. Gives
 * each table its rings and starts the thread. Returns 0 or -errno after saying why. Without
 * "offload" it does nothing.
 */
int offload_create(struct flow_table *const *tables, unsigned count);
/* With workers stopped and ports not yet: destroys all rules and ends the thread. */
void offload_stop(void);

struct offload_port;
/* Counters of the ports for display: read while they change. */
unsigned offload_ports(void);
struct offload_port *offload_port_at(unsigned index);

#endif
