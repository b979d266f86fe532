/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules that the card supports: on ingress, group 0, priority 0, for a full 5-tuple (eth / [vlan /]
 * ipv4 or ipv6 / tcp, udp, sctp or icmp; all of addresses and ports, or type and code), with the
 * actions mark, count and one of queue, rss and drop. Like real cards it refuses all others, and
 * reports for each rule the part that it does not support. Like some it can be made to take a part
 * and ignore it ("ignore").
 */
#include "card_flow_rules.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

/* A rule on its way from rte_flow's words to the card's. */
struct translation {
	const struct card *card;
	struct card_rule *rule;
	struct rte_flow_error *error;
	bool eth, vlan, l4;
	bool fate, acts; /* an action chooses where frames go; there is an action */
};

typedef int (*item_taker)(struct translation *to, const struct rte_flow_item *item);
typedef int (*action_taker)(struct translation *to, const struct rte_flow_action *action);

static int bad_item(struct translation *to, const struct rte_flow_item *item, const char *message)
{
	return rte_flow_error_set(to->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, item, message);
}

static int bad_mask(struct translation *to, const void *mask, const char *message)
{
	return rte_flow_error_set(to->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, mask, message);
}

static int bad_conf(struct translation *to, const void *conf, const char *message)
{
	return rte_flow_error_set(
		to->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, conf, message);
}

/*
 * A mask must cover `whole` and nothing else. What it covers besides is `too_much`, what it lacks
 * `too_little`.
 */
static int check_mask(struct translation *to, const void *mask, const void *whole, size_t bytes,
	const char *too_much, const char *too_little)
{
	const uint8_t *given = mask, *wanted = whole;
	bool lacks = false;

	for (size_t i = 0; i < bytes; i++) {
		if ((given[i] & ~wanted[i]) != 0)
			return bad_mask(to, mask, too_much);
		lacks |= given[i] != wanted[i];
	}
	return lacks ? bad_mask(to, mask, too_little) : 0;
}

static int take_eth(struct translation *to, const struct rte_flow_item *item)
{
	static const struct rte_flow_item_eth nothing;
	const void *mask = item->mask == NULL ? &rte_flow_item_eth_mask : item->mask;

	if (to->eth || to->vlan || to->rule->key.version != 0)
		return bad_item(to, item, "eth comes first, and once");
	to->eth = true;
	return item->spec == NULL
		       ? 0
		       : check_mask(to, mask, &nothing, sizeof(nothing),
				 "the card's rules match no MAC address and no type", NULL);
}

static int take_vlan(struct translation *to, const struct rte_flow_item *item)
{
	const struct rte_flow_item_vlan *spec = item->spec;
	const struct rte_flow_item_vlan *mask =
		item->mask == NULL ? &rte_flow_item_vlan_mask : item->mask;
	struct rte_flow_item_vlan id = {0};

	if (to->vlan || to->rule->key.version != 0)
		return bad_item(to, item, "the card's rules match one VLAN tag, before ip");
	to->vlan = true;
	to->rule->key.vlan = CARD_VLAN_TAGGED;
	if (spec == NULL || mask->tci == 0)
		return 0;
	id.tci = RTE_BE16(0x0fff);
	to->rule->key.vlan = (uint16_t)CARD_VLAN_ID(rte_be_to_cpu_16(spec->tci) & 0xfff);
	return check_mask(to, mask, &id, sizeof(id), "of a VLAN tag the card matches the id alone",
		"the card matches a VLAN's whole id or none");
}

#define WHOLE_ADDRESSES "the card matches whole addresses, source and destination"

static int take_ip4(struct translation *to, const struct rte_flow_item *item)
{
	const struct rte_flow_item_ipv4 *spec = item->spec;
	const struct rte_flow_item_ipv4 *mask =
		item->mask == NULL ? &rte_flow_item_ipv4_mask : item->mask;
	struct rte_flow_item_ipv4 whole = {0};

	if (to->rule->key.version != 0)
		return bad_item(to, item, "the card looks at one IP header");
	if (spec == NULL)
		return bad_item(to, item, WHOLE_ADDRESSES);
	whole.hdr.src_addr = whole.hdr.dst_addr = UINT32_MAX;
	to->rule->key.version = 4;
	memcpy(to->rule->key.addresses, &spec->hdr.src_addr, 4);
	memcpy(to->rule->key.addresses + 4, &spec->hdr.dst_addr, 4);
	return check_mask(to, mask, &whole, sizeof(whole),
		"of an IPv4 header the card matches the addresses alone", WHOLE_ADDRESSES);
}

static int take_ip6(struct translation *to, const struct rte_flow_item *item)
{
	const struct rte_flow_item_ipv6 *spec = item->spec;
	const struct rte_flow_item_ipv6 *mask =
		item->mask == NULL ? &rte_flow_item_ipv6_mask : item->mask;
	struct rte_flow_item_ipv6 whole = {0};

	if (to->rule->key.version != 0)
		return bad_item(to, item, "the card looks at one IP header");
	if (spec == NULL)
		return bad_item(to, item, WHOLE_ADDRESSES);
	memset(&whole.hdr.src_addr, 0xff, sizeof(whole.hdr.src_addr));
	memset(&whole.hdr.dst_addr, 0xff, sizeof(whole.hdr.dst_addr));
	to->rule->key.version = 6;
	memcpy(to->rule->key.addresses, &spec->hdr.src_addr, 16);
	memcpy(to->rule->key.addresses + 16, &spec->hdr.dst_addr, 16);
	return check_mask(to, mask, &whole, sizeof(whole),
		"of an IPv6 header the card matches the addresses alone", WHOLE_ADDRESSES);
}

/* A header of `bytes` whose first `matched` are what the card matches. */
static int take_l4(struct translation *to, const struct rte_flow_item *item, const void *mask,
	uint8_t protocol, size_t bytes, size_t matched)
{
	uint8_t whole[sizeof(struct rte_flow_item_tcp)] = {0};

	if (to->rule->key.version == 0 || to->l4)
		return bad_item(to, item, "this item comes once, after ipv4 or ipv6");
	if (item->spec == NULL)
		return bad_item(to, item, "the card matches a full 5-tuple: give both ports");
	to->l4 = true;
	to->rule->key.protocol = protocol;
	memcpy(to->rule->key.ports, item->spec, matched);
	memset(whole, 0xff, matched);
	return check_mask(to, mask, whole, bytes,
		"of this header the card matches ports (icmp: type and code) alone",
		"the card matches whole ports (icmp: type and code), and both");
}

static int take_tcp(struct translation *to, const struct rte_flow_item *item)
{
	return take_l4(to, item, item->mask == NULL ? &rte_flow_item_tcp_mask : item->mask,
		IPPROTO_TCP, sizeof(struct rte_flow_item_tcp), 4);
}

static int take_udp(struct translation *to, const struct rte_flow_item *item)
{
	return take_l4(to, item, item->mask == NULL ? &rte_flow_item_udp_mask : item->mask,
		IPPROTO_UDP, sizeof(struct rte_flow_item_udp), 4);
}

static int take_sctp(struct translation *to, const struct rte_flow_item *item)
{
	return take_l4(to, item, item->mask == NULL ? &rte_flow_item_sctp_mask : item->mask,
		IPPROTO_SCTP, sizeof(struct rte_flow_item_sctp), 4);
}

static int take_icmp(struct translation *to, const struct rte_flow_item *item)
{
	if (to->rule->key.version == 6)
		return bad_item(to, item, "icmp comes after ipv4");
	return take_l4(to, item, item->mask == NULL ? &rte_flow_item_icmp_mask : item->mask,
		IPPROTO_ICMP, sizeof(struct rte_flow_item_icmp), 2);
}

static const struct {
	enum rte_flow_item_type type;
	const char *word; /* as flow_table.refuse may name it */
	item_taker take;
} items[] = {
	{RTE_FLOW_ITEM_TYPE_ETH, "eth", take_eth},
	{RTE_FLOW_ITEM_TYPE_VLAN, "vlan", take_vlan},
	{RTE_FLOW_ITEM_TYPE_IPV4, "ipv4", take_ip4},
	{RTE_FLOW_ITEM_TYPE_IPV6, "ipv6", take_ip6},
	{RTE_FLOW_ITEM_TYPE_TCP, "tcp", take_tcp},
	{RTE_FLOW_ITEM_TYPE_UDP, "udp", take_udp},
	{RTE_FLOW_ITEM_TYPE_SCTP, "sctp", take_sctp},
	{RTE_FLOW_ITEM_TYPE_ICMP, "icmp", take_icmp},
};

static int take_item(struct translation *to, const struct rte_flow_item *item)
{
	unsigned i = 0;

	while (i < RTE_DIM(items) && items[i].type != item->type)
		i++;
	if (i == RTE_DIM(items))
		return bad_item(to, item, "the card's flow table does not know this item");
	if (strcmp(items[i].word, to->card->flow_limits.refuse) == 0)
		return bad_item(to, item, "this card takes no rules with this item");
	if (item->last != NULL)
		return rte_flow_error_set(to->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_LAST,
			item->last, "the card matches no ranges");
	if (item->spec == NULL && item->mask != NULL)
		return rte_flow_error_set(to->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, item,
			"a mask without a spec");
	return items[i].take(to, item);
}

static int take_pattern(struct translation *to, const struct rte_flow_item *pattern)
{
	const struct rte_flow_item *item = pattern;

	for (; item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		int rc = item->type == RTE_FLOW_ITEM_TYPE_VOID ? 0 : take_item(to, item);

		if (rc != 0)
			return rc;
	}
	if (!to->l4)
		return bad_item(to, item,
			"the card matches a full 5-tuple: end with tcp, udp, sctp or icmp");
	return 0;
}

static int take_mark(struct translation *to, const struct rte_flow_action *action)
{
	to->rule->flags |= CARD_RULE_MARK;
	to->rule->mark = ((const struct rte_flow_action_mark *)action->conf)->id;
	return 0;
}

static int take_count(struct translation *to, __rte_unused const struct rte_flow_action *action)
{
	to->rule->flags |= CARD_RULE_COUNT;
	return 0;
}

static int take_fate(struct translation *to, const struct rte_flow_action *action)
{
	if (to->fate)
		return rte_flow_error_set(to->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"only one of queue, rss and drop");
	to->fate = true;
	return 0;
}

static int take_drop(struct translation *to, const struct rte_flow_action *action)
{
	to->rule->flags |= CARD_RULE_DROP;
	return take_fate(to, action);
}

static int take_queue(struct translation *to, const struct rte_flow_action *action)
{
	const struct rte_flow_action_queue *queue = action->conf;

	if (queue->index >= to->card->nb_queues)
		return bad_conf(to, queue, "the card has no such rx queue");
	to->rule->nb_queues = 1;
	to->rule->queues = queue->index;
	return take_fate(to, action);
}

static int take_rss(struct translation *to, const struct rte_flow_action *action)
{
	const struct rte_flow_action_rss *rss = action->conf;

	if (rss->level > 1 || rss->types != 0 || rss->key_len != 0 ||
		(rss->func != RTE_ETH_HASH_FUNCTION_DEFAULT &&
			rss->func != RTE_ETH_HASH_FUNCTION_TOEPLITZ))
		return bad_conf(to, rss, "a rule's rss hashes as the port's: queues alone");
	if (rss->queue_num > CARD_QUEUES_MAX)
		return bad_conf(to, rss, "more queues than the card can have");
	to->rule->nb_queues = (uint16_t)rss->queue_num;
	for (unsigned i = 0; i < rss->queue_num; i++) {
		if (rss->queue[i] >= to->card->nb_queues)
			return bad_conf(to, rss, "the card has no such rx queue");
		to->rule->queues |= (uint64_t)rss->queue[i] << 4 * i;
	}
	return take_fate(to, action);
}

static const struct {
	enum rte_flow_action_type type;
	const char *word;
	bool configured; /* cannot be without its conf */
	action_taker take;
} actions_known[] = {
	{RTE_FLOW_ACTION_TYPE_MARK, "mark", true, take_mark},
	{RTE_FLOW_ACTION_TYPE_COUNT, "count", false, take_count},
	{RTE_FLOW_ACTION_TYPE_DROP, "drop", false, take_drop},
	{RTE_FLOW_ACTION_TYPE_QUEUE, "queue", true, take_queue},
	{RTE_FLOW_ACTION_TYPE_RSS, "rss", true, take_rss},
};

static int take_action(struct translation *to, const struct rte_flow_action *action)
{
	const char *ignore = to->card->flow_limits.ignore;
	struct card_rule before = *to->rule;
	unsigned i = 0;
	int rc;

	while (i < RTE_DIM(actions_known) && actions_known[i].type != action->type)
		i++;
	if (i == RTE_DIM(actions_known) ||
		strcmp(actions_known[i].word, to->card->flow_limits.refuse) == 0)
		return rte_flow_error_set(to->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			i == RTE_DIM(actions_known) ? "the card does not know this action"
						    : "this card takes no rules with this action");
	if (actions_known[i].configured && action->conf == NULL)
		return bad_conf(to, action, "the action lacks its configuration");
	to->acts = true;
	rc = actions_known[i].take(to, action);
	if (strcmp(actions_known[i].word, ignore) == 0)
		*to->rule = before;
	return rc;
}

static int take_actions(struct translation *to, const struct rte_flow_action *action)
{
	for (; action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		int rc = action->type == RTE_FLOW_ACTION_TYPE_VOID ? 0 : take_action(to, action);

		if (rc != 0)
			return rc;
	}
	if (to->acts)
		return 0;
	return rte_flow_error_set(to->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_NUM, action,
		"a rule without an action");
}

static int check_attr(const struct rte_flow_attr *attr, struct rte_flow_error *error)
{
	if (attr->egress)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS, attr,
			"the card has rules for what it receives alone");
	if (attr->transfer)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, attr,
			"the card has no switch inside");
	if (!attr->ingress)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, attr,
			"a rule of this card says ingress");
	if (attr->group != 0)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_GROUP, attr,
			"the card has group 0 alone");
	if (attr->priority != 0)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, attr,
			"the card's rules match exactly: priority 0 alone");
	return 0;
}

int card_flow_translate(const struct card *card, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct card_rule *rule, struct rte_flow_error *error)
{
	struct translation to = {.card = card, .rule = rule, .error = error};
	int rc;

	memset(rule, 0, sizeof(*rule));
	if (strcmp(card->flow_limits.refuse, "all") == 0)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"this card takes no rules");
	if (attr == NULL || pattern == NULL || actions == NULL)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"attributes, pattern and actions are needed");
	rc = check_attr(attr, error);
	if (rc == 0)
		rc = take_pattern(&to, pattern);
	if (strcmp(card->flow_limits.ignore, CARD_IGNORE_PORTS) == 0)
		memset(rule->key.ports, 0, sizeof(rule->key.ports));
	return rc != 0 ? rc : take_actions(&to, actions);
}
