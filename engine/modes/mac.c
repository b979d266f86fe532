/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mac: gives each frame new MAC addresses, the out port's as source and its peer's as
 * destination, and sends it out of the other port of the pair; testpmd's word and meaning.
 */
#include "forwarder.h"
#include "mac_rewrite.h"
#include "peers.h"

static struct node_type mac = {
	.name = "mac",
	.process = mac_rewrite_process,
	.nexts = {[MAC_REWRITE_DROP] = "drop"},
	.reasons = {[MAC_REWRITE_RUNT] = MAC_REWRITE_RUNT_TEXT},
	.template = true,
};
NODE_REGISTER(mac)

static int mac_entry(struct port *port, struct port *peer, char name[RTE_NODE_NAMESIZE])
{
	uint8_t addresses[2 * RTE_ETHER_ADDR_LEN];

	peers_addresses(peer, addresses);
	return mac_rewrite_clone("mac", port, peer, addresses, name);
}

static struct forwarding_mode mac_mode = {
	.name = "mac",
	.key = "mac",
	.paired = true,
	.parse = peers_parse_only,
	.entry = mac_entry,
};
FORWARDING_MODE_REGISTER(mac_mode)
