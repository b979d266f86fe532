/* SPDX-License-Identifier: BSD-3-Clause */
/* Offload rules on a port of any driver. Who calls need not ask whether the port takes rules. */
#include "port.h"

#include <errno.h>
#include <rte_errno.h>

static int no_rules(struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
		"the port's driver takes no rte_flow rules");
}

int port_flow_validate(struct port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	if (port->driver->flow_validate == NULL)
		return no_rules(error);
	return port->driver->flow_validate(port, attr, pattern, actions, error);
}

struct rte_flow *port_flow_create(struct port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	if (port->driver->flow_create == NULL) {
		(void)no_rules(error);
		return NULL;
	}
	return port->driver->flow_create(port, attr, pattern, actions, error);
}

int port_flow_destroy(struct port *port, struct rte_flow *flow, struct rte_flow_error *error)
{
	if (port->driver->flow_destroy == NULL)
		return no_rules(error);
	return port->driver->flow_destroy(port, flow, error);
}

int port_flow_flush(struct port *port, struct rte_flow_error *error)
{
	if (port->driver->flow_flush == NULL)
		return no_rules(error);
	return port->driver->flow_flush(port, error);
}

int port_flow_count(struct port *port, struct rte_flow *flow, struct rte_flow_query_count *count,
	struct rte_flow_error *error)
{
	if (port->driver->flow_count == NULL)
		return no_rules(error);
	return port->driver->flow_count(port, flow, count, error);
}

int port_flow_batch(struct port *port, struct port_flow_batch *batch, struct rte_flow_error *error)
{
	if (port->driver->flow_batch == NULL)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"the port's driver has no such API");
	return port->driver->flow_batch(port, batch, error);
}
