/* SPDX-License-Identifier: BSD-3-Clause */
/* The forwarding mode between the forwarder's port-rx and port-tx nodes. */
#ifndef LINERATE_FORWARDER_H
#define LINERATE_FORWARDER_H

#include "core/config.h"
#include "core/node.h"
#include "core/worker.h"
#include "handoff/handoff.h"
#include "port/port.h"

#include <rte_common.h>

struct forwarding_mode {
	const char *name;
	const char *key; /* of the forwarder object that the mode reads itself; may be NULL */
	bool paired;     /* ports forward to each other in pairs: 0-1, 2-3 … */
	bool sends;      /* of its own accord: its workers cannot sleep */
	/* Before EAL: reads its key; mistakes are counted in the file. May be NULL. */
	void (*parse)(const struct config_node *node);
	/* With ports configured and nodes registered, before any graph. May be NULL. */
	int (*create)(void);
	/* Writes the name of the node that the port's frames enter; `peer` is NULL unless
	 * `paired`. Returns 0 or -errno. NULL when the mode receives nothing. */
	int (*entry)(struct port *port, struct port *peer, char name[RTE_NODE_NAMESIZE]);
	/* Instead of entry(): a node for each rx queue, in a mode that asks which it was. Such a
	 * mode has one worker, and nothing between the queue and the node. */
	int (*queue_entry)(struct port *port, unsigned queue, char name[RTE_NODE_NAMESIZE]);
	/* Chooses the worker for a packet, called after parse(); returns NULL, as when the mode has
	 * no such function, where any worker will do that keeps flows in order. */
	handoff_hash_t (*steer)(void);
	/* Called by the control thread at least every 20 ms while forwarding. May be NULL. */
	void (*tick)(void);
	/* With workers stopped and ports not yet. May be NULL. */
	void (*stop)(void);

	struct forwarding_mode *link;
};

extern struct forwarding_mode *forwarding_modes;
#define FORWARDING_MODE_REGISTER(mode) REGISTER(forwarding_modes, mode)

/* Reads the "forwarder" object. */
void forwarder_parse(const struct config_node *node);
bool forwarder_present(void);
const char *forwarder_mode(void);
unsigned forwarder_workers(void);
enum rx_mode forwarder_rx_mode(void);
/* Buffers that may lie between workers. */
unsigned forwarder_handoff_buffers(void);
unsigned forwarder_ports(void);
struct port *forwarder_port(unsigned index);
bool forwarder_has_port(const struct port *port);
/* Clones port nodes, joins them by the mode, gives them to the workers. */
int forwarder_create(void);
/* With ports started: lets rx queues wake the workers that poll them. Returns 0 or -errno after
 * saying why. */
int forwarder_join_wakers(void);
void forwarder_tick(void);
void forwarder_stop(void);

#endif
