/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev_flow.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <string.h>

void ethdev_flow_want_marks(uint16_t port_id)
{
	uint64_t features = RTE_ETH_RX_METADATA_USER_MARK | RTE_ETH_RX_METADATA_USER_FLAG;

	/* Most devices have no such question: their marks come anyway. */
	(void)rte_eth_rx_metadata_negotiate(port_id, &features);
}

/* For a driver without rules DPDK has only the system's message for ENOSYS. */
static void explain(int rc, struct rte_flow_error *error)
{
	if (error == NULL || (rc != -ENOSYS && rc != -ENOTSUP))
		return;
	if (error->message != NULL && strcmp(error->message, rte_strerror(-rc)) == 0)
		error->message = "the device's driver takes no rte_flow rules";
}

int ethdev_flow_validate(uint16_t port_id, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	int rc = rte_flow_validate(port_id, attr, pattern, actions, error);

	explain(rc, error);
	return rc;
}

struct rte_flow *ethdev_flow_create(uint16_t port_id, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	struct rte_flow *flow = rte_flow_create(port_id, attr, pattern, actions, error);

	if (flow == NULL) {
		int rc = rte_errno;

		explain(-rc, error);
		rte_errno = rc;
	}
	return flow;
}

int ethdev_flow_destroy(uint16_t port_id, struct rte_flow *flow, struct rte_flow_error *error)
{
	int rc = rte_flow_destroy(port_id, flow, error);

	explain(rc, error);
	return rc;
}

int ethdev_flow_flush(uint16_t port_id, struct rte_flow_error *error)
{
	int rc = rte_flow_flush(port_id, error);

	explain(rc, error);
	return rc;
}

int ethdev_flow_count(uint16_t port_id, struct rte_flow *flow, struct rte_flow_query_count *count,
	struct rte_flow_error *error)
{
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_COUNT};
	const struct rte_flow_action actions[] = {action, {.type = RTE_FLOW_ACTION_TYPE_END}};
	int rc = rte_flow_query(port_id, flow, actions, count, error);

	explain(rc, error);
	return rc;
}
