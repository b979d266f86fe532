/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode io, testpmd's word: frames go out of the other port of the pair unseen. There is no
 * node for it: port-rx is joined to port-tx, and the graph shows just that.
 */
#include "forwarder.h"

#include <stdio.h>

static int io_entry(__rte_unused struct port *port, struct port *peer, char name[RTE_NODE_NAMESIZE])
{
	snprintf(name, RTE_NODE_NAMESIZE, "port-tx-%s", peer->name);
	return 0;
}

static struct forwarding_mode io_mode = {
	.name = "io",
	.paired = true,
	.entry = io_entry,
};
FORWARDING_MODE_REGISTER(io_mode)
