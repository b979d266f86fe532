/* SPDX-License-Identifier: BSD-3-Clause */
#include "vlan.h"

#include <string.h>

/* Interfaces with two tags: open addressing, never more than half full. */
#define DOUBLES 1024u
_Static_assert(DOUBLES >= 2 * SUB_INTERFACES_MAX, "a search must end");

uint16_t vlan_single[PORTS_MAX][2][VLAN_IDS];

static struct {
	uint64_t key;
	uint16_t interface;
} doubles[DOUBLES];

void vlans_reset(void)
{
	memset(vlan_single, 0, sizeof(vlan_single));
	memset(doubles, 0, sizeof(doubles));
}

/* Where the tags are, or the free place where they would be. */
static unsigned place_of(uint16_t port, const struct vlan_tags *tags, uint64_t *key)
{
	unsigned place;

	*key = (uint64_t)port << 32 | (uint32_t)tags->dot1ad << 24 | (uint32_t)tags->outer << 12 |
	       tags->inner;
	place = (unsigned)(*key * 0x9e3779b97f4a7c15ull >> 32) % DOUBLES;
	while (doubles[place].interface != VLAN_NONE && doubles[place].key != *key)
		place = (place + 1) % DOUBLES;
	return place;
}

uint16_t vlan_find(uint16_t port, const struct vlan_tags *tags)
{
	uint64_t key;

	if (tags->inner == 0)
		return vlan_single[port][tags->dot1ad][tags->outer];
	return doubles[place_of(port, tags, &key)].interface;
}

void vlan_set(uint16_t port, const struct vlan_tags *tags, uint16_t interface)
{
	uint64_t key;
	unsigned place;

	if (tags->inner == 0) {
		vlan_single[port][tags->dot1ad][tags->outer] = interface;
		return;
	}
	place = place_of(port, tags, &key);
	doubles[place].key = key;
	doubles[place].interface = interface;
}
