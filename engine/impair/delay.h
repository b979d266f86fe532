/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A forwarder that is late on purpose: before a frame enters the forwarding mode, node
 * `delay-PORT` holds it for a time that is the same for all, and node `delayed-PORT` lets it go on.
 * So a device of a known latency can be had.
 */
#ifndef LINERATE_DELAY_H
#define LINERATE_DELAY_H

#include "core/config.h"
#include "core/node.h"
#include "port/port.h"

#include <stdbool.h>

struct worker;

/* Reads the forwarder's "delay" object. */
void delay_parse(const struct config_node *node);
bool delay_present(void);
/* Buffers that a port needs more for each worker that takes frames from it. */
unsigned delay_buffers(void);
/* Makes "delay-PORT", and "delayed-PORT", which sends on to the node `entry`; writes the first's
 * name to `entry`. Returns 0 or -errno. */
int delay_add_port(struct port *port, char entry[RTE_NODE_NAMESIZE]);
/* Lets the worker look after what waits from that port. */
void delay_add_worker(const struct port *port, struct worker *worker);
/* Frames that wait on all workers, at the moment. */
uint64_t delay_held(void);

#endif
