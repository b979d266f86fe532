/* SPDX-License-Identifier: BSD-3-Clause */
/* One line of the router's configuration, whichever grammar it was read from. */
#ifndef LINERATE_ROUTER_ORDER_H
#define LINERATE_ROUTER_ORDER_H

#include "core/ip_address.h"
#include "adjacency.h"
#include "interface.h"

#include <rte_ether.h>
#include <stdbool.h>
#include <stdint.h>

enum router_order_kind {
	ORDER_INTERFACE_STATE,
	ORDER_INTERFACE_ADDRESS,
	ORDER_INTERFACE_MPLS,
	ORDER_INTERFACE_MTU,
	ORDER_INTERFACE_URPF,
	ORDER_SUB_INTERFACE,
	ORDER_INTERFACE_IP6,
	ORDER_ROUTE_ADD,
	ORDER_ROUTE_REPLACE,
	ORDER_ROUTE_DELETE,
	ORDER_NEIGHBOR,
	ORDER_LABEL_ADD,
	ORDER_LABEL_DELETE,
	ORDER_NOTHING,
	ORDER_ROUTES, /* never read: routes of route_list.h */
};

struct router_order {
	uint8_t kind;   /* enum router_order_kind */
	uint8_t length; /* of the prefix */
	bool on;        /* up, enabled; the label is at the bottom of the stack */
	bool lookup;    /* a label's next hop is a lookup of what is beneath */
	bool one_path;  /* of a route or label to be deleted, only the path that follows */
	uint8_t nb_labels;
	uint16_t weight; /* of the path; 0: none was given */
	uint8_t urpf;    /* enum interface_urpf */
	struct rte_ether_addr mac;
	struct vlan_tags vlan;     /* of a sub-interface */
	struct ip_address address; /* or prefix */
	struct ip_address via;     /* next hop */
	uint32_t number;           /* label, sub-interface's number, MTU or first of ORDER_ROUTES */
	uint32_t count;            /* of ORDER_ROUTES */
	unsigned line;
	char interface[INTERFACE_NAME_BYTES]; /* its name; "" when none was given */
	uint32_t labels[ADJACENCY_LABELS_MAX];
};

/* Receives the orders in turn. Returns NULL, or a message about what is wrong with the order. */
typedef const char *(*router_sink_t)(void *context, const struct router_order *order);

#endif
