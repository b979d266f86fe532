/* SPDX-License-Identifier: BSD-3-Clause */
#include "interface6.h"

#include "packet6.h"

#include <string.h>

struct interface6 interface6s[RTE_DIM(interfaces)];
bool interface6_enabled[RTE_DIM(interfaces)];

void interfaces6_reset(void)
{
	memset(interface6s, 0, sizeof(interface6s));
	memset(interface6_enabled, 0, sizeof(interface6_enabled));
}

void interface6_enable(struct interface *interface)
{
	interface6_enabled[interface - interfaces] = true;
}

bool interfaces6_any(void)
{
	for (unsigned i = 0; i < RTE_DIM(interfaces); i++)
		if (interface6_enabled[i])
			return true;
	return false;
}

static const char *set_link_local(struct interface *interface, const uint8_t *address)
{
	struct interface6 *own = interface6_of(interface);

	if (own->has_link_local)
		return "an interface has one link-local address";
	own->has_link_local = true;
	memcpy(own->link_local, address, IP6_BYTES);
	interface6_enable(interface);
	return NULL;
}

static const char *address_conflict(
	const struct interface *interface, const uint8_t *address, uint8_t length)
{
	for (unsigned p = 0; p < RTE_DIM(interfaces); p++)
		for (unsigned i = 0; i < interface6s[p].nb_addresses; i++) {
			const struct interface6_address *other = &interface6s[p].addresses[i];

			if (ip6_same(other->address, address))
				return "an interface has that address already";
			if (&interfaces[p] != interface &&
				ip6_prefix_covers(
					other->address, RTE_MIN(other->length, length), address))
				return "that subnet overlaps with another interface's";
		}
	return NULL;
}

const char *interface6_add_address(
	struct interface *interface, const uint8_t *address, uint8_t length)
{
	struct interface6 *own = interface6_of(interface);
	const char *wrong;

	if (length == 0)
		return "expected a prefix length from 1 to 128";
	if (ip6_is_multicast(address) || ip6_is_unspecified(address) || ip6_is_loopback(address))
		return "expected a unicast address";
	if (ip6_is_link_local(address))
		return set_link_local(interface, address);
	wrong = address_conflict(interface, address, length);
	if (wrong != NULL)
		return wrong;
	if (own->nb_addresses == INTERFACE_ADDRESSES_MAX)
		return "an interface can have 16 addresses";
	own->addresses[own->nb_addresses].length = length;
	memcpy(own->addresses[own->nb_addresses++].address, address, IP6_BYTES);
	interface6_enable(interface);
	return NULL;
}

void interfaces6_create(void)
{
	for (unsigned i = 0; i < RTE_DIM(interfaces); i++)
		if (interface6_enabled[i] && !interface6s[i].has_link_local) {
			ip6_set_link_local(&interfaces[i].port->mac, interface6s[i].link_local);
			interface6s[i].has_link_local = true;
		}
}

static const struct interface6_address *covering(
	const struct interface *interface, const uint8_t *address)
{
	const struct interface6 *own = interface6_of(interface);

	for (unsigned i = 0; i < own->nb_addresses; i++)
		if (ip6_prefix_covers(own->addresses[i].address, own->addresses[i].length, address))
			return &own->addresses[i];
	return NULL;
}

struct interface *interface6_holding(const uint8_t *address)
{
	for (unsigned i = 0; i < RTE_DIM(interfaces); i++)
		if (covering(&interfaces[i], address) != NULL)
			return &interfaces[i];
	return NULL;
}

bool interface6_on_link(const struct interface *interface, const uint8_t *address)
{
	return ip6_is_link_local(address) || covering(interface, address) != NULL;
}

bool interface6_owns(const struct interface *interface, const uint8_t *address)
{
	const struct interface6 *own = interface6_of(interface);

	if (own->has_link_local && ip6_same(own->link_local, address))
		return true;
	for (unsigned i = 0; i < own->nb_addresses; i++)
		if (ip6_same(own->addresses[i].address, address))
			return true;
	return false;
}

bool interfaces6_own(const uint8_t *address)
{
	for (unsigned i = 0; i < RTE_DIM(interfaces); i++)
		if (interface6_owns(&interfaces[i], address))
			return true;
	return false;
}

const uint8_t *interface6_source(const struct interface *interface, const uint8_t *peer)
{
	const struct interface6_address *own = covering(interface, peer);

	return own != NULL ? own->address : interface6_of(interface)->link_local;
}

const uint8_t *interface6_global(const struct interface *interface)
{
	const struct interface6 *own = interface6_of(interface);

	for (unsigned i = 0; i < RTE_DIM(interfaces) && own->nb_addresses == 0; i++)
		own = &interface6s[i];
	return own->nb_addresses == 0 ? NULL : own->addresses[0].address;
}

bool interfaces6_have(const uint8_t *prefix, uint8_t length)
{
	for (unsigned p = 0; p < RTE_DIM(interfaces); p++)
		for (unsigned i = 0; i < interface6s[p].nb_addresses; i++) {
			const struct interface6_address *own = &interface6s[p].addresses[i];

			if (length == own->length &&
				ip6_prefix_covers(own->address, length, prefix))
				return true;
			if (length == 128 && ip6_same(own->address, prefix))
				return true;
		}
	return false;
}
