/* SPDX-License-Identifier: BSD-3-Clause */
#include "adjacency_text.h"

#include "interface.h"
#include "neighbor.h"

#include <stdio.h>

const char *adjacency_kind_name(const struct adjacency *adjacency)
{
	static const char *const names[ADJACENCY_KINDS] = {
		[ADJACENCY_DROP] = "drop",
		[ADJACENCY_UNREACHABLE] = "no route",
		[ADJACENCY_REWRITE] = "rewrite",
		[ADJACENCY_ARP] = "arp",
		[ADJACENCY_LOCAL] = "local",
		[ADJACENCY_MPLS_OUTPUT] = "mpls-output",
		[ADJACENCY_MPLS_DISPOSITION] = "mpls-disposition",
		[ADJACENCY_MPLS_IP4] = "mpls-disposition, then lookup",
		[ADJACENCY_MPLS_AGAIN] = "pop, then lookup",
		[ADJACENCY_LOAD_BALANCE] = "load-balance",
		[ADJACENCY_MPLS_IMPOSITION] = "mpls-imposition",
		[ADJACENCY_UNREACHABLE6] = "no route",
		[ADJACENCY_REWRITE6] = "rewrite",
		[ADJACENCY_ND] = "nd",
		[ADJACENCY_LOCAL6] = "local",
	};

	return names[adjacency_kind(adjacency)];
}

void adjacency_text(const char *before, uint32_t index, char *text, size_t bytes)
{
	const struct adjacency *adjacency = &adjacencies[index];
	const char *kind = adjacency_kind_name(adjacency);
	char via[ADDRESS_TEXT_BYTES];

	if (adjacency->neighbor == NEIGHBOR_NONE) {
		snprintf(text, bytes, "%s: adjacency %u, %s", before, index, kind);
		return;
	}
	snprintf(text, bytes, "%s: adjacency %u, %s, via %s on %s", before, index, kind,
		address_text(neighbor_address(adjacency->neighbor), via),
		interfaces[adjacency->interface].name);
}
