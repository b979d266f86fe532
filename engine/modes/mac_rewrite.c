/* SPDX-License-Identifier: BSD-3-Clause */
#include "mac_rewrite.h"

#include "core/memory.h"
#include "port/port.h"

#include <errno.h>
#include <rte_malloc.h>
#include <stdio.h>

void mac_rewrite_send(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count, bool runts)
{
	if (likely(!runts)) {
		rte_node_next_stream_move(graph, node, MAC_REWRITE_TX);
		return;
	}
	for (uint16_t i = 0; i < count; i++) {
		struct rte_mbuf *mbuf = objs[i];

		if (mbuf->data_len >= RTE_ETHER_HDR_LEN)
			rte_node_enqueue_x1(graph, node, MAC_REWRITE_TX, mbuf);
		else
			node_drop(graph, node, mbuf, MAC_REWRITE_RUNT);
	}
}

uint16_t mac_rewrite_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	const struct mac_rewrite *rewrite = node_object(node);
	struct rte_mbuf **mbufs = (struct rte_mbuf **)objs;
	uint64_t first = rewrite->first;
	uint32_t last = rewrite->last;
	bool runts = false;

	for (uint16_t i = 0; i < count; i++) {
		mac_rewrite_prefetch(mbufs, i, count);
		if (likely(mbufs[i]->data_len >= RTE_ETHER_HDR_LEN))
			mac_rewrite(rte_pktmbuf_mtod(mbufs[i], uint8_t *), first, last);
		else
			runts = true;
	}
	mac_rewrite_send(graph, node, objs, count, runts);
	return count;
}

int mac_rewrite_clone(const char *template_name, const struct port *port, const struct port *peer,
	const uint8_t *addresses, char name[RTE_NODE_NAMESIZE])
{
	struct mac_rewrite *rewrite = rte_zmalloc_socket(
		"mac_rewrite", sizeof(*rewrite), RTE_CACHE_LINE_SIZE, memory_socket());
	char tx[RTE_NODE_NAMESIZE];

	if (rewrite == NULL)
		return -ENOMEM;
	memcpy(&rewrite->first, addresses, sizeof(rewrite->first));
	memcpy(&rewrite->last, addresses + sizeof(rewrite->first), sizeof(rewrite->last));
	snprintf(tx, sizeof(tx), "port-tx-%s", peer->name);
	return node_clone_to(template_name, port->name, rewrite, tx, name);
}
