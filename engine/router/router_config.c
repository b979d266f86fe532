/* SPDX-License-Identifier: BSD-3-Clause */
/* The "router" object of the configuration: JSON, and the CLI text that it names. */
#include "cli.h"
#include "interface6.h"
#include "mpls.h"
#include "neighbor.h"
#include "orders.h"
#include "route_list.h"
#include "router.h"
#include "router_config.h"
#include "routes_file.h"
#include "text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_text(
	const struct config_node *node, const char *file, const char *text, size_t length)
{
	unsigned first = orders_count(), first_route = route_list_count();

	node->config->mistakes += cli_parse(file, text, length, order_read, NULL, stderr);
	for (unsigned i = first; i < orders_count(); i++) {
		const char *wrong = order_check(order_at(i));

		if (wrong == NULL)
			continue;
		fprintf(stderr, "%s:%u: %s\n", file, order_at(i)->line, wrong);
		node->config->mistakes++;
	}
	node->config->mistakes += route_list_check(first_route, file, stderr);
}

static void read_plain_routes(
	const struct config_node *node, const char *file, const char *text, size_t length)
{
	unsigned first_route = route_list_count();

	node->config->mistakes += routes_file_parse(file, text, length, order_read, NULL, stderr);
	node->config->mistakes += route_list_check(first_route, file, stderr);
}

/* A relative name is relative to the folder of the configuration file. */
static void cli_path(const struct config *config, const char *name, char *path, size_t size)
{
	const char *slash = strrchr(config->file, '/');

	if (name[0] == '/' || slash == NULL)
		snprintf(path, size, "%s", name);
	else
		snprintf(path, size, "%.*s/%s", (int)(slash - config->file), config->file, name);
}

static void read_file(const struct config_node *node, const char *key,
	void (*read)(const struct config_node *, const char *, const char *, size_t))
{
	struct config_node child = config_child(node, key);
	const char *name = config_string(node, key, NULL);
	char path[4096], *text;
	size_t length;

	if (name == NULL)
		return;
	cli_path(node->config, name, path, sizeof(path));
	text = text_file_read(path, &length);
	if (text == NULL)
		config_mistake(&child, "cannot read %s: %s", path, strerror(errno));
	else
		read(&child, path, text, length);
	free(text);
}

static void read_cli(const struct config_node *node)
{
	const char *text = config_string(node, "cli", NULL);
	char label[256];

	read_file(node, "cli_file", read_text);
	if (text != NULL) {
		snprintf(label, sizeof(label), "%s: forwarder.router.cli", node->config->file);
		read_text(node, label, text, strlen(text));
	}
}

void router_take(const struct config_node *node, const struct router_order *order)
{
	const char *wrong = order_check(order);

	if (wrong == NULL)
		wrong = order_read(NULL, order);
	if (wrong != NULL)
		config_mistake(node, "%s", wrong);
}

bool router_read_port(const struct config_node *node, struct router_order *order, bool required)
{
	struct config_node key = config_child(node, "port");
	const char *name =
		required ? config_required(node, "port") : config_string(node, "port", NULL);

	if (name == NULL)
		return true;
	if (interface_find(name) == NULL) {
		if (name[0] != '\0')
			config_mistake(&key, "expected one of the router's interfaces");
		return false;
	}
	snprintf(order->interface, sizeof(order->interface), "%s", name);
	return true;
}

static uint16_t read_vlan_id(const struct config_node *node, const char *key)
{
	return (uint16_t)config_u64(node, key, 0, 1, VLAN_ID_MAX);
}

/* "port" and "vlan" name the sub-interface PORT.VLAN, or PORT.VLAN.INNER with two tags. */
static bool read_sub_interface(const struct config_node *node, struct router_order *order)
{
	const struct vlan_tags tags = {
		.dot1ad = config_bool(node, "dot1ad", false),
		.outer = read_vlan_id(node, "vlan"),
		.inner = read_vlan_id(node, "inner_vlan"),
	};
	struct config_node vlan = config_child(node, "vlan");
	struct interface *interface = interface_find(order->interface);
	char name[2 * INTERFACE_NAME_BYTES];
	const char *wrong;

	if (vlan.json == NULL && (tags.dot1ad || tags.inner != 0))
		config_mistake(&vlan, "expected the VLAN id of the outer tag, found nothing");
	if (tags.outer == 0)
		return vlan.json == NULL;
	snprintf(name, sizeof(name), tags.inner == 0 ? "%s.%u" : "%s.%u.%u", interface->name,
		tags.outer, tags.inner);
	wrong = sub_interface_create(interface, name, &tags, &interface);
	if (wrong != NULL)
		config_mistake(&vlan, "%s", wrong);
	else
		snprintf(order->interface, sizeof(order->interface), "%s", interface->name);
	return wrong == NULL;
}

static void read_mtu(const struct config_node *node, struct router_order *order)
{
	struct config_node mtu = config_child(node, "mtu");

	if (mtu.json == NULL)
		return;
	order->kind = ORDER_INTERFACE_MTU;
	order->number = (uint32_t)config_u64(node, "mtu", 0, INTERFACE_MTU_MIN, UINT16_MAX);
	if (order->number != 0)
		router_take(&mtu, order);
}

static void read_interface(const struct config_node *node)
{
	static const char *const rpf[] = {"off", "loose", "strict", NULL};
	struct config_node addresses = config_child(node, "addresses");
	struct router_order order = {.kind = ORDER_INTERFACE_STATE};

	config_known(node, "port", "vlan", "inner_vlan", "dot1ad", "addresses", "mpls", "ip6",
		"mtu", "rpf", "up");
	if (!router_read_port(node, &order, true) || order.interface[0] == '\0' ||
		!read_sub_interface(node, &order))
		return;
	order.on = config_bool(node, "up", true);
	router_take(node, &order);
	order.kind = ORDER_INTERFACE_MPLS;
	order.on = config_bool(node, "mpls", false);
	router_take(node, &order);
	read_mtu(node, &order);
	order.kind = ORDER_INTERFACE_URPF;
	order.urpf = (uint8_t)config_choice(node, "rpf", rpf, INTERFACE_URPF_OFF);
	router_take(node, &order);
	order.kind = ORDER_INTERFACE_IP6;
	if (config_bool(node, "ip6", false))
		router_take(node, &order);
	order.kind = ORDER_INTERFACE_ADDRESS;
	CONFIG_EACH (item, &addresses)
		if (config_prefix(&item, &order.address, &order.length))
			router_take(&item, &order);
}

static void read_route(const struct config_node *node)
{
	struct config_node prefix = config_child(node, "prefix");
	struct router_order order = {.kind = ORDER_ROUTE_ADD};

	config_known(node, "prefix", ROUTER_PATH_KEYS, "paths");
	if (config_prefix(&prefix, &order.address, &order.length))
		router_read_paths(node, &order);
}

static void read_neighbor(const struct config_node *node)
{
	struct config_node mac = config_child(node, "mac");
	struct router_order order = {.kind = ORDER_NEIGHBOR};
	bool good = router_read_port(node, &order, true);

	config_known(node, "port", "address", "mac");
	good &= config_address(node, "address", &order.address);
	if (mac.json == NULL)
		config_mistake(&mac, "expected a MAC address, found nothing");
	good &= config_mac(node, "mac", &order.mac);
	if (good)
		router_take(node, &order);
}

/* Without a path the label is taken off and what is beneath it is looked up. */
static void read_label(const struct config_node *node)
{
	struct config_node label = config_child(node, "label"), via = config_child(node, "via");
	struct router_order order = {.kind = ORDER_LABEL_ADD};

	config_known(node, "label", "eos", ROUTER_PATH_KEYS, "paths");
	if (label.json == NULL)
		config_mistake(&label, "expected a label from 16 to 1048575, found nothing");
	order.number = (uint32_t)config_u64(node, "label", 0, 16, (1 << 20) - 1);
	order.on = config_bool(node, "eos", true);
	order.lookup = via.json == NULL && json_object_get(node->json, "paths") == NULL;
	if (order.number == 0)
		return;
	if (!order.lookup)
		router_read_paths(node, &order);
	else if (json_object_get(node->json, "out_labels") != NULL)
		config_mistake(&via, "expected the next hop of \"out_labels\", found nothing");
	else
		router_take(node, &order);
}

/* One TTL for IP and labels, or each its own (RFC 3443). */
static void read_mpls_ttl(const struct config_node *node)
{
	struct config_node key = config_child(node, "mpls_ttl");
	const char *model = config_string(node, "mpls_ttl", "uniform");
	bool pipe = strcmp(model, "pipe") == 0;

	if (!pipe && strcmp(model, "uniform") != 0)
		config_mistake(&key, "expected \"uniform\" or \"pipe\"");
	mpls_set_pipe(pipe);
}

static void read_each(const struct config_node *node, const char *key,
	void (*read)(const struct config_node *node))
{
	struct config_node array = config_child(node, key);

	CONFIG_EACH (item, &array)
		if (config_is_object(&item))
			read(&item);
}

void router_parse(const struct config_node *node)
{
	bool cli = json_object_get(node->json, "cli_file") != NULL ||
		   json_object_get(node->json, "cli") != NULL;

	/* As with VPP, text must bring its interfaces up itself. */
	interfaces_reset(!cli);
	interfaces6_reset();
	if (!config_object(node, "cli_file", "cli", "interfaces", "martians", "routes",
		    "routes_file", "neighbors", "neighbor_timeout_s", "mpls", "mpls_ttl"))
		return;
	read_mpls_ttl(node);
	interfaces_martians = config_bool(node, "martians", false);
	neighbors_set_timeout(
		(unsigned)config_u64(node, "neighbor_timeout_s", NEIGHBOR_TIMEOUT_S, 1, 86400));
	read_each(node, "interfaces", read_interface);
	read_cli(node);
	read_each(node, "routes", read_route);
	read_file(node, "routes_file", read_plain_routes);
	read_each(node, "neighbors", read_neighbor);
	read_each(node, "mpls", read_label);
}
