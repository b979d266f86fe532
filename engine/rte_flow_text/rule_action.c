/* SPDX-License-Identifier: BSD-3-Clause */
/* Actions of a rule: "mark id 1", "rss queues 0 1 end". */
#include "rule_cause.h"
#include "rule_text.h"

#include <rte_ethdev.h>
#include <string.h>

typedef bool (*action_scan)(struct rule_scan *scan, struct rule_text *rule, union rule_conf *conf);

/* "queue index N": the parameter that the action cannot do without. */
static bool scan_parameter(struct rule_scan *scan, const char *name, uint64_t max, uint64_t *value)
{
	return rule_scan_must(scan, name, name) && rule_scan_number(scan, max, value);
}

static bool scan_queue(
	struct rule_scan *scan, __rte_unused struct rule_text *rule, union rule_conf *conf)
{
	uint64_t value = 0;
	bool good = scan_parameter(scan, "index", UINT16_MAX, &value);

	conf->queue.index = (uint16_t)value;
	return good;
}

static bool scan_mark(
	struct rule_scan *scan, __rte_unused struct rule_text *rule, union rule_conf *conf)
{
	uint64_t value = 0;
	bool good = scan_parameter(scan, "id", UINT32_MAX, &value);

	conf->mark.id = (uint32_t)value;
	return good;
}

static bool scan_jump(
	struct rule_scan *scan, __rte_unused struct rule_text *rule, union rule_conf *conf)
{
	uint64_t value = 0;
	bool good = scan_parameter(scan, "group", UINT32_MAX, &value);

	conf->jump.group = (uint32_t)value;
	return good;
}

static bool scan_count(
	struct rule_scan *scan, __rte_unused struct rule_text *rule, union rule_conf *conf)
{
	uint64_t value = 0;

	if (rule_scan_take(scan, "identifier") && !rule_scan_number(scan, UINT32_MAX, &value))
		return false;
	conf->count.id = (uint32_t)value;
	return true;
}

static const struct {
	const char *name;
	enum rte_eth_hash_function value;
} functions[] = {
	{"default", RTE_ETH_HASH_FUNCTION_DEFAULT},
	{"toeplitz", RTE_ETH_HASH_FUNCTION_TOEPLITZ},
	{"simple_xor", RTE_ETH_HASH_FUNCTION_SIMPLE_XOR},
	{"symmetric_toeplitz", RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ},
};

static const struct {
	const char *name;
	uint64_t value;
} types[] = {
	{"ip", RTE_ETH_RSS_IP},
	{"udp", RTE_ETH_RSS_UDP},
	{"tcp", RTE_ETH_RSS_TCP},
	{"sctp", RTE_ETH_RSS_SCTP},
	{"ipv4", RTE_ETH_RSS_IPV4},
	{"ipv4-udp", RTE_ETH_RSS_NONFRAG_IPV4_UDP},
	{"ipv4-tcp", RTE_ETH_RSS_NONFRAG_IPV4_TCP},
	{"ipv4-sctp", RTE_ETH_RSS_NONFRAG_IPV4_SCTP},
	{"ipv4-other", RTE_ETH_RSS_NONFRAG_IPV4_OTHER},
	{"ipv6", RTE_ETH_RSS_IPV6},
	{"ipv6-udp", RTE_ETH_RSS_NONFRAG_IPV6_UDP},
	{"ipv6-tcp", RTE_ETH_RSS_NONFRAG_IPV6_TCP},
	{"ipv6-sctp", RTE_ETH_RSS_NONFRAG_IPV6_SCTP},
	{"ipv6-other", RTE_ETH_RSS_NONFRAG_IPV6_OTHER},
	{"mpls", RTE_ETH_RSS_MPLS},
};

static bool scan_function(struct rule_scan *scan, struct rte_flow_action_rss *rss)
{
	int chosen =
		rule_scan_choice(scan, functions, RTE_DIM(functions), sizeof(functions[0]), "");

	if (chosen >= 0)
		rss->func = functions[chosen].value;
	return chosen >= 0;
}

static bool scan_types(struct rule_scan *scan, struct rte_flow_action_rss *rss)
{
	while (!rule_scan_take(scan, "end")) {
		int chosen =
			rule_scan_choice(scan, types, RTE_DIM(types), sizeof(types[0]), " or end");

		if (chosen < 0)
			return false;
		rss->types |= types[chosen].value;
	}
	return true;
}

static bool scan_queues(
	struct rule_scan *scan, struct rule_text *rule, struct rte_flow_action_rss *rss)
{
	rss->queue = &rule->queues[rule->nb_queues];
	rss->queue_num = 0;
	while (!rule_scan_take(scan, "end")) {
		uint64_t queue;

		if (rule->nb_queues == RULE_QUEUES_MAX)
			return rule_scan_wrong(scan, "at most %d queues", RULE_QUEUES_MAX);
		if (!rule_scan_number(scan, UINT16_MAX, &queue))
			return false;
		rule->queues[rule->nb_queues++] = (uint16_t)queue;
		rss->queue_num++;
	}
	return true;
}

static bool scan_rss(struct rule_scan *scan, struct rule_text *rule, union rule_conf *conf)
{
	static const char *const words[] = {"func", "level", "types", "queues"};
	enum { FUNC, LEVEL, TYPES, QUEUES };
	struct rte_flow_action_rss *rss = &conf->rss;
	bool good = true;
	uint64_t level;

	while (good && !rule_scan_is(scan, "/")) {
		switch (rule_scan_choice(scan, words, RTE_DIM(words), sizeof(words[0]), " or /")) {
		case FUNC:
			good = scan_function(scan, rss);
			break;
		case LEVEL:
			good = rule_scan_number(scan, UINT32_MAX, &level);
			rss->level = good ? (uint32_t)level : 0;
			break;
		case TYPES:
			good = scan_types(scan, rss);
			break;
		case QUEUES:
			good = scan_queues(scan, rule, rss);
			break;
		default:
			good = false;
		}
	}
	return good;
}

static const struct {
	const char *name;
	enum rte_flow_action_type type;
	action_scan scan; /* NULL: no parameters, no configuration */
} actions[] = {
	{"queue", RTE_FLOW_ACTION_TYPE_QUEUE, scan_queue},
	{"mark", RTE_FLOW_ACTION_TYPE_MARK, scan_mark},
	{"flag", RTE_FLOW_ACTION_TYPE_FLAG, NULL},
	{"drop", RTE_FLOW_ACTION_TYPE_DROP, NULL},
	{"count", RTE_FLOW_ACTION_TYPE_COUNT, scan_count},
	{"rss", RTE_FLOW_ACTION_TYPE_RSS, scan_rss},
	{"jump", RTE_FLOW_ACTION_TYPE_JUMP, scan_jump},
	{"passthru", RTE_FLOW_ACTION_TYPE_PASSTHRU, NULL},
	{"void", RTE_FLOW_ACTION_TYPE_VOID, NULL},
};

const char *rule_action_name(enum rte_flow_action_type type)
{
	for (unsigned i = 0; i < RTE_DIM(actions); i++)
		if (actions[i].type == type)
			return actions[i].name;
	return type == RTE_FLOW_ACTION_TYPE_END ? "end" : "?";
}

bool rule_action_parse(struct rule_scan *scan, struct rule_text *rule)
{
	struct rte_flow_action *action = &rule->actions[rule->nb_actions];
	union rule_conf *conf = &rule->confs[rule->nb_actions];
	int chosen;

	if (rule->nb_actions == RULE_ACTIONS_MAX)
		return rule_scan_wrong(scan, "at most %d actions", RULE_ACTIONS_MAX);
	chosen = rule_scan_choice(scan, actions, RTE_DIM(actions), sizeof(actions[0]), " or end");
	if (chosen < 0)
		return false;
	action->type = actions[chosen].type;
	if (actions[chosen].scan != NULL) {
		action->conf = conf;
		if (!actions[chosen].scan(scan, rule, conf))
			return false;
	}
	rule->nb_actions++;
	return rule_scan_must(scan, "/", "/");
}
