/* SPDX-License-Identifier: BSD-3-Clause */
#include "address_keys.h"

#include <stdlib.h>
#include <string.h>

#define VLAN_MAX 4094

static bool check_family(struct keys *keys, const char *name, enum address_family family,
	const struct ip_address *address)
{
	if (family == ADDRESS_NONE || address->family == family)
		return true;
	keys_mistake(keys, "%s: expected an IPv%d address", name, (int)family);
	return false;
}

bool keys_address(
	struct keys *keys, const char *name, enum address_family family, struct ip_address *address)
{
	const char *text = keys_get(keys, name), *end = text + strlen(text);

	if (address_read(text, end, address) != end) {
		keys_mistake(keys, "%s: expected an address", name);
		return false;
	}
	return check_family(keys, name, family, address);
}

bool keys_prefix(struct keys *keys, const char *name, enum address_family family,
	struct ip_address *address, uint8_t *length)
{
	const char *text = keys_get(keys, name), *end = text + strlen(text);

	if (strchr(text, '/') == NULL) {
		if (!keys_address(keys, name, family, address))
			return false;
		*length = address->family == ADDRESS_IP6 ? 8 * IP6_BYTES : 32;
		return true;
	}
	if (address_read_prefix(text, end, address, length) != end) {
		keys_mistake(keys, "%s: expected an address, or one with a prefix length", name);
		return false;
	}
	return check_family(keys, name, family, address);
}

/* Returns where the number ends, or NULL. */
static const char *read_vlan(const char *text, uint16_t *vlan)
{
	unsigned long value;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return NULL;
	value = strtoul(text, &end, 10);
	if (value == 0 || value > VLAN_MAX)
		return NULL;
	*vlan = (uint16_t)value;
	return end;
}

bool keys_tags(struct keys *keys, struct host_tags *tags)
{
	const char *text = keys_get(keys, "vlan");

	*tags = (struct host_tags){0};
	if (text == NULL)
		return false;
	text = read_vlan(text, &tags->outer);
	if (text != NULL && *text == ':')
		text = read_vlan(text + 1, &tags->inner);
	if (text == NULL || *text != '\0')
		keys_mistake(keys, "vlan: expected V or V:INNER, each from 1 to %d", VLAN_MAX);
	return true;
}
