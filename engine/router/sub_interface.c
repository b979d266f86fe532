/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN sub-interfaces: an interface of the frames of a port that have certain tags. */
#include "core/node.h"
#include "interface.h"

#include <stdio.h>
#include <string.h>

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
