/* SPDX-License-Identifier: BSD-3-Clause */
#include "rule_text.h"

#include <string.h>

static bool scan_verb(struct rule_scan *scan, struct rule_text *rule)
{
	uint64_t port;

	if (!rule_scan_take(scan, "flow"))
		return true;
	if (rule_scan_take(scan, "create"))
		rule->verb = RULE_CREATE;
	else if (rule_scan_take(scan, "validate"))
		rule->verb = RULE_VALIDATE;
	else
		return rule_scan_wrong(scan, "expected create or validate");
	if (!rule_scan_number(scan, UINT16_MAX, &port))
		return false;
	rule->port = (uint16_t)port;
	return true;
}

/* Attributes, up to the word "pattern". */
static bool scan_attributes(struct rule_scan *scan, struct rte_flow_attr *attr)
{
	static const char *const words[] = {
		"group", "priority", "ingress", "egress", "transfer", "pattern"};
	enum { GROUP, PRIORITY, INGRESS, EGRESS, TRANSFER, PATTERN };
	uint64_t value = 0;

	for (;;) {
		int word = rule_scan_choice(scan, words, RTE_DIM(words), sizeof(words[0]), "");

		if (word == PATTERN || word < 0)
			return word == PATTERN;
		if ((word == GROUP || word == PRIORITY) &&
			!rule_scan_number(scan, UINT32_MAX, &value))
			return false;
		if (word == GROUP)
			attr->group = (uint32_t)value;
		else if (word == PRIORITY)
			attr->priority = (uint32_t)value;
		attr->ingress |= word == INGRESS;
		attr->egress |= word == EGRESS;
		attr->transfer |= word == TRANSFER;
	}
}

static bool scan_pattern(struct rule_scan *scan, struct rule_text *rule)
{
	while (!rule_scan_take(scan, "end"))
		if (!rule_item_parse(scan, rule))
			return false;
	rule->pattern[rule->nb_items].type = RTE_FLOW_ITEM_TYPE_END;
	return true;
}

static bool scan_actions(struct rule_scan *scan, struct rule_text *rule)
{
	if (!rule_scan_must(scan, "actions", "actions"))
		return false;
	while (!rule_scan_take(scan, "end"))
		if (!rule_action_parse(scan, rule))
			return false;
	rule->actions[rule->nb_actions].type = RTE_FLOW_ACTION_TYPE_END;
	return scan->length == 0 || rule_scan_wrong(scan, "expected nothing behind the rule");
}

int rule_text_parse(const char *text, struct rule_text *rule, struct rule_mistake *mistake)
{
	struct rule_scan scan;

	memset(rule, 0, sizeof(*rule));
	rule_scan_start(&scan, text, mistake);
	return scan_verb(&scan, rule) && scan_attributes(&scan, &rule->attr) &&
			       scan_pattern(&scan, rule) && scan_actions(&scan, rule)
		       ? 0
		       : -1;
}
