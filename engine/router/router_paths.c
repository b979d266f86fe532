/* SPDX-License-Identifier: BSD-3-Clause */
/* The paths of a route or label in the "router" object. */
#include "load_balance.h"
#include "router_config.h"

#include <rte_common.h>

static bool read_out_labels(const struct config_node *node, struct router_order *order)
{
	struct config_node array = config_child(node, "out_labels");

	if (json_array_size(array.json) > ADJACENCY_LABELS_MAX) {
		config_mistake(&array, "at most %d labels", ADJACENCY_LABELS_MAX);
		return false;
	}
	CONFIG_EACH (item, &array) {
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
	good &= config_address(node, "via", &order.via);
	if (good)
		router_take(node, &order);
}

void router_read_paths(const struct config_node *node, const struct router_order *order)
{
	static const char *const keys[] = {ROUTER_PATH_KEYS};
	struct config_node paths = config_child(node, "paths");

	if (paths.json == NULL) {
		read_path(node, order);
		return;
	}
	for (unsigned i = 0; i < RTE_DIM(keys); i++)
		if (json_object_get(node->json, keys[i]) != NULL)
			config_mistake(&paths, "expected this or \"%s\", found both", keys[i]);
	if (json_is_array(paths.json) && json_array_size(paths.json) == 0)
		config_mistake(&paths, "expected one path at least");
	CONFIG_EACH (item, &paths)
		if (config_object(&item, ROUTER_PATH_KEYS))
			read_path(&item, order);
}
