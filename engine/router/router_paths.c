/* SPDX-License-Identifier: BSD-3-Clause */
/* The paths of a route or label in the "router" object. */
#include "load_balance.h"
#include "router_config.h"

#include <rte_common.h>

static bool read_out_labels(const struct config_node *node, struct router_order *order)
{
	struct config_node array = config_child(node, "out_labels");
	size_t count = config_items(&array);

	if (count > ADJACENCY_LABELS_MAX) {
		config_mistake(&array, "at most %d labels", ADJACENCY_LABELS_MAX);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		struct config_node item = config_item(&array, i);
		json_int_t label = json_is_integer(item.json) ? json_integer_value(item.json) : -1;

		if (label < 0 || label >= 1 << 20) {
			config_mistake(&item, "expected a label from 0 to 1048575");
			return false;
		}
		order->labels[order->nb_labels++] = (uint32_t)label;
	}
	return true;
}

static void read_path(const struct config_node *node, const struct router_order *route)
{
	struct router_order order = *route;
	bool good = router_read_port(node, &order, false);

	order.weight = (uint16_t)config_u64(node, "weight", 0, 1, LOAD_BALANCE_WEIGHT_MAX);
	good &= read_out_labels(node, &order);
	good &= router_read_address(node, "via", &order.via);
	if (good)
		router_take(node, &order);
}

void router_read_paths(const struct config_node *node, const struct router_order *order)
{
	static const char *const keys[] = {ROUTER_PATH_KEYS, NULL};
	struct config_node paths = config_child(node, "paths");
	size_t count = config_items(&paths);

	if (paths.json == NULL) {
		read_path(node, order);
		return;
	}
	for (unsigned i = 0; i < RTE_DIM(keys) - 1; i++)
		if (json_object_get(node->json, keys[i]) != NULL)
			config_mistake(&paths, "expected this or \"%s\", found both", keys[i]);
	if (count == 0 && json_is_array(paths.json))
		config_mistake(&paths, "expected one path at least");
	for (size_t i = 0; i < count; i++) {
		struct config_node item = config_item(&paths, i);

		if (!config_is_object(&item))
			continue;
		config_known(&item, keys);
		read_path(&item, order);
	}
}
