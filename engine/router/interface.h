/* SPDX-License-Identifier: BSD-3-Clause */
/* The router's interface on a port, or on one of its VLANs: addresses, up or down, MPLS or not. */
#ifndef LINERATE_INTERFACE_H
#define LINERATE_INTERFACE_H

#include "port/port.h"
#include "vlan.h"

#include <rte_graph.h>
#include <stdbool.h>
#include <stdint.h>

#define INTERFACES_MAX (PORTS_MAX + SUB_INTERFACES_MAX)
#define INTERFACE_ADDRESSES_MAX 16
/* RFC 791 3.2: what every link carries without cutting it. */
#define INTERFACE_MTU_MIN 68
/* Length of a name: a port's, and up to two VLAN ids or a number. */
#define INTERFACE_NAME_BYTES 36
/* No frame's destination is this: what is down matches nothing. */
#define INTERFACE_MAC_DOWN UINT64_MAX
/* Added to the MAC address of an interface whose frames are looked at one by one: then it is
 * none that the passes for whole vectors compare with. */
#define INTERFACE_MAC_SLOW (1ull << 63)
#define INTERFACE_EDGE_DOWN 0

/* Reverse path forwarding: must a packet's source be routed, and that to where it came from? */
enum interface_urpf {
	INTERFACE_URPF_OFF,
	INTERFACE_URPF_LOOSE,
	INTERFACE_URPF_STRICT,
};

struct interface_address {
	uint32_t address; /* host order */
	uint8_t length;
};

struct interface {
	char name[INTERFACE_NAME_BYTES];
	struct port *port; /* that its frames pass; NULL: there is no such interface */
	uint16_t index;
	struct vlan_tags vlan; /* of a sub-interface */
	bool up;               /* as configured: a sub-interface needs its port to be up too */
	bool mpls;
	uint8_t urpf; /* enum interface_urpf */
	uint16_t mtu; /* of what follows the Ethernet header; until created 0: as the port's */
	rte_edge_t tx_edge;
	unsigned nb_addresses;
	struct interface_address addresses[INTERFACE_ADDRESSES_MAX];
};

/* By index, which is also mbuf->port: a port's own interface has the port's index, the others
 * come after those. */
extern struct interface interfaces[INTERFACES_MAX];
/* Interface data of the fast path: the MAC address as the low 48 bits that a load gives, and the
 * edge out of interface-output. */
extern uint64_t interface_mac[INTERFACES_MAX];
extern rte_edge_t interface_edge[INTERFACES_MAX];

/* Packets with a source address that no host has are dropped, on all interfaces. */
extern bool interfaces_martians;

static inline bool interface_checks_source(const struct interface *interface)
{
	return interfaces_martians || interface->urpf != INTERFACE_URPF_OFF;
}

static inline uint32_t prefix_mask(uint8_t length)
{
	return length == 0 ? 0 : UINT32_MAX << (32 - length);
}

static inline bool prefix_covers(uint32_t prefix, uint8_t length, uint32_t address)
{
	return ((prefix ^ address) & prefix_mask(length)) == 0;
}

/* Before EAL: the forwarder's ports become interfaces. */
void interfaces_reset(bool up);
void interface_set_state(struct interface *interface, bool up);
void interface_set_urpf(struct interface *interface, enum interface_urpf urpf);
static inline bool interface_is_up(const struct interface *interface)
{
	return interface_edge[interface->index] != INTERFACE_EDGE_DOWN;
}
/* A sub-interface of the port's interface `parent`, down. NULL, or what is wrong. */
const char *sub_interface_create(struct interface *parent, const char *name,
	const struct vlan_tags *tags, struct interface **created);
/* Its vlan-output, with nodes registered. Returns 0 or -1 after saying why. */
int sub_interface_create_output(struct interface *interface);
/* NULL, or what is wrong with the address. */
const char *interface_add_address(struct interface *interface, uint32_t address, uint8_t length);
/* Takes effect at once when created. NULL, or what is wrong. */
const char *interface_set_mtu(struct interface *interface, uint32_t mtu);
/* With ports configured and nodes registered. Returns 0 or -errno. */
int interfaces_create(void);

struct interface *interface_find(const char *name);
/* The one whose subnet holds the address, or NULL. */
struct interface *interface_of(uint32_t address);
bool interface_on_subnet(const struct interface *interface, uint32_t address);
/* The interface's own address to use towards `peer`; 0 when it has none. */
uint32_t interface_source(const struct interface *interface, uint32_t peer);
bool interface_owns(const struct interface *interface, uint32_t address);
/* The interface that has the address itself, or NULL. */
struct interface *interface_owner(uint32_t address);
/* The prefix is one that an interface's address implies. */
bool interfaces_have(uint32_t prefix, uint8_t length);

#endif
