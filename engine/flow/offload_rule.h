/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that makes a port look up one direction of a flow: full 5-tuple, MARK and QUEUE. */
#ifndef LINERATE_OFFLOAD_RULE_H
#define LINERATE_OFFLOAD_RULE_H

#include "flow_table.h"

#include <rte_flow.h>
#include <stdbool.h>

#define OFFLOAD_RULE_ITEMS 4   /* eth, IP, upper protocol, end */
#define OFFLOAD_RULE_ACTIONS 3 /* mark, queue, end */

/* Points into itself: not to be copied. */
struct offload_rule {
	struct rte_flow_attr attr;
	struct rte_flow_item pattern[OFFLOAD_RULE_ITEMS];
	struct rte_flow_action actions[OFFLOAD_RULE_ACTIONS];
	union {
		struct rte_flow_item_ipv4 ip4;
		struct rte_flow_item_ipv6 ip6;
	} spec, mask;
	union {
		struct rte_flow_item_tcp tcp;
		struct rte_flow_item_udp udp;
		struct rte_flow_item_sctp sctp;
	} upper_spec, upper_mask;
	struct rte_flow_action_mark mark;
	struct rte_flow_action_queue queue;
};

/*
 * Writes the rule for what one endpoint sends. Returns false for what stays in software: a
 * protocol without ports, and frames with VLAN tags or MPLS labels before the IP header.
 */
bool offload_rule_make(struct offload_rule *rule, const struct flow_view *view,
	enum flow_direction direction, uint32_t mark, uint16_t queue);

#endif
