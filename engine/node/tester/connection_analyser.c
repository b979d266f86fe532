/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection-analyser: takes back the packets of connections. One from a client's address to a
 * server's that comes in at the servers' port counts as received, and so the other way round; any
 * other counts as `other`, unless its port has addresses and answers it.
 */
#include "core/free.h"
#include "core/vector.h"
#include "core/worker.h"
#include "tester/connections.h"
#include "tester/responder.h"
#include "tester/tester.h"

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_prefetch.h>

#define NOT_OURS CONNECTION_SIDES

static __rte_always_inline bool are_ends(const struct connections *connections,
	enum connection_side from, const uint8_t *src, const uint8_t *dst)
{
	uint32_t sender, receiver;

	memcpy(&sender, src, sizeof(sender));
	memcpy(&receiver, dst, sizeof(receiver));
	return connection_ranges_hold(&connections->addresses[from], rte_be_to_cpu_32(sender)) &&
	       connection_ranges_hold(&connections->addresses[!from], rte_be_to_cpu_32(receiver));
}

static bool are_ends6(const struct connections *connections, enum connection_side from,
	const uint8_t *ip, unsigned room)
{
	const uint8_t *src = ip + 8, *dst = ip + 24;

	return room >= sizeof(struct rte_ipv6_hdr) &&
	       memcmp(src, connections->prefixes.of[from], 12) == 0 &&
	       memcmp(dst, connections->prefixes.of[!from], 12) == 0 &&
	       are_ends(connections, from, src + 12, dst + 12);
}

/* Whether one of the side sent it to one of the other; the IP header is behind up to two tags. */
static __rte_always_inline bool is_from(const struct connections *connections,
	enum connection_side from, const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	unsigned offset = 2 * RTE_ETHER_ADDR_LEN;

	for (unsigned tags = 0; tags < 3; tags++, offset += RTE_VLAN_HLEN) {
		const uint8_t *ip = frame + offset + 2;
		uint16_t type;

		if (unlikely(offset + 2 + sizeof(struct rte_ipv4_hdr) > mbuf->data_len))
			return false;
		memcpy(&type, frame + offset, sizeof(type));
		if (likely(type == RTE_BE16(RTE_ETHER_TYPE_IPV4)))
			return are_ends(connections, from, ip + 12, ip + 16);
		if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
			return are_ends6(connections, from, ip, mbuf->data_len - offset - 2);
		if (type != RTE_BE16(RTE_ETHER_TYPE_VLAN) && type != RTE_BE16(RTE_ETHER_TYPE_QINQ))
			return false;
	}
	return false;
}

/* The side that sent it, or NOT_OURS. */
static inline unsigned side_of(const struct connections *connections, const struct rte_mbuf *mbuf)
{
	if (mbuf->port == connections->port_indices[SIDE_SERVER])
		return is_from(connections, SIDE_CLIENT, mbuf) ? SIDE_CLIENT : NOT_OURS;
	return mbuf->port == connections->port_indices[SIDE_CLIENT] &&
			       is_from(connections, SIDE_SERVER, mbuf)
		       ? SIDE_SERVER
		       : NOT_OURS;
}

/* Looks again at a vector with frames that no connection has sent. */
static __rte_noinline void note_unknown(struct tester_worker *worker,
	const struct connections *connections, struct rte_mbuf **mbufs, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		struct responder *responder = responders[mbufs[i]->port];

		if (side_of(connections, mbufs[i]) != NOT_OURS ||
			(responder != NULL && responder_take(responder, mbufs[i])))
			continue;
		worker->other++;
		worker->other_bytes += mbufs[i]->pkt_len + RTE_ETHER_CRC_LEN;
	}
}

static int connection_analyser_init(struct node_state *state, struct rte_node *node)
{
	node_context(node)->object = tester.workers[state->worker->tester_index];
	return 0;
}

static uint16_t connection_analyser_process(
	__rte_unused struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	struct tester_worker *worker = node_object(node);
	struct connections *connections = tester.connections;
	struct rte_mbuf **mbufs = (struct rte_mbuf **)objs;
	uint64_t packets[NOT_OURS + 1] = {0}, bytes[NOT_OURS + 1] = {0};

	for (uint16_t i = 0; i < count; i++) {
		unsigned side;

		if (likely(i + 4 * VECTOR_AHEAD < count)) {
			rte_prefetch0(mbufs[i + 4 * VECTOR_AHEAD]);
			vector_prefetch_data(mbufs[i + 2 * VECTOR_AHEAD]);
		}
		side = side_of(connections, mbufs[i]);
		packets[side]++;
		bytes[side] += mbufs[i]->pkt_len + RTE_ETHER_CRC_LEN;
	}
	for (unsigned side = 0; side < CONNECTION_SIDES; side++) {
		worker->connection_received[side] += packets[side];
		worker->connection_rx_bytes[side] += bytes[side];
	}
	if (unlikely(packets[NOT_OURS] > 0))
		note_unknown(worker, connections, mbufs, count);
	free_mbufs(mbufs, count);
	return count;
}

static struct node_type connection_analyser = {
	.name = "connection-analyser",
	.process = connection_analyser_process,
	.init = connection_analyser_init,
};
NODE_REGISTER(connection_analyser)
