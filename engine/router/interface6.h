/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv6 part of an interface: addresses, one of them link-local. An interface has IPv6 when it has
 * an address or is configured so; then it gets a link-local address (RFC 4291 appendix A) unless
 * one was given.
 */
#ifndef LINERATE_INTERFACE6_H
#define LINERATE_INTERFACE6_H

#include "core/ip_address.h"
#include "interface.h"

struct interface6_address {
	uint8_t address[IP6_BYTES];
	uint8_t length;
};

struct interface6 {
	uint32_t glean; /* adjacency of hosts on its subnets whose neighbour is not known yet */
	bool has_link_local;
	uint8_t link_local[IP6_BYTES];
	unsigned nb_addresses; /* without the link-local one */
	struct interface6_address addresses[INTERFACE_ADDRESSES_MAX];
};

extern struct interface6 interface6s[RTE_DIM(interfaces)];
/* By mbuf->port: the interface has IPv6. */
extern bool interface6_enabled[RTE_DIM(interfaces)];

static inline struct interface6 *interface6_of(const struct interface *interface)
{
	return &interface6s[interface - interfaces];
}

static inline bool interface6_is_enabled(const struct interface *interface)
{
	return interface6_enabled[interface - interfaces];
}

void interfaces6_reset(void);
void interface6_enable(struct interface *interface);
/* NULL, or what is wrong with the address. */
const char *interface6_add_address(
	struct interface *interface, const uint8_t *address, uint8_t length);
/* Some interface has IPv6. */
bool interfaces6_any(void);
/* With MAC addresses known: the link-local addresses that were not given. */
void interfaces6_create(void);

/* The one whose subnet holds the address, or NULL; NULL for link-local ones, which are on all. */
struct interface *interface6_holding(const uint8_t *address);
/* Link-local, or on one of the interface's subnets. */
bool interface6_on_link(const struct interface *interface, const uint8_t *address);
/* The interface has the address itself. */
bool interface6_owns(const struct interface *interface, const uint8_t *address);
bool interfaces6_own(const uint8_t *address);
/* The interface's own address to use towards `peer` on the link. */
const uint8_t *interface6_source(const struct interface *interface, const uint8_t *peer);
/* An address that is good beyond the link, the interface's own if it has one, or NULL. */
const uint8_t *interface6_global(const struct interface *interface);
/* The prefix is one that an interface's address implies. */
bool interfaces6_have(const uint8_t *prefix, uint8_t length);

#endif
