/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_flow's asynchronous API: rules made from templates, ordered on a queue, pushed to the device
 * in batches, their results pulled. A device is configured for it before it starts, and few have
 * it: mlx5 alone in DPDK 22.11.
 */
#ifndef LINERATE_ETHDEV_FLOW_ASYNC_H
#define LINERATE_ETHDEV_FLOW_ASYNC_H

#include "port.h"

#include <rte_flow.h>
#include <stdint.h>

/* Calls of one device; DPDK's are `ethdev_flow_async_dpdk`. */
struct flow_async_calls {
	int (*info_get)(uint16_t port_id, struct rte_flow_port_info *port,
		struct rte_flow_queue_info *queue, struct rte_flow_error *error);
	int (*configure)(uint16_t port_id, const struct rte_flow_port_attr *port,
		uint16_t nb_queues, const struct rte_flow_queue_attr *queues[],
		struct rte_flow_error *error);
	struct rte_flow_pattern_template *(*pattern_create)(uint16_t port_id,
		const struct rte_flow_pattern_template_attr *attr,
		const struct rte_flow_item *pattern, struct rte_flow_error *error);
	int (*pattern_destroy)(uint16_t port_id, struct rte_flow_pattern_template *pattern,
		struct rte_flow_error *error);
	struct rte_flow_actions_template *(*actions_create)(uint16_t port_id,
		const struct rte_flow_actions_template_attr *attr,
		const struct rte_flow_action *actions, const struct rte_flow_action *masks,
		struct rte_flow_error *error);
	int (*actions_destroy)(uint16_t port_id, struct rte_flow_actions_template *actions,
		struct rte_flow_error *error);
	struct rte_flow_template_table *(*table_create)(uint16_t port_id,
		const struct rte_flow_template_table_attr *attr,
		struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
		struct rte_flow_actions_template *actions[], uint8_t nb_actions,
		struct rte_flow_error *error);
	int (*table_destroy)(uint16_t port_id, struct rte_flow_template_table *table,
		struct rte_flow_error *error);
	struct rte_flow *(*create)(uint16_t port_id, uint32_t queue,
		const struct rte_flow_op_attr *attr, struct rte_flow_template_table *table,
		const struct rte_flow_item *pattern, uint8_t pattern_template,
		const struct rte_flow_action *actions, uint8_t actions_template, void *user,
		struct rte_flow_error *error);
	int (*destroy)(uint16_t port_id, uint32_t queue, const struct rte_flow_op_attr *attr,
		struct rte_flow *flow, void *user, struct rte_flow_error *error);
	int (*push)(uint16_t port_id, uint32_t queue, struct rte_flow_error *error);
	int (*pull)(uint16_t port_id, uint32_t queue, struct rte_flow_op_result *results,
		uint16_t count, struct rte_flow_error *error);
};

extern const struct flow_async_calls ethdev_flow_async_dpdk;

/* One device's part. */
struct flow_async {
	const struct flow_async_calls *calls;
	uint16_t port_id;
	uint32_t queue_size; /* operations that its queue holds; 0: it has no such API */
	char why_not[96];
};

/* Configured and not started: asks the device, and configures one queue of at most that size. */
void flow_async_configure(struct flow_async *async, const struct flow_async_calls *calls,
	uint16_t port_id, uint32_t queue_size);
/* As the port_flow_batch() of port.h. */
int flow_async_batch(
	struct flow_async *async, struct port_flow_batch *batch, struct rte_flow_error *error);

#endif
