/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The card's flow table: rules with which the card looks each frame's flow up itself, and marks
 * it, chooses its queue, drops or counts it. It takes what rte_flow takes.
 */
#ifndef LINERATE_FLOW_RULES_H
#define LINERATE_FLOW_RULES_H

#include "card.h"

/* Reads a card's "flow_table" object; without one the card has no table. */
void card_parse_flow_table(struct card_flow_limits *limits, const struct config_node *node);

#endif
