/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet traces: the way of single packets through the router's nodes. */
#include "harness.h"

#include "core/graph_walk.h"
#include "core/trace.h"
#include "core/worker.h"

#include <rte_ip.h>

#define HOST_A RTE_IPV4(16, 0, 0, 1)
#define HOST_B RTE_IPV4(48, 0, 0, 9)
#define NO_ROUTE RTE_IPV4(99, 0, 0, 1)

/* As a worker walks while it traces. */
static void traced_walk(void)
{
	struct worker *worker = worker_of_forwarder(0);
	struct graph_walk walk = graph_walk_begin(worker->graph);

	while (graph_walk_goes_on(&walk)) {
		struct rte_node *node = graph_walk_node(&walk);

		trace_process(worker, node);
		node->idx = 0;
		graph_walk_next(&walk);
	}
	graph_walk_end(&walk);
	trace_walk_end(worker);
}

static void put(uint32_t destination, uint8_t ttl, unsigned payload)
{
	struct frame frame;

	frame_ip4(&frame, 0, HOST_A, destination, ttl, payload);
	harness_put(0, &frame);
}

static const char *node_name(rte_node_t id)
{
	return rte_node_id_to_name(id);
}

static void check_hop(unsigned packet, unsigned hop, const char *node, const char *next)
{
	const struct trace_packet *traced = trace_packet(packet);
	const struct trace_hop *found;

	CHECK(traced != NULL && hop < traced->nb_hops);
	if (traced == NULL || hop >= traced->nb_hops)
		return;
	found = &traced->hops[hop];
	if (strcmp(node_name(found->node), node) != 0)
		fprintf(stderr, "packet %u, hop %u: %s\n", packet, hop, node_name(found->node));
	CHECK(strcmp(node_name(found->node), node) == 0);
	if (next == NULL)
		CHECK_EQUAL(found->outcome, TRACE_LEFT);
	else
		CHECK(found->outcome == TRACE_SENT_ON && strcmp(node_name(found->next), next) == 0);
}

/* Plain packets: ethernet-input has ip4-input's checks in it, ip4-lookup the rewrite. */
static void plain(void)
{
	CHECK(trace_start("ethernet-input", 2) == NULL);
	for (unsigned i = 0; i < 5; i++)
		put(HOST_B, 64, 20);
	traced_walk();
	CHECK_EQUAL(harness_flush(), 5);
	CHECK_EQUAL(trace_ended(), 2);
	CHECK(trace_is_over());
	for (unsigned i = 0; i < 2; i++) {
		check_hop(i, 0, "ethernet-input", "ip4-lookup");
		check_hop(i, 1, "ip4-lookup", "port-tx-e1");
		check_hop(i, 2, "port-tx-e1", NULL);
		CHECK_EQUAL(trace_packet(i)->nb_hops, 3);
		CHECK_EQUAL(trace_packet(i)->length, 62);
	}
	CHECK(strcmp(trace_packet(0)->hops[0].fused[0], "ip4-input") == 0);
	CHECK(strcmp(trace_packet(0)->hops[0].text, "interface e0, ethertype 0x0800") == 0);
	CHECK(strstr(trace_packet(0)->hops[1].text, "48.0.0.0/24: adjacency ") != NULL);
	CHECK(strstr(trace_packet(0)->hops[1].text, ", rewrite, via 100.64.2.2 on e1") != NULL);
}

/* A trace from a node whose work another one does begins there. */
static void from_a_fused_node(void)
{
	CHECK(trace_start("ip4-input", 3) == NULL);
	put(HOST_B, 64, 20);
	put(HOST_B, 64, 20);
	traced_walk();
	CHECK_EQUAL(trace_ended(), 2);
	check_hop(0, 0, "ethernet-input", "ip4-lookup");
	CHECK(!trace_is_over());
	/* Later ones count, too. */
	put(HOST_B, 64, 20);
	traced_walk();
	CHECK_EQUAL(trace_ended(), 3);
	CHECK(trace_is_over());
	CHECK_EQUAL(harness_flush(), 3);
}

/* A source has no packets before it is called. */
static void from_a_source(void)
{
	CHECK(trace_start("port-rx-e0-0", 1) == NULL);
	put(HOST_B, 64, 20);
	put(HOST_B, 64, 20);
	traced_walk();
	CHECK_EQUAL(trace_ended(), 1);
	check_hop(0, 0, "port-rx-e0-0", "ethernet-input");
	check_hop(0, 1, "ethernet-input", "ip4-lookup");
	CHECK_EQUAL(harness_flush(), 2);
}

/* The reason of a drop, and what comes of it. */
static void dropped(void)
{
	struct frame frame;

	CHECK(trace_start("ethernet-input", 3) == NULL);
	put(NO_ROUTE, 64, 20);
	put(HOST_B, 1, 20);
	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, 20);
	frame_l3(&frame)[10] ^= 1;
	harness_put(0, &frame);
	traced_walk();
	CHECK_EQUAL(trace_ended(), 3);
	check_hop(0, 1, "ip4-lookup", "icmp4-error");
	CHECK(strcmp(trace_packet(0)->hops[1].reason, "no route") == 0);
	check_hop(1, 2, "ip4-rewrite", "icmp4-error");
	CHECK(strstr(trace_packet(1)->hops[2].text, "TTL 1") != NULL);
	check_hop(2, 1, "ip4-input", "drop");
	CHECK(strcmp(trace_packet(2)->hops[1].reason, "bad checksum") == 0);
	check_hop(2, 2, "drop", NULL);
	CHECK_EQUAL(harness_flush(), 2);
}

/* Traced packets and others keep their order, and none is lost. */
static void order(void)
{
	struct frame frame;

	CHECK(trace_start("ip4-lookup", 50) == NULL);
	for (unsigned i = 0; i < 200; i++)
		put(HOST_B, 64, 20 + i);
	traced_walk();
	for (unsigned i = 0; i < 200; i++) {
		CHECK(harness_get(1, &frame));
		CHECK_EQUAL(frame.length, 62 + i);
	}
	CHECK_EQUAL(trace_ended(), 50);
}

/* The usual walk has no part in a trace, not even while one waits for packets. */
static void untraced(void)
{
	for (unsigned i = 0; i < 5; i++)
		put(HOST_B, 64, 20);
	harness_walk();
	CHECK(trace_node() == NULL);
	CHECK_EQUAL(trace_ended(), 0);
	CHECK(trace_is_over());
	CHECK(trace_start("ip4-lookup", 5) == NULL);
	for (unsigned i = 0; i < 5; i++)
		put(HOST_B, 64, 20);
	harness_walk();
	CHECK_EQUAL(trace_ended(), 0);
	trace_walk_end(worker_of_forwarder(0));
	CHECK_EQUAL(trace_ended(), 0);
	CHECK_EQUAL(harness_flush(), 10);
	CHECK(harness_balanced());
}

/* As a worker that goes back to its usual walk. */
static void end_request(void)
{
	__atomic_store_n(&worker_of_forwarder(0)->request, WORKER_WALK, __ATOMIC_RELEASE);
}

/* It holds the first packets of as many as it was asked for; the next trace begins anew. */
static void full(void)
{
	CHECK(trace_start("ip4-lookup", TRACE_PACKETS_MAX) == NULL);
	for (unsigned i = 0; i < 2 * TRACE_PACKETS_MAX; i++)
		put(HOST_B, 64, 20 + i);
	traced_walk();
	CHECK_EQUAL(harness_flush(), 2 * TRACE_PACKETS_MAX);
	CHECK_EQUAL(trace_ended(), TRACE_PACKETS_MAX);
	for (unsigned i = 0; i < TRACE_PACKETS_MAX; i++)
		CHECK(trace_packet(i) != NULL && trace_packet(i)->length == 62 + i);
	CHECK(trace_packet(TRACE_PACKETS_MAX) == NULL);
	end_request();
	CHECK(trace_start("ip4-lookup", 2) == NULL);
	CHECK_EQUAL(trace_ended(), 0);
	CHECK(trace_packet(0) == NULL);
	put(HOST_B, 64, 40);
	traced_walk();
	CHECK_EQUAL(trace_ended(), 1);
	CHECK(trace_packet(0) != NULL && trace_packet(0)->length == 82);
	end_request();
	trace_stop();
	put(HOST_B, 64, 40);
	traced_walk();
	CHECK_EQUAL(trace_ended(), 1);
	CHECK_EQUAL(harness_flush(), 2);
}

static void refused(void)
{
	CHECK(strcmp(trace_start("no-such-node", 1), "there is no such node") == 0);
	CHECK(trace_start("ip4-lookup", 0) != NULL);
	CHECK(trace_start("ip4-lookup", TRACE_PACKETS_MAX + 1) != NULL);
	CHECK(strcmp(trace_start("generator", 1), "no worker walks that node") == 0);
	CHECK(trace_packet(0) == NULL);
}

static const struct harness_case cases[] = {
	{"plain packets", plain, .cli = harness_router_cli},
	{"from a node whose work another one does", from_a_fused_node, .cli = harness_router_cli},
	{"from a source node", from_a_source, .cli = harness_router_cli},
	{"reasons of drops", dropped, .cli = harness_router_cli},
	{"packets keep their order", order, .cli = harness_router_cli},
	{"the usual walk traces nothing", untraced, .cli = harness_router_cli},
	{"a full trace, and the next one", full, .cli = harness_router_cli},
	{"what cannot be traced", refused, .cli = harness_router_cli},
};
HARNESS_MAIN(cases)
