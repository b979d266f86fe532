/* SPDX-License-Identifier: BSD-3-Clause */
/* Offload rules of a device that DPDK drives. Return values as rte_flow's. */
#ifndef LINERATE_ETHDEV_FLOW_H
#define LINERATE_ETHDEV_FLOW_H

#include <rte_flow.h>
#include <stdint.h>

/* Before the device is configured: asks it to hand rules' marks over with the packets. */
void ethdev_flow_want_marks(uint16_t port_id);
int ethdev_flow_validate(uint16_t port_id, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error);
struct rte_flow *ethdev_flow_create(uint16_t port_id, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error);
int ethdev_flow_destroy(uint16_t port_id, struct rte_flow *flow, struct rte_flow_error *error);
int ethdev_flow_flush(uint16_t port_id, struct rte_flow_error *error);
int ethdev_flow_count(uint16_t port_id, struct rte_flow *flow, struct rte_flow_query_count *count,
	struct rte_flow_error *error);

#endif
