/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and VLAN tags as parameters of commands. */
#ifndef LINERATE_ADDRESS_KEYS_H
#define LINERATE_ADDRESS_KEYS_H

#include "tester/responder_frame.h"
#include "keys.h"

/* Each reads the value of a key that was given; false when it is wrong (a mistake then). The family
 * may be ADDRESS_NONE: any. */
bool keys_address(struct keys *keys, const char *name, enum address_family family,
	struct ip_address *address);
/* "A/LENGTH"; of "A" alone the prefix has the address only. */
bool keys_prefix(struct keys *keys, const char *name, enum address_family family,
	struct ip_address *address, uint8_t *length);
/* "vlan": "V" or "V:INNER"; none, when it was not given. Returns whether it was. */
bool keys_tags(struct keys *keys, struct host_tags *tags);

#endif
