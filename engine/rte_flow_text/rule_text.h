/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules as people type them into dpdk-testpmd, as rte_flow's arrays:
 *
 *   flow create 0 ingress pattern eth / ipv4 src is 10.0.0.1 / end actions queue index 1 / end
 *
 * "flow create N" or "flow validate N" may be left out. Items: eth vlan mpls ipv4 ipv6 udp tcp
 * sctp icmp icmp6 any void; actions: queue mark flag drop count rss jump passthru void.
 */
#ifndef LINERATE_RULE_TEXT_H
#define LINERATE_RULE_TEXT_H

#include "rule_scan.h"

#include <rte_flow.h>
#include <stdbool.h>
#include <stdint.h>

#define RULE_ITEMS_MAX 16
#define RULE_ACTIONS_MAX 16
#define RULE_QUEUES_MAX 64

union rule_header {
	struct rte_flow_item_eth eth;
	struct rte_flow_item_vlan vlan;
	struct rte_flow_item_mpls mpls;
	struct rte_flow_item_ipv4 ipv4;
	struct rte_flow_item_ipv6 ipv6;
	struct rte_flow_item_udp udp;
	struct rte_flow_item_tcp tcp;
	struct rte_flow_item_sctp sctp;
	struct rte_flow_item_icmp icmp;
	struct rte_flow_item_icmp6 icmp6;
	struct rte_flow_item_any any;
};

union rule_conf {
	struct rte_flow_action_queue queue;
	struct rte_flow_action_mark mark;
	struct rte_flow_action_count count;
	struct rte_flow_action_jump jump;
	struct rte_flow_action_rss rss;
};

enum rule_verb {
	RULE_NO_VERB, /* begins with attributes or "pattern" */
	RULE_CREATE,
	RULE_VALIDATE,
};

/* Points into itself: not to be copied. */
struct rule_text {
	enum rule_verb verb;
	uint16_t port; /* behind the verb */
	struct rte_flow_attr attr;
	unsigned nb_items, nb_actions; /* without the ends */
	struct rte_flow_item pattern[RULE_ITEMS_MAX + 1];
	struct rte_flow_action actions[RULE_ACTIONS_MAX + 1];
	union rule_header headers[RULE_ITEMS_MAX][3]; /* spec, last, mask */
	union rule_conf confs[RULE_ACTIONS_MAX];
	unsigned nb_queues;
	uint16_t queues[RULE_QUEUES_MAX]; /* of all rss actions */
};

/* Returns 0, or -1 and fills *mistake. */
int rule_text_parse(const char *text, struct rule_text *rule, struct rule_mistake *mistake);

/* An item with its fields, and an action with its parameters, up to "/". Return false after a
 * mistake. */
bool rule_item_parse(struct rule_scan *scan, struct rule_text *rule);
bool rule_action_parse(struct rule_scan *scan, struct rule_text *rule);

#endif
