/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a rule: arrays that end and point into the rule, or a mistake with a place; and what
 * a card makes of the rule. */
#include "card/card_flow_rules.h"
#include "rte_flow_text/rule_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static bool within(const struct rule_text *rule, const void *pointer)
{
	return pointer == NULL || ((const char *)pointer >= (const char *)rule &&
					  (const char *)pointer < (const char *)(rule + 1));
}

static void check(const struct rule_text *rule)
{
	static const struct card card = {
		.nb_queues = 4, .flow_limits = {.capacity = 8, .refuse = "none"}};
	struct rte_flow_error error = {0};
	struct card_rule card_rule;

	must(rule->nb_items <= RULE_ITEMS_MAX && rule->nb_actions <= RULE_ACTIONS_MAX);
	must(rule->pattern[rule->nb_items].type == RTE_FLOW_ITEM_TYPE_END);
	must(rule->actions[rule->nb_actions].type == RTE_FLOW_ACTION_TYPE_END);
	for (unsigned i = 0; i < rule->nb_items; i++)
		must(within(rule, rule->pattern[i].spec) && within(rule, rule->pattern[i].last) &&
			within(rule, rule->pattern[i].mask));
	for (unsigned i = 0; i < rule->nb_actions; i++)
		must(within(rule, rule->actions[i].conf));
	if (card_flow_translate(
		    &card, &rule->attr, rule->pattern, rule->actions, &card_rule, &error) != 0)
		must(error.message != NULL && error.type != RTE_FLOW_ERROR_TYPE_NONE);
	else
		must(card_rule.key.version == 4 || card_rule.key.version == 6);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rule_text *rule = malloc(sizeof(*rule));
	struct rule_mistake mistake;
	char *text = malloc(size + 1);

	if (rule != NULL && text != NULL) {
		memcpy(text, data, size);
		text[size] = '\0';
		if (rule_text_parse(text, rule, &mistake) == 0) {
			check(rule);
		} else {
			must(mistake.column >= 1 && mistake.column <= strlen(text) + 1);
			must(mistake.message[0] != '\0');
		}
	}
	free(text);
	free(rule);
	return 0;
}
