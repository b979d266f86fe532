/* SPDX-License-Identifier: BSD-3-Clause */
#include "orders.h"

#include "core/node.h"
#include "load_balance.h"
#include "neighbor.h"
#include "route_list.h"
#include "router.h"
#include "routes6.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMPLICIT_NULL 3
/* Prefixes that may be added while running: hosts on the subnets, changes. */
#define PREFIXES_TO_SPARE 16384
#define ADJACENCIES_TO_SPARE (3 * NEIGHBORS_MAX)

static struct router_order *orders;
static unsigned nb_orders, max_orders;

static bool orders_keep(const struct router_order *order)
{
	if (nb_orders == max_orders) {
		unsigned max = max_orders == 0 ? 256 : 2 * max_orders;
		struct router_order *more = realloc(orders, max * sizeof(*orders));

		if (more == NULL)
			return false;
		orders = more;
		max_orders = max;
	}
	orders[nb_orders++] = *order;
	return true;
}

static bool order_is_of_interface(const struct router_order *order)
{
	switch (order->kind) {
	case ORDER_INTERFACE_STATE:
	case ORDER_INTERFACE_ADDRESS:
	case ORDER_INTERFACE_MPLS:
	case ORDER_INTERFACE_MTU:
	case ORDER_INTERFACE_URPF:
	case ORDER_INTERFACE_IP6:
	case ORDER_SUB_INTERFACE:
		return true;
	default:
		return false;
	}
}

/* As VPP names it: by the port and a number of its own. */
static const char *read_sub_interface(const struct router_order *order, struct interface *port)
{
	char name[2 * INTERFACE_NAME_BYTES];

	snprintf(name, sizeof(name), "%s.%u", port->name, order->number);
	if (strlen(name) >= INTERFACE_NAME_BYTES)
		return "the sub-interface's name is too long";
	return sub_interface_create(port, name, &order->vlan, &port);
}

/* One order for all routes that follow each other. */
static bool routes_keep(const struct router_order *order, const struct interface *interface)
{
	const struct router_order run = {
		.kind = ORDER_ROUTES, .line = order->line, .number = route_list_count()};

	if (!route_list_keep(order, interface))
		return false;
	if ((nb_orders == 0 || orders[nb_orders - 1].kind != ORDER_ROUTES) && !orders_keep(&run))
		return false;
	orders[nb_orders - 1].count++;
	return true;
}

const char *order_read(__rte_unused void *context, const struct router_order *order)
{
	struct interface *interface =
		order->interface[0] == '\0' ? NULL : interface_find(order->interface);

	if (interface == NULL && (order->interface[0] != '\0' || order_is_of_interface(order)))
		return "that is none of the router's interfaces";
	switch (order->kind) {
	case ORDER_INTERFACE_STATE:
		interface->up = order->on;
		return NULL;
	case ORDER_INTERFACE_MPLS:
		interface->mpls = order->on;
		return NULL;
	case ORDER_INTERFACE_URPF:
		interface->urpf = order->urpf;
		return NULL;
	case ORDER_INTERFACE_IP6:
		interface6_enable(interface);
		return NULL;
	case ORDER_INTERFACE_ADDRESS:
		if (order->address.family == ADDRESS_IP6)
			return interface6_add_address(interface, order->address.ip6, order->length);
		return interface_add_address(interface, order->address.ip4, order->length);
	case ORDER_INTERFACE_MTU:
		return interface_set_mtu(interface, order->number);
	case ORDER_SUB_INTERFACE:
		return read_sub_interface(order, interface);
	case ORDER_NEIGHBOR:
		if (rte_is_multicast_ether_addr(&order->mac) || rte_is_zero_ether_addr(&order->mac))
			return "expected the MAC address of one station";
		break;
	case ORDER_ROUTE_ADD:
		if (order->nb_labels > 0 || order->weight > 1 ||
			order->address.family == ADDRESS_IP6)
			break;
		return routes_keep(order, interface) ? NULL : "out of memory";
	default:
		break;
	}
	return orders_keep(order) ? NULL : "out of memory";
}

static struct interface *order_interface(const struct router_order *order)
{
	if (order->interface[0] != '\0')
		return interface_find(order->interface);
	return order->via.family == ADDRESS_IP6 ? interface6_holding(order->via.ip6)
						: interface_of(order->via.ip4);
}

unsigned orders_count(void)
{
	return nb_orders;
}

const struct router_order *order_at(unsigned index)
{
	return &orders[index];
}

static bool order_has_next_hop(const struct router_order *order)
{
	return order->kind == ORDER_ROUTE_ADD || order->kind == ORDER_ROUTE_REPLACE ||
	       (order->kind == ORDER_LABEL_ADD && !order->lookup);
}

static bool order_is_of_router(const struct router_order *order)
{
	return order->via.family == ADDRESS_IP6 ? interfaces6_own(order->via.ip6)
						: interface_owner(order->via.ip4) != NULL;
}

static bool order_hides_own(const struct router_order *order)
{
	return order->address.family == ADDRESS_IP6
		       ? interfaces6_have(order->address.ip6, order->length)
		       : interfaces_have(order->address.ip4, order->length);
}

/* RFC 4291 2.5.6: what is of one link only. */
static const char *order_check_ip6(const struct router_order *order)
{
	const uint8_t *via = order->via.ip6;

	if (order->kind == ORDER_ROUTE_ADD && order->length >= 10 &&
		ip6_is_link_local(order->address.ip6))
		return "link-local addresses are not routed";
	if (ip6_is_multicast(via) || ip6_is_unspecified(via) || ip6_is_loopback(via))
		return "expected a next hop with a unicast address";
	if (ip6_is_link_local(via) && order->interface[0] == '\0')
		return "a link-local next hop is on every link: name the interface";
	return NULL;
}

static const char *order_check_next_hop(const struct router_order *order)
{
	const char *wrong = NULL;

	for (unsigned i = 0; i < order->nb_labels; i++)
		if (order->labels[i] == IMPLICIT_NULL && order->nb_labels > 1)
			return "label 3, implicit null, is never in a stack: leave it out";
	if (order->kind != ORDER_LABEL_ADD && order->via.family == ADDRESS_IP6 &&
		(order->nb_labels > 0 || order->weight > 0))
		return "an IPv6 route has one next hop, without labels";
	if (order->kind != ORDER_LABEL_ADD && order->address.family != order->via.family)
		return "prefix and next hop are one IPv4, the other IPv6";
	if (order->via.family == ADDRESS_IP6)
		wrong = order_check_ip6(order);
	if (wrong != NULL)
		return wrong;
	if (order_is_of_router(order))
		return "the next hop is the router itself";
	if (order->kind != ORDER_LABEL_ADD && order_hides_own(order))
		return "the prefix is an interface's own subnet or address";
	if (order_interface(order) == NULL)
		return "the next hop is on no interface's subnet, and no interface is named";
	if (order->via.family == ADDRESS_IP6 && !interface6_is_enabled(order_interface(order)))
		return "the interface has no IPv6 address";
	return NULL;
}

/* RFC 3032 2.1: implicit null is never on the wire; it asks for no label. */
static uint8_t order_labels(const struct router_order *order)
{
	return order->nb_labels == 1 && order->labels[0] == IMPLICIT_NULL ? 0 : order->nb_labels;
}

const char *order_check(const struct router_order *order)
{
	if (order_has_next_hop(order))
		return order_check_next_hop(order);
	if (order->kind == ORDER_NEIGHBOR && order->address.family == ADDRESS_IP6 &&
		!interface6_is_enabled(order_interface(order)))
		return "the interface has no IPv6 address";
	return NULL;
}

static int apply_route_add(const struct router_order *order, const struct route_path *path)
{
	if (order->address.family == ADDRESS_IP6)
		return route6_add(
			order->address.ip6, order->length, path->interface, order->via.ip6);
	if (order->kind == ORDER_ROUTE_REPLACE)
		return route_replace(order->address.ip4, order->length, path);
	return route_add(order->address.ip4, order->length, path);
}

static int apply_route_delete(const struct router_order *order, const struct route_path *path)
{
	if (order->address.family == ADDRESS_IP6)
		return interfaces6_any() ? route6_delete(order->address.ip6, order->length)
					 : -ENOENT;
	if (order->one_path)
		return route_delete_path(order->address.ip4, order->length, path);
	return route_delete(order->address.ip4, order->length);
}

int router_apply(const struct router_order *order)
{
	struct interface *interface = order_interface(order);
	const struct route_path path = {
		.interface = order->one_path && order->interface[0] == '\0' ? NULL : interface,
		.via = order->via,
		.weight = order->weight,
		.nb_labels = order_labels(order),
		.labels = order->labels,
	};

	if (order_check(order) != NULL)
		return -EHOSTUNREACH;
	switch (order->kind) {
	case ORDER_INTERFACE_STATE:
		interface_set_state(interface, order->on);
		rte_spinlock_lock(&router_lock);
		load_balances_refresh();
		rte_spinlock_unlock(&router_lock);
		return 0;
	case ORDER_INTERFACE_MPLS:
		interface->mpls = order->on;
		return 0;
	case ORDER_INTERFACE_MTU:
		return interface_set_mtu(interface, order->number) == NULL ? 0 : -EINVAL;
	case ORDER_INTERFACE_URPF:
		interface_set_urpf(interface, order->urpf);
		return 0;
	case ORDER_ROUTE_ADD:
	case ORDER_ROUTE_REPLACE:
		return apply_route_add(order, &path);
	case ORDER_ROUTES:
		return route_list_apply(order->number, order->count);
	case ORDER_ROUTE_DELETE:
		return apply_route_delete(order, &path);
	case ORDER_NEIGHBOR:
		return neighbor_set_static(interface, order->address, &order->mac);
	case ORDER_LABEL_ADD:
		if (order->lookup) {
			label_add_lookup(order->number, order->on);
			return 0;
		}
		return label_add(order->number, order->on, &path);
	case ORDER_LABEL_DELETE:
		if (order->one_path)
			return label_delete_path(order->number, order->on, &path);
		return label_delete(order->number, order->on);
	default:
		return -EINVAL;
	}
}

static const char *order_failure(int rc)
{
	switch (rc) {
	case 0:
		return NULL;
	case -ENOENT:
		return "there is no such route or label";
	case -EEXIST:
		return "the prefix is an interface's own subnet or address";
	case -ENOSPC:
		return "no room for another next hop, or for another /24 with longer prefixes";
	default:
		return strerror(-rc);
	}
}

const char *router_change(__rte_unused void *context, const struct router_order *order)
{
	const char *wrong;

	if (order->kind == ORDER_INTERFACE_ADDRESS || order->kind == ORDER_SUB_INTERFACE)
		return "that cannot be changed while the router runs";
	if (order->interface[0] != '\0' && interface_find(order->interface) == NULL)
		return "that is none of the router's interfaces";
	wrong = order_check(order);
	return wrong != NULL ? wrong : order_failure(router_apply(order));
}

int router_create(void)
{
	unsigned labels = 0, prefixes6 = 0, routes;
	int rc;

	for (unsigned i = 0; i < nb_orders; i++) {
		labels += orders[i].kind == ORDER_LABEL_ADD || orders[i].nb_labels > 0;
		prefixes6 += orders[i].address.family == ADDRESS_IP6;
	}
	neighbors_reset();
	rc = adjacencies_create(ADJACENCIES_TO_SPARE + LOAD_BALANCES_MAX + labels);
	if (rc == 0)
		rc = load_balances_create();
	if (rc == 0)
		rc = interfaces_create();
	routes = nb_orders - prefixes6 + route_list_count();
	if (rc == 0)
		rc = routes_create_fixed();
	if (rc == 0)
		rc = routes6_create_fixed();
	if (rc == 0)
		rc = routes_create(routes + PREFIXES_TO_SPARE);
	if (rc == 0 && interfaces6_any())
		rc = routes6_create(prefixes6 + PREFIXES_TO_SPARE);
	for (unsigned i = 0; i < nb_orders && rc == 0; i++) {
		rc = router_apply(&orders[i]);
		/* VPP's CLI goes on after deleting what is not there; a file may do so too. */
		if (rc == -ENOENT)
			rc = 0;
		if (rc != 0 && orders[i].kind != ORDER_ROUTES)
			fprintf(stderr, "router: order %u (line %u): %s\n", i + 1, orders[i].line,
				strerror(-rc));
	}
	route_list_free();
	free(orders);
	orders = NULL;
	nb_orders = max_orders = 0;
	return rc;
}
