/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A forwarder that loses frames at random, on purpose: before a frame enters the forwarding mode,
 * node `lose-PORT` drops it with a given probability. So a device whose loss does not come of its
 * load can be had, and of a known loss ratio.
 */
#ifndef LINERATE_LOSE_H
#define LINERATE_LOSE_H

#include "core/config.h"
#include "core/node.h"
#include "port/port.h"

/* Reads the forwarder's "lose" object. */
void lose_parse(const struct config_node *node);
bool lose_present(void);
/* Makes "lose-PORT", which sends on to the node `entry`, and writes its name to `entry`. Returns 0
 * or -errno. */
int lose_add_port(const struct port *port, char entry[RTE_NODE_NAMESIZE]);

#endif
