/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * l2fwd: what DPDK's example of that name does. Adjacent ports forward to each other; the
 * source address becomes the out port's and the destination 02:00:00:00:00:N for out port N,
 * unless "mac_updating" is false: then frames pass unseen and there is no node for it.
 */
#include "forwarder.h"
#include "mac_rewrite.h"
#include "peers.h"

#include <stdio.h>

static bool mac_updating = true;

static struct node_type l2fwd = {
	.name = "l2fwd",
	.process = mac_rewrite_process,
	.nexts = {[MAC_REWRITE_DROP] = "drop"},
	.reasons = {[MAC_REWRITE_RUNT] = MAC_REWRITE_RUNT_TEXT},
	.template = true,
};
NODE_REGISTER(l2fwd)

static void l2fwd_parse(const struct config_node *node)
{
	if (!config_object(node, "mac_updating"))
		return;
	mac_updating = config_bool(node, "mac_updating", true);
}

static int l2fwd_entry(struct port *port, struct port *peer, char name[RTE_NODE_NAMESIZE])
{
	uint8_t addresses[2 * RTE_ETHER_ADDR_LEN];

	if (!mac_updating) {
		snprintf(name, RTE_NODE_NAMESIZE, "port-tx-%s", peer->name);
		return 0;
	}
	peers_default_addresses(peer, addresses);
	return mac_rewrite_clone("l2fwd", port, peer, addresses, name);
}

static struct forwarding_mode l2fwd_mode = {
	.name = "l2fwd",
	.key = "l2fwd",
	.paired = true,
	.parse = l2fwd_parse,
	.entry = l2fwd_entry,
};
FORWARDING_MODE_REGISTER(l2fwd_mode)
