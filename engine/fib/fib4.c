/* SPDX-License-Identifier: BSD-3-Clause */
#include "fib4.h"

#include "../memory.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_rib.h>
#include <stdio.h>

/* Second-level tables of 256 entries, one for each /24 that holds longer prefixes. */
#define SECOND_LEVEL_MIN 4096u
#define SECOND_LEVEL_MAX 131072u

struct rte_fib *fib4;

int fib4_create(unsigned routes, uint32_t default_next_hop)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.default_nh = default_next_hop,
		.max_routes = (int)routes,
		.dir24_8 =
			{
				.nh_sz = RTE_FIB_DIR24_8_4B,
				.num_tbl8 = RTE_MIN(
					RTE_MAX(routes / 4, SECOND_LEVEL_MIN), SECOND_LEVEL_MAX),
			},
	};

	fib4 = rte_fib_create("fib4", memory_socket(), &conf);
	if (fib4 == NULL) {
		fprintf(stderr,
			"routes: no memory for %u (64 MB and what the prefixes need): %s; raise "
			"memory.megabytes\n",
			routes, rte_strerror(rte_errno));
		return -ENOMEM;
	}
	/* Where there is no AVX-512 the choice made at creation stays. */
	(void)rte_fib_select_lookup(fib4, RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512);
	return 0;
}

/*
 * rte_fib overwrites the whole table when a prefix that ends at 255.255.255.255 is changed
 * while it holds a longer one that ends there too (seen in 22.11: its range wraps to 0). So
 * of those only the /32 goes into rte_fib. In place of the others go the prefixes beside
 * them: 240.0.0.0/4 is 240/5, 248/6 … 255.255.255.254/32. Each of these belongs to its own
 * route if there is one, else to the longest prefix that holds it and ends at the top.
 */
struct entry {
	bool present;
	uint32_t next_hop;
};
static struct entry tops[33];    /* of each length, the prefix that ends at the top */
static struct entry besides[33]; /* of each length, the prefix before that */

static uint32_t top_prefix(unsigned length)
{
	return length == 0 ? 0 : UINT32_MAX << (32 - length);
}

static uint32_t beside_prefix(unsigned length)
{
	return top_prefix(length) ^ (1u << (32 - length));
}

/* Where the prefix is kept when it is one of those, else NULL. */
static struct entry *entry_of(uint32_t prefix, uint8_t length)
{
	if (prefix == top_prefix(length))
		return &tops[length];
	if (length > 0 && prefix == beside_prefix(length))
		return &besides[length];
	return NULL;
}

static int entry_install(uint32_t prefix, uint8_t length, const struct entry *entry)
{
	if (entry != NULL)
		return rte_fib_add(fib4, prefix, length, entry->next_hop);
	if (rte_rib_lookup_exact(rte_fib_get_rib(fib4), prefix, length) == NULL)
		return 0;
	return rte_fib_delete(fib4, prefix, length);
}

static int entries_install(void)
{
	const struct entry *inherited = NULL;
	int rc = 0;

	for (uint8_t length = 0; length <= 32 && rc == 0; length++) {
		if (length > 0)
			rc = entry_install(beside_prefix(length), length,
				besides[length].present ? &besides[length] : inherited);
		if (tops[length].present)
			inherited = &tops[length];
	}
	return rc == 0 ? entry_install(UINT32_MAX, 32, inherited) : rc;
}

int fib4_add(uint32_t prefix, uint8_t length, uint32_t next_hop)
{
	struct entry *entry = entry_of(prefix, length);

	if (entry == NULL)
		return rte_fib_add(fib4, prefix, length, next_hop);
	*entry = (struct entry){true, next_hop};
	return entries_install();
}

int fib4_delete(uint32_t prefix, uint8_t length)
{
	struct entry *entry = entry_of(prefix, length);

	if (entry == NULL)
		return rte_fib_delete(fib4, prefix, length);
	if (!entry->present)
		return -ENOENT;
	entry->present = false;
	return entries_install();
}

bool fib4_find(uint32_t prefix, uint8_t length, uint32_t *next_hop)
{
	const struct entry *entry = entry_of(prefix, length);
	struct rte_rib_node *node;
	uint64_t value = 0;

	if (entry != NULL) {
		*next_hop = entry->next_hop;
		return entry->present;
	}
	node = rte_rib_lookup_exact(rte_fib_get_rib(fib4), prefix, length);
	if (node == NULL)
		return false;
	(void)rte_rib_get_nh(node, &value);
	*next_hop = (uint32_t)value;
	return true;
}
