/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding mode `router`: IPv4 and MPLS, see docs/engine-configuration.md for its configuration.
 */
#include "core/worker.h"
#include "modes/forwarder.h"
#include "neighbor.h"
#include "router.h"

#include <stdio.h>

static int mode_create(void)
{
	int rc = router_create();

	for (unsigned i = 0; i < workers_forwarders() && rc == 0; i++)
		worker_add_node(worker_of_forwarder(i), "neighbor-timer");
	return rc;
}

static int mode_entry(__rte_unused struct port *port, __rte_unused struct port *peer,
	char name[RTE_NODE_NAMESIZE])
{
	snprintf(name, RTE_NODE_NAMESIZE, "ethernet-input");
	return 0;
}

static struct forwarding_mode router_mode = {
	.name = "router",
	.key = "router",
	.parse = router_parse,
	.create = mode_create,
	.entry = mode_entry,
	.tick = neighbors_tick,
};
FORWARDING_MODE_REGISTER(router_mode)
