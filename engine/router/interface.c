/* SPDX-License-Identifier: BSD-3-Clause */
#include "interface.h"

#include "modes/forwarder.h"
#include "adjacency.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct interface interfaces[INTERFACES_MAX];
uint64_t interface_mac[INTERFACES_MAX];
rte_edge_t interface_edge[INTERFACES_MAX];
bool interfaces_martians;

/*
 * A bit for each hash of a prefix that an address implies: most of a million routes are none of
 * these, and that is known without a look at each address.
 */
#define IMPLIED_BITS 65536u
static uint64_t implied[IMPLIED_BITS / 64];

static uint32_t implied_bit(uint32_t prefix, uint8_t length)
{
	return ((prefix ^ length) * 0x9e3779b1u >> 16) % IMPLIED_BITS;
}

static void implied_add(uint32_t prefix, uint8_t length)
{
	uint32_t bit = implied_bit(prefix, length);

	implied[bit / 64] |= 1ull << bit % 64;
}

static bool implied_maybe(uint32_t prefix, uint8_t length)
{
	uint32_t bit = implied_bit(prefix & prefix_mask(length), length);

	return implied[bit / 64] >> bit % 64 & 1;
}

void interfaces_reset(bool up)
{
	memset(interfaces, 0, sizeof(interfaces));
	vlans_reset();
	for (uint16_t i = 0; i < INTERFACES_MAX; i++)
		interfaces[i].index = i;
	memset(implied, 0, sizeof(implied));
	interfaces_martians = false;
	for (unsigned i = 0; i < forwarder_ports(); i++) {
		struct port *port = forwarder_port(i);

		struct interface *interface = &interfaces[port->index];

		snprintf(interface->name, sizeof(interface->name), "%s", port->name);
		interface->port = port;
		interface->up = up;
	}
}

struct interface *interface_find(const char *name)
{
	for (unsigned i = 0; i < INTERFACES_MAX; i++)
		if (interfaces[i].port != NULL && strcmp(interfaces[i].name, name) == 0)
			return &interfaces[i];
	return NULL;
}

static uint64_t mac_word(const struct rte_ether_addr *mac)
{
	uint64_t word = 0;

	memcpy(&word, mac, sizeof(*mac));
	return word;
}

/* Publishes the state to the fast path. */
static void show_state(const struct interface *interface)
{
	uint64_t slow = interface_checks_source(interface) ? INTERFACE_MAC_SLOW : 0;
	bool up = interface->up && interfaces[interface->port->index].up;
	uint16_t index = interface->index;

	__atomic_store_n(&interface_mac[index],
		up ? mac_word(&interface->port->mac) | slow : INTERFACE_MAC_DOWN, __ATOMIC_RELEASE);
	__atomic_store_n(&interface_edge[index], up ? interface->tx_edge : INTERFACE_EDGE_DOWN,
		__ATOMIC_RELEASE);
}

void interface_set_state(struct interface *interface, bool up)
{
	interface->up = up;
	/* A port takes its sub-interfaces with it. */
	for (unsigned i = 0; i < INTERFACES_MAX; i++)
		if (interfaces[i].port == interface->port)
			show_state(&interfaces[i]);
}

void interface_set_urpf(struct interface *interface, enum interface_urpf urpf)
{
	interface->urpf = (uint8_t)urpf;
	/* Once set it stays: what it costs others is not worth more. */
	if (interface_checks_source(interface))
		node_attach_switch("ip4-source-check", true);
	show_state(interface);
}

static uint16_t mtu_max(const struct interface *interface)
{
	return port_mtu(interface->port);
}

const char *interface_set_mtu(struct interface *interface, uint32_t mtu)
{
	if (mtu < INTERFACE_MTU_MIN)
		return "expected an MTU of at least 68";
	if (mtu > mtu_max(interface))
		return "the MTU is more than the port's max_frame_bytes allows";
	interface->mtu = (uint16_t)mtu;
	adjacencies_set_mtu(interface->index, interface->mtu);
	return NULL;
}

const char *interface_add_address(struct interface *interface, uint32_t address, uint8_t length)
{
	uint32_t host = address & ~prefix_mask(length);

	if (length == 0)
		return "expected a prefix length from 1 to 32";
	if (address >> 24 == 0 || address >> 24 == 127 || address >> 28 >= 14)
		return "expected a unicast address";
	if (length < 31 && (host == 0 || host == ~prefix_mask(length)))
		return "that is the subnet's own or its broadcast address";
	for (unsigned p = 0; p < INTERFACES_MAX; p++)
		for (unsigned i = 0; i < interfaces[p].nb_addresses; i++) {
			const struct interface_address *other = &interfaces[p].addresses[i];

			if (other->address == address)
				return "an interface has that address already";
			if (&interfaces[p] != interface &&
				prefix_covers(
					other->address, RTE_MIN(other->length, length), address))
				return "that subnet overlaps with another interface's";
		}
	if (interface->nb_addresses == INTERFACE_ADDRESSES_MAX)
		return "an interface can have 16 addresses";
	interface->addresses[interface->nb_addresses++] =
		(struct interface_address){address, length};
	implied_add(address & prefix_mask(length), length);
	implied_add(address, 32);
	implied_add(address & prefix_mask(length), 32);
	implied_add(address | ~prefix_mask(length), 32);
	return NULL;
}

/* Sub-interfaces: an interface of the frames of a port that have certain tags. */

static struct interface *free_place(void)
{
	for (unsigned i = PORTS_MAX; i < INTERFACES_MAX; i++)
		if (interfaces[i].port == NULL)
			return &interfaces[i];
	return NULL;
}

const char *sub_interface_create(struct interface *parent, const char *name,
	const struct vlan_tags *tags, struct interface **created)
{
	struct interface *interface = free_place();

	if (parent->vlan.outer != 0)
		return "a sub-interface has none of its own: expected a port";
	if (tags->outer == 0 || tags->outer > VLAN_ID_MAX || tags->inner > VLAN_ID_MAX)
		return "expected a VLAN id from 1 to 4094";
	if (vlan_find(parent->index, tags) != VLAN_NONE)
		return "a sub-interface of that port has that VLAN already";
	if (interface_find(name) != NULL || port_find(name) != NULL)
		return "an interface has that name already";
	if (interface == NULL)
		return "there can be 256 sub-interfaces";
	snprintf(interface->name, sizeof(interface->name), "%s", name);
	interface->port = parent->port;
	interface->vlan = *tags;
	vlan_set(parent->index, tags, interface->index);
	*created = interface;
	return NULL;
}

/* The node that puts the tags on. */
int sub_interface_create_output(struct interface *interface)
{
	char port_tx[RTE_NODE_NAMESIZE];
	const char *const nexts[] = {"drop", port_tx, NULL};

	snprintf(port_tx, sizeof(port_tx), "port-tx-%s", interface->port->name);
	return node_clone("vlan-output", interface->name, interface, nexts) == RTE_NODE_ID_INVALID
		       ? -1
		       : 0;
}

/* The nodes that send to an interface themselves, by the same edges in the same order. */
static int add_tx_edge(struct interface *interface)
{
	static const char *const fused[] = {"ip4-lookup", "ip6-lookup", "ip4-load-balance",
		"ip4-mpls-label-imposition", "mpls-lookup", "mpls-load-balance"};
	char name[RTE_NODE_NAMESIZE];

	snprintf(name, sizeof(name), "%s-%.*s",
		interface->vlan.outer == 0 ? "port-tx" : "vlan-output", INTERFACE_NAME_BYTES - 1,
		interface->name);
	interface->tx_edge = node_add_next(node_type_find("interface-output"), name);
	if (interface->tx_edge == RTE_EDGE_ID_INVALID)
		return -EINVAL;
	for (unsigned i = 0; i < RTE_DIM(fused); i++)
		if (node_add_next(node_type_find(fused[i]), name) !=
			ADJACENCY_TX_EDGE(interface->tx_edge))
			return -EINVAL;
	return 0;
}

int interfaces_create(void)
{
	for (unsigned i = 0; i < INTERFACES_MAX; i++) {
		struct interface *interface = &interfaces[i];

		interface_mac[i] = INTERFACE_MAC_DOWN;
		if (interface->port == NULL)
			continue;
		/* A sub-interface comes after its port, and has its MTU unless configured
		 * otherwise. */
		if (interface->mtu == 0 && interface->vlan.outer != 0)
			interface->mtu = interfaces[interface->port->index].mtu;
		if (interface->mtu == 0)
			interface->mtu = mtu_max(interface);
		if (interface->vlan.outer != 0 && sub_interface_create_output(interface) != 0)
			return -EINVAL;
		if (add_tx_edge(interface) != 0)
			return -EINVAL;
		interface_set_urpf(interface, interface->urpf);
	}
	return 0;
}

bool interface_on_subnet(const struct interface *interface, uint32_t address)
{
	for (unsigned i = 0; i < interface->nb_addresses; i++)
		if (prefix_covers(interface->addresses[i].address, interface->addresses[i].length,
			    address))
			return true;
	return false;
}

struct interface *interface_of(uint32_t address)
{
	for (unsigned i = 0; i < INTERFACES_MAX; i++)
		if (interface_on_subnet(&interfaces[i], address))
			return &interfaces[i];
	return NULL;
}

uint32_t interface_source(const struct interface *interface, uint32_t peer)
{
	for (unsigned i = 0; i < interface->nb_addresses; i++)
		if (prefix_covers(
			    interface->addresses[i].address, interface->addresses[i].length, peer))
			return interface->addresses[i].address;
	return interface->nb_addresses == 0 ? 0 : interface->addresses[0].address;
}

bool interface_owns(const struct interface *interface, uint32_t address)
{
	for (unsigned i = 0; i < interface->nb_addresses; i++)
		if (interface->addresses[i].address == address)
			return true;
	return false;
}

struct interface *interface_owner(uint32_t address)
{
	for (unsigned i = 0; i < INTERFACES_MAX; i++)
		if (interface_owns(&interfaces[i], address))
			return &interfaces[i];
	return NULL;
}

static bool address_implies(const struct interface_address *own, uint32_t prefix, uint8_t length)
{
	uint32_t mask = prefix_mask(own->length);

	if (length == own->length && prefix_covers(own->address, length, prefix))
		return true;
	return length == 32 &&
	       (prefix == own->address ||
		       (own->length < 31 && (prefix == (own->address & mask) ||
						    prefix == (own->address | ~mask))));
}

bool interfaces_have(uint32_t prefix, uint8_t length)
{
	if (!implied_maybe(prefix, length))
		return false;
	for (unsigned p = 0; p < INTERFACES_MAX; p++)
		for (unsigned i = 0; i < interfaces[p].nb_addresses; i++)
			if (address_implies(&interfaces[p].addresses[i], prefix, length))
				return true;
	return false;
}
