/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One port's rules: makes and destroys them, sees whether they work, and switches offload off on
 * the port when they do not. The rule thread's own but for the counters, which others read.
 */
#ifndef LINERATE_OFFLOAD_PORT_H
#define LINERATE_OFFLOAD_PORT_H

#include "port/port.h"
#include "offload_policy.h"
#include "offload_queue.h"

#include <rte_flow.h>
#include <stdbool.h>
#include <stdint.h>

/* After this number of successive rules that the port refused, or that had no effect, it is not
 * used any more. */
#define OFFLOAD_FAILURES_MAX 8
/* DPDK 22.11 has 17 types of error; later ones count as the last. */
#define OFFLOAD_ERROR_TYPES 20
#define OFFLOAD_ERROR_BYTES 120 /* fits an answer on the telemetry socket */

/* Programming times of the port, in nanoseconds. */
struct offload_times {
	uint64_t count, sum, min, max;
};

struct offload_counters {
	uint64_t promoted;                     /* rules made */
	uint64_t demoted;                      /* rules that made room for others */
	uint64_t ended;                        /* rules destroyed with their flows */
	uint64_t refused[OFFLOAD_ERROR_TYPES]; /* by enum rte_flow_error_type */
	uint64_t full;                         /* refused, the table is full: no failure */
	uint64_t silent;                       /* rules that never had an effect */
	uint64_t lost;                         /* rules that had one, and then none: a reset */
	uint64_t not_destroyed;                /* the port would not; it is asked again */
	uint64_t unsuited;                     /* flows for which there is no rule */
	uint64_t switched_off;
	struct offload_times create, destroy;
	char last_error[OFFLOAD_ERROR_BYTES];
};

struct offload_port {
	struct port *port;
	struct offload_policy *policy;
	uint32_t records;
	unsigned nb_places, limit;
	struct rte_flow **rules; /* by place */
	uint32_t *bar_ms;        /* by place: how long its flow is not promoted again */
	struct offload_queue create, destroy, again;
	unsigned nb_asked; /* places whose records' workers have not answered */
	unsigned standing;
	double threshold; /* samples in a half-life that a flow needs for a place */
	bool on;
	bool wanted; /* atomic: as others ask for it */
	unsigned failures, full_in_row;
	uint64_t marked_seen;
	uint32_t now_ms, limit_ms, logged_ms;
	bool logged_lost, lost_seen;
	uint32_t lost_ms;                 /* when a rule was last found to have lost its effect */
	char reason[OFFLOAD_ERROR_BYTES]; /* why it was switched off */
	struct offload_counters counters;
};

/* Returns 0 or -ENOMEM. */
int offload_port_create(struct offload_port *offload, struct port *port, uint32_t records,
	unsigned places, uint32_t now_ms);
void offload_port_destroy(struct offload_port *offload);
/* Handles a worker's notice of a flow that is held, or was to be, for any of the ports. */
void offload_ports_notice(
	struct offload_port *ports, unsigned count, const struct flow_notice *notice);
void offload_port_clock(struct offload_port *offload, uint32_t now_ms);
/* Does the next thing that takes the port time. Returns false when there was none. */
bool offload_port_work(struct offload_port *offload);
/* The workers have stopped: takes all rules away. */
void offload_port_stop(struct offload_port *offload);

#endif
