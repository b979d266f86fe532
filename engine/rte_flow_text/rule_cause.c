/* SPDX-License-Identifier: BSD-3-Clause */
#include "rule_cause.h"

#include <stdio.h>

const char *rule_error_type(enum rte_flow_error_type type)
{
	static const char *const names[] = {
		[RTE_FLOW_ERROR_TYPE_NONE] = "none",
		[RTE_FLOW_ERROR_TYPE_UNSPECIFIED] = "unspecified",
		[RTE_FLOW_ERROR_TYPE_HANDLE] = "handle",
		[RTE_FLOW_ERROR_TYPE_ATTR_GROUP] = "attr_group",
		[RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY] = "attr_priority",
		[RTE_FLOW_ERROR_TYPE_ATTR_INGRESS] = "attr_ingress",
		[RTE_FLOW_ERROR_TYPE_ATTR_EGRESS] = "attr_egress",
		[RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER] = "attr_transfer",
		[RTE_FLOW_ERROR_TYPE_ATTR] = "attr",
		[RTE_FLOW_ERROR_TYPE_ITEM_NUM] = "item_num",
		[RTE_FLOW_ERROR_TYPE_ITEM_SPEC] = "item_spec",
		[RTE_FLOW_ERROR_TYPE_ITEM_LAST] = "item_last",
		[RTE_FLOW_ERROR_TYPE_ITEM_MASK] = "item_mask",
		[RTE_FLOW_ERROR_TYPE_ITEM] = "item",
		[RTE_FLOW_ERROR_TYPE_ACTION_NUM] = "action_num",
		[RTE_FLOW_ERROR_TYPE_ACTION_CONF] = "action_conf",
		[RTE_FLOW_ERROR_TYPE_ACTION] = "action",
	};

	return (unsigned)type < RTE_DIM(names) && names[type] != NULL ? names[type] : "other";
}

static bool lies_in(const void *cause, const void *object, size_t bytes)
{
	const char *at = cause, *from = object;

	return at != NULL && from != NULL && at >= from && at < from + bytes;
}

static bool cause_in_item(const struct rte_flow_item *item, const void *cause, const char **part)
{
	if (lies_in(cause, item->mask, sizeof(union rule_header)))
		*part = "mask of ";
	else if (lies_in(cause, item->last, sizeof(union rule_header)))
		*part = "last of ";
	else if (lies_in(cause, item->spec, sizeof(union rule_header)))
		*part = "spec of ";
	else if (lies_in(cause, item, sizeof(*item)))
		*part = "item ";
	else
		return false;
	return true;
}

void rule_cause(const struct rule_text *rule, const void *cause, char text[RULE_CAUSE_BYTES])
{
	const char *part;

	text[0] = '\0';
	/* The ends of both lists too: missing parts are reported there. */
	for (unsigned i = 0; i <= rule->nb_items; i++)
		if (cause_in_item(&rule->pattern[i], cause, &part))
			snprintf(text, RULE_CAUSE_BYTES, "%s%s", part,
				rule_item_name(rule->pattern[i].type));
	for (unsigned i = 0; i <= rule->nb_actions; i++)
		if (lies_in(cause, &rule->actions[i], sizeof(rule->actions[i])) ||
			(i < RULE_ACTIONS_MAX &&
				lies_in(cause, &rule->confs[i], sizeof(rule->confs[i]))))
			snprintf(text, RULE_CAUSE_BYTES, "action %s",
				rule_action_name(rule->actions[i].type));
	if (lies_in(cause, &rule->attr, sizeof(rule->attr)))
		snprintf(text, RULE_CAUSE_BYTES, "attributes");
}
