/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * macswap: exchanges source and destination MAC address and sends the frame out of the
 * other port of the pair; testpmd's word and meaning. One clone a port.
 */
#include "core/node.h"
#include "forwarder.h"

#include <rte_ether.h>
#include <rte_vect.h>
#include <stdio.h>
#include <string.h>

enum next {
	NEXT_DROP,
};

enum reason {
	RUNT,
};

static inline void swap_addresses(uint8_t *frame)
{
	uint64_t first, second;

	/* dst is bytes 0-5, src 6-11: two 8-byte loads hold both, and two stores put them back. */
	memcpy(&first, frame, 8);
	memcpy(&second, frame + 4, 8);
	memcpy(frame + 6, &first, 6);
	second >>= 16;
	memcpy(frame, &second, 6);
}

static uint16_t macswap_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	bool runts = false;

	for (uint16_t i = 0; i < count; i++) {
		const struct rte_mbuf *mbuf = objs[i];

		if (likely(mbuf->data_len >= RTE_ETHER_HDR_LEN))
			swap_addresses(rte_pktmbuf_mtod(mbuf, uint8_t *));
		else
			runts = true;
	}
	if (likely(!runts)) {
		rte_node_next_stream_move(graph, node, 1);
		return count;
	}
	for (uint16_t i = 0; i < count; i++) {
		struct rte_mbuf *mbuf = objs[i];

		if (mbuf->data_len >= RTE_ETHER_HDR_LEN)
			rte_node_enqueue_x1(graph, node, 1, mbuf);
		else
			node_drop(graph, node, mbuf, RUNT);
	}
	return count;
}

static struct node_type macswap = {
	.name = "macswap",
	.process = macswap_process,
	.nexts = {[NEXT_DROP] = "drop"},
	.reasons = {[RUNT] = "shorter than an Ethernet header"},
	.template = true,
};
NODE_REGISTER(macswap)

static int macswap_entry(struct port *port, struct port *peer, char name[RTE_NODE_NAMESIZE])
{
	char tx[RTE_NODE_NAMESIZE];

	snprintf(tx, sizeof(tx), "port-tx-%s", peer->name);
	return node_clone_to("macswap", port->name, NULL, tx, name);
}

static struct forwarding_mode macswap_mode = {
	.name = "macswap",
	.paired = true,
	.entry = macswap_entry,
};
FORWARDING_MODE_REGISTER(macswap_mode)
