/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that attach themselves: drop_odd.c, which docs/add-a-node.md shows, in the router. */
#include "harness.h"

#include "core/ledger.h"
#include "core/node.h"
#include "router/interface.h"

#include <rte_ip.h>

#define HOST_A RTE_IPV4(16, 0, 0, 1)
#define HOST_B RTE_IPV4(48, 0, 0, 9)
#define NOBODY RTE_IPV4(99, 0, 0, 1)
#define EVEN 20
#define ODD 21

static uint64_t odd_drops(void)
{
	return harness_reason("drop-odd", "odd length");
}

/* Returns how many of the frames came through. */
static unsigned sent_on(uint32_t source, unsigned payload, unsigned frames)
{
	struct frame frame;

	for (unsigned i = 0; i < frames; i++) {
		frame_ip4(&frame, 0, source, HOST_B, 64, payload);
		harness_put(0, &frame);
	}
	harness_walk();
	return harness_flush();
}

/* A vector of plain packets, which ethernet-input sends to ip4-lookup itself. */
static void plain_vectors(void)
{
	CHECK_EQUAL(sent_on(HOST_A, EVEN, 100), 100);
	CHECK_EQUAL(odd_drops(), 0);
	CHECK_EQUAL(sent_on(HOST_A, ODD, 100), 0);
	CHECK_EQUAL(odd_drops(), 100);
}

/* One frame that is not plain sends the whole vector by way of ip4-input. */
static void mixed_vectors(void)
{
	struct frame frame;

	for (unsigned i = 0; i < 50; i++) {
		frame_ip4(&frame, 0, HOST_A, HOST_B, 64, i % 2 == 0 ? EVEN : ODD);
		harness_put(0, &frame);
	}
	frame_ip4(&frame, 0, HOST_A, HOST_B, 64, EVEN);
	frame_l3(&frame)[10] ^= 1;
	harness_put(0, &frame);
	harness_walk();
	CHECK_EQUAL(harness_flush(), 25);
	CHECK_EQUAL(odd_drops(), 25);
	CHECK_EQUAL(harness_reason("ip4-input", "bad checksum"), 1);
}

static void in_the_ledger(void)
{
	struct ledger ledger;
	uint64_t packets = 0;

	sent_on(HOST_A, ODD, 3);
	ledger_read(&ledger);
	for (unsigned i = 0; i < ledger.count; i++)
		if (strcmp(ledger.entries[i].place, "drop-odd: odd length") == 0 &&
			ledger.entries[i].kind == LEDGER_LOSS)
			packets = ledger.entries[i].packets;
	ledger_free(&ledger);
	CHECK_EQUAL(packets, 3);
}

static void switched(void)
{
	node_attach_switch("drop-odd", false);
	CHECK_EQUAL(sent_on(HOST_A, ODD, 10), 10);
	CHECK_EQUAL(odd_drops(), 0);
	node_attach_switch("drop-odd", true);
	CHECK_EQUAL(sent_on(HOST_A, ODD, 10), 0);
	CHECK_EQUAL(odd_drops(), 10);
}

/* ip4-source-check, with one parent, stands before drop-odd, with two. */
static void two_on_an_edge(void)
{
	uint64_t before;

	interface_set_urpf(interface_find("e0"), INTERFACE_URPF_STRICT);
	before = harness_reason("ip4-source-check", "rpf: no route to the source");
	CHECK_EQUAL(sent_on(NOBODY, ODD, 4), 0);
	CHECK_EQUAL(harness_reason("ip4-source-check", "rpf: no route to the source"), before + 4);
	CHECK_EQUAL(odd_drops(), 0);
	CHECK_EQUAL(sent_on(HOST_A, ODD, 4), 0);
	CHECK_EQUAL(odd_drops(), 4);
	CHECK_EQUAL(sent_on(HOST_A, EVEN, 4), 4);
	node_attach_switch("drop-odd", false);
	CHECK_EQUAL(sent_on(NOBODY, ODD, 4), 0);
	CHECK_EQUAL(sent_on(HOST_A, ODD, 4), 4);
}

static const struct harness_case cases[] = {
	{"the node is reached by plain vectors", plain_vectors, .cli = harness_router_cli},
	{"the node is reached by way of ip4-input", mixed_vectors, .cli = harness_router_cli},
	{"its drops are in the ledger", in_the_ledger, .cli = harness_router_cli},
	{"it is switched off and on", switched, .cli = harness_router_cli},
	{"two nodes on one edge", two_on_an_edge, .cli = harness_router_cli},
};
HARNESS_MAIN(cases)
