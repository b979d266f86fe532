/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared part of the modes that give each frame the same new MAC addresses: a clone a port, whose
 * object is the addresses, and whose next nodes are "drop" and the peer's port-tx.
 */
#ifndef LINERATE_MAC_REWRITE_H
#define LINERATE_MAC_REWRITE_H

#include "core/vector.h"

#include <rte_ether.h>
#include <string.h>

struct port;

enum mac_rewrite_next {
	MAC_REWRITE_DROP,
	MAC_REWRITE_TX,
};

/* Drop reason of each such node. */
#define MAC_REWRITE_RUNT 0
#define MAC_REWRITE_RUNT_TEXT "shorter than an Ethernet header"

/* Destination and source as they lie in a frame. */
struct mac_rewrite {
	uint64_t first;
	uint32_t last;
};

static __rte_always_inline void mac_rewrite(uint8_t *frame, uint64_t first, uint32_t last)
{
	memcpy(frame, &first, sizeof(first));
	memcpy(frame + sizeof(first), &last, sizeof(last));
}

static __rte_always_inline void mac_rewrite_prefetch(
	struct rte_mbuf **mbufs, uint16_t i, uint16_t count)
{
	if (likely(i + 2 * VECTOR_AHEAD < count))
		rte_prefetch0(mbufs[i + 2 * VECTOR_AHEAD]);
	if (likely(i + VECTOR_AHEAD < count))
		vector_prefetch_data(mbufs[i + VECTOR_AHEAD]);
}

/* Sends the vector on; frames without a whole Ethernet header were left as they are. */
void mac_rewrite_send(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count, bool runts);

/* The process function of a node that does no more than that. */
uint16_t mac_rewrite_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count);

/*
 * Makes the clone "template-PORT" of the node that sends by `peer` with the 12 bytes of
 * addresses, and writes its name. Returns 0 or -errno.
 */
int mac_rewrite_clone(const char *template_name, const struct port *port, const struct port *peer,
	const uint8_t *addresses, char name[RTE_NODE_NAMESIZE]);

#endif
