/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flowgen: sends UDP frames on each port as fast as the port takes them, their destination
 * addresses walking over as many flows as configured, and frees what it receives; testpmd's
 * word, meaning and addresses. Checksums, UDP's too, are right.
 */
#include "core/memory.h"
#include "core/vector.h"
#include "forwarder.h"
#include "origin.h"

#include <errno.h>
#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_udp.h>
#include <stdio.h>

#define FLOWS_DEFAULT 1024
#define FLOWS_MAX 65536

/* Fields that differ between flows; the same on all ports, whose MAC addresses no checksum
 * covers. */
struct flow {
	rte_be32_t dst;
	uint16_t ip_checksum;
	uint16_t udp_checksum;
};

static unsigned nb_flows = FLOWS_DEFAULT;
static struct flow *flows;

static __rte_always_inline void flowgen_build(
	const struct origin *origin, struct origin_queue *queue, struct rte_mbuf **mbufs)
{
	unsigned next = queue->next;

	for (unsigned i = 0; i < ORIGIN_BURST; i++) {
		struct rte_ipv4_hdr *ip =
			RTE_PTR_ADD(fresh_data(mbufs[i]), sizeof(struct rte_ether_hdr));
		struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);

		if (likely(i + 2 * VECTOR_AHEAD < ORIGIN_BURST))
			rte_prefetch0_write(mbufs[i + 2 * VECTOR_AHEAD]);
		if (likely(i + VECTOR_AHEAD < ORIGIN_BURST))
			rte_prefetch0_write(fresh_data(mbufs[i + VECTOR_AHEAD]));
		origin_fresh(origin, mbufs[i]);
		ip->dst_addr = flows[next].dst;
		ip->hdr_checksum = flows[next].ip_checksum;
		udp->dgram_cksum = flows[next].udp_checksum;
		next = next + 1 == nb_flows ? 0 : next + 1;
	}
	queue->next = next;
}

static uint16_t flowgen_process(__rte_unused struct rte_graph *graph, struct rte_node *node,
	__rte_unused void **objs, __rte_unused uint16_t count)
{
	return origin_process(node, flowgen_build);
}

static struct node_type flowgen = {
	.name = "flowgen",
	.process = flowgen_process,
	.init = origin_init,
	.nexts = {"drop"},
	.private_bytes = sizeof(struct origin_queue),
	.source = true,
	.template = true,
};
NODE_REGISTER(flowgen)

static void flowgen_parse(const struct config_node *node)
{
	if (node->json != NULL && json_is_object(node->json)) {
		config_known(node, "flows", "frame_bytes", "peers");
		nb_flows = (unsigned)config_u64(node, "flows", FLOWS_DEFAULT, 1, FLOWS_MAX);
	}
	origin_parse(node);
}

static int flowgen_create(void)
{
	static const struct origin_flow first = {
		.src = RTE_IPV4(10, 254, 0, 0),
		.dst = RTE_IPV4(10, 253, 0, 0),
		.sport = 1000,
		.dport = 1001,
	};

	flows = rte_zmalloc_socket(
		"flowgen", nb_flows * sizeof(*flows), RTE_CACHE_LINE_SIZE, memory_socket());
	if (flows == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < nb_flows; i++) {
		struct origin_flow flow = first;

		flow.dst += i;
		origin_checksums(&flow, &flows[i].ip_checksum, &flows[i].udp_checksum);
		flows[i].dst = rte_cpu_to_be_32(flow.dst);
	}
	return origin_create("flowgen", &first);
}

/* Received frames are freed as in rxonly. */
static int flowgen_entry(__rte_unused struct port *port, __rte_unused struct port *peer,
	char name[RTE_NODE_NAMESIZE])
{
	snprintf(name, RTE_NODE_NAMESIZE, "rxonly");
	return 0;
}

static struct forwarding_mode flowgen_mode = {
	.name = "flowgen",
	.key = "flowgen",
	.sends = true,
	.parse = flowgen_parse,
	.create = flowgen_create,
	.entry = flowgen_entry,
};
FORWARDING_MODE_REGISTER(flowgen_mode)
