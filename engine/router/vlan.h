/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps a tagged frame to a port's sub-interface. A frame must have exactly the tags of a
 * sub-interface (VPP: exact-match). Filled before the graph runs, and not changed then.
 */
#ifndef LINERATE_VLAN_H
#define LINERATE_VLAN_H

#include "port/port.h"

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SUB_INTERFACES_MAX 256
#define VLAN_TAG_BYTES 4
#define VLAN_IDS 4096
#define VLAN_ID_MASK 0xfffu
/* IEEE 802.1Q: 0 says that the tag only has a priority, 4095 is reserved. */
#define VLAN_PRIORITY 0
#define VLAN_ID_MAX 4094
/* The index of no sub-interface: a port has it. */
#define VLAN_NONE 0

struct vlan_tags {
	bool dot1ad;    /* the outer tag's type is 0x88a8 (IEEE 802.1ad), not 0x8100 */
	uint16_t outer; /* 0: no tag at all */
	uint16_t inner; /* of a second tag, of type 0x8100; 0: there is none */
};

/* Interfaces with one tag, by port, dot1ad, VLAN id. */
extern uint16_t vlan_single[PORTS_MAX][2][VLAN_IDS];

static inline bool vlan_is_tag(rte_be16_t type)
{
	return type == RTE_BE16(RTE_ETHER_TYPE_VLAN) || type == RTE_BE16(RTE_ETHER_TYPE_QINQ);
}

static inline bool vlan_is_dot1ad(rte_be16_t type)
{
	return type == RTE_BE16(RTE_ETHER_TYPE_QINQ);
}

static inline uint16_t vlan_id(const uint8_t *tci)
{
	rte_be16_t word;

	memcpy(&word, tci, sizeof(word));
	return rte_be_to_cpu_16(word) & VLAN_ID_MASK;
}

void vlans_reset(void);
/* The interface's index, or VLAN_NONE. */
uint16_t vlan_find(uint16_t port, const struct vlan_tags *tags);
void vlan_set(uint16_t port, const struct vlan_tags *tags, uint16_t interface);

#endif
