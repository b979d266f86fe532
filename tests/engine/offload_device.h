/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that take rules as requested, or do not, and a flow table for their packets. */
#ifndef LINERATE_OFFLOAD_DEVICE_H
#define LINERATE_OFFLOAD_DEVICE_H

#include "flow/offload_port.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOWS 64
#define PORTS 2
#define RULES_MAX 256

/* A port that looks flows up, as well as it is allowed to. */
struct device {
	unsigned capacity;
	int refuse; /* errno of each rule; 0: they are made */
	enum rte_flow_error_type type;
	int keep; /* errno of each destruction; 0: they are done */
	bool silent;
	struct device_rule {
		bool stands;
		uint8_t tuple[13];
		uint32_t mark;
		uint16_t queue;
	} rules[RULES_MAX];
	unsigned standing, created;
};

extern struct device devices[PORTS];
extern struct port_driver driver;
extern struct offload_port offloads[PORTS];
extern struct flow_table *table;
extern uint64_t sent, sent_marked;

/* Resets all ports, with room for `places` rules each. */
void devices_start(unsigned places);
void devices_stop(void);
/* Direction 0 comes in by port 0, 1 by port 1; odd flows are TCP. */
void devices_packet(unsigned flow, unsigned direction, uint8_t tcp_flags);
/* `rate` packets a millisecond of each of the first `flows`, in both directions. */
void devices_run(unsigned ms, unsigned flows, unsigned rate);
/* The device forgets all rules. */
void device_reset(struct device *device);
unsigned held_records(void);
/* Checks that failed in here. */
unsigned devices_failures(void);

#endif
