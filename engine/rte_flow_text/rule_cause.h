/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes a refusal: its type, and the part of the rule it points at. */
#ifndef LINERATE_RULE_CAUSE_H
#define LINERATE_RULE_CAUSE_H

#include "rule_text.h"

#include <stddef.h>

#define RULE_CAUSE_BYTES 48

/* "item_mask" of RTE_FLOW_ERROR_TYPE_ITEM_MASK. */
const char *rule_error_type(enum rte_flow_error_type type);
/* "mask of ipv4", "action mark", "" when the driver points at nothing of the rule's. */
void rule_cause(const struct rule_text *rule, const void *cause, char text[RULE_CAUSE_BYTES]);
/* The words of testpmd's syntax; "?" for what the syntax lacks. */
const char *rule_item_name(enum rte_flow_item_type type);
const char *rule_action_name(enum rte_flow_action_type type);

#endif
