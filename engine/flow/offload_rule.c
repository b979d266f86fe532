/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload_rule.h"

#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <string.h>

/* Addresses and ports in the order of the packet. */
static void match_ip4(
	struct offload_rule *rule, const struct flow_key *key, enum flow_direction direction)
{
	rte_be32_t low = rte_cpu_to_be_32(key->low_address);
	rte_be32_t high = rte_cpu_to_be_32(key->high_address);

	rule->spec.ip4.hdr.src_addr = direction == FLOW_LOW_TO_HIGH ? low : high;
	rule->spec.ip4.hdr.dst_addr = direction == FLOW_LOW_TO_HIGH ? high : low;
	rule->mask.ip4.hdr.src_addr = UINT32_MAX;
	rule->mask.ip4.hdr.dst_addr = UINT32_MAX;
	rule->pattern[1].type = RTE_FLOW_ITEM_TYPE_IPV4;
	rule->pattern[1].spec = &rule->spec.ip4;
	rule->pattern[1].mask = &rule->mask.ip4;
}

static void match_ip6(struct offload_rule *rule, const struct flow_addresses6 *addresses,
	enum flow_direction direction)
{
	bool forth = direction == FLOW_LOW_TO_HIGH;

	/* DPDK has had three types for the addresses, all of 16 bytes. */
	memcpy(&rule->spec.ip6.hdr.src_addr, forth ? addresses->low : addresses->high, 16);
	memcpy(&rule->spec.ip6.hdr.dst_addr, forth ? addresses->high : addresses->low, 16);
	memset(&rule->mask.ip6.hdr.src_addr, 0xff, 16);
	memset(&rule->mask.ip6.hdr.dst_addr, 0xff, 16);
	rule->pattern[1].type = RTE_FLOW_ITEM_TYPE_IPV6;
	rule->pattern[1].spec = &rule->spec.ip6;
	rule->pattern[1].mask = &rule->mask.ip6;
}

static bool match_ports(
	struct offload_rule *rule, const struct flow_key *key, enum flow_direction direction)
{
	rte_be16_t low = rte_cpu_to_be_16(key->low_port), high = rte_cpu_to_be_16(key->high_port);
	rte_be16_t source = direction == FLOW_LOW_TO_HIGH ? low : high;
	rte_be16_t destination = direction == FLOW_LOW_TO_HIGH ? high : low;

	switch (key->protocol) {
	case IPPROTO_TCP:
		rule->pattern[2].type = RTE_FLOW_ITEM_TYPE_TCP;
		break;
	case IPPROTO_UDP:
		rule->pattern[2].type = RTE_FLOW_ITEM_TYPE_UDP;
		break;
	case IPPROTO_SCTP:
		rule->pattern[2].type = RTE_FLOW_ITEM_TYPE_SCTP;
		break;
	default:
		return false;
	}
	/* All three begin with the ports. */
	rule->upper_spec.udp.hdr.src_port = source;
	rule->upper_spec.udp.hdr.dst_port = destination;
	rule->upper_mask.udp.hdr.src_port = UINT16_MAX;
	rule->upper_mask.udp.hdr.dst_port = UINT16_MAX;
	rule->pattern[2].spec = &rule->upper_spec;
	rule->pattern[2].mask = &rule->upper_mask;
	return true;
}

bool offload_rule_make(struct offload_rule *rule, const struct flow_view *view,
	enum flow_direction direction, uint32_t mark, uint16_t queue)
{
	const struct flow_key *key = &view->record.key;

	if (view->record.l3_offset[direction] != RTE_ETHER_HDR_LEN)
		return false;
	memset(rule, 0, sizeof(*rule));
	rule->attr.ingress = 1;
	rule->pattern[0].type = RTE_FLOW_ITEM_TYPE_ETH;
	if (key->version == 6)
		match_ip6(rule, &view->addresses6, direction);
	else
		match_ip4(rule, key, direction);
	if (!match_ports(rule, key, direction))
		return false;
	rule->pattern[3].type = RTE_FLOW_ITEM_TYPE_END;
	rule->mark.id = mark;
	rule->queue.index = queue;
	rule->actions[0].type = RTE_FLOW_ACTION_TYPE_MARK;
	rule->actions[0].conf = &rule->mark;
	rule->actions[1].type = RTE_FLOW_ACTION_TYPE_QUEUE;
	rule->actions[1].conf = &rule->queue;
	rule->actions[2].type = RTE_FLOW_ACTION_TYPE_END;
	return true;
}
