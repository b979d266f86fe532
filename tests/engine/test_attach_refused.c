/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that cannot be attached end the start with one line that names node and reason. */
#include "core/node.h"
#include "capture.h"
#include "test.h"

#include <errno.h>

static uint16_t process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	(void)graph;
	(void)node;
	(void)objs;
	return count;
}

static struct node_type stray = {
	.name = "stray",
	.process = process,
	.nexts = {"drop", "ip4-lookup"},
};
NODE_REGISTER(stray)

/* Attaches `stray`, and keeps the error. */
static int attach(const char *next, const char *first, const char *second)
{
	int rc;

	stray.attach = (struct node_attach){.next = next, .parents = {first, second}};
	capture_start();
	rc = nodes_register();
	capture_end();
	return rc;
}

#define CHECK_REFUSED(rc, text) \
	do { \
		CHECK_EQUAL(-(rc), EINVAL); \
		CHECK(strcmp(printed, "node stray: cannot be attached: " text "\n") == 0); \
	} while (0)

static void unknown_parent(void)
{
	CHECK_REFUSED(attach("ip4-lookup", "ip4-inptu", NULL), "there is no node 'ip4-inptu'");
	CHECK_REFUSED(attach("ip4-lookup", "ip4-input", "no-such"), "there is no node 'no-such'");
}

static void clones(void)
{
	CHECK_REFUSED(attach("drop", "port-tx", NULL), "only clones walk 'port-tx'");
}

static void no_such_edge(void)
{
	CHECK_REFUSED(
		attach("ip4-lookup", "arp-input", NULL), "arp-input has no edge to ip4-lookup");
	CHECK_REFUSED(
		attach("ip6-lookup", "ip6-input", NULL), "it has no edge to ip6-lookup itself");
}

/* ip4-source-check stands behind ip4-input: two that share some of their parents have no order. */
static void crossing(void)
{
	static struct node_type other = {
		.name = "other",
		.process = process,
		.attach = {.next = "ip4-lookup", .parents = {"ethernet-input", "ip4-input"}},
		.nexts = {"drop", "ip4-lookup"},
	};

	REGISTRY_ADD(node_types, other);
	CHECK(attach("ip4-lookup", "ip4-input", "icmp4-echo") != 0);
	CHECK(strstr(printed, "cannot be attached: its parents cross those of ") != NULL);
}

static const struct test_case cases[] = {
	{"a parent that does not exist", unknown_parent},
	{"a parent of which only clones walk", clones},
	{"an edge that does not exist", no_such_edge},
	{"parents that cross those of another", crossing},
};
TEST_MAIN(cases)
