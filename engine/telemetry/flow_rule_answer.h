/* SPDX-License-Identifier: BSD-3-Clause */
/* Common part of the commands about flow rules: reading parameters, a port's answer. */
#ifndef LINERATE_FLOW_RULE_ANSWER_H
#define LINERATE_FLOW_RULE_ANSWER_H

#include "port/port.h"
#include "rte_flow_text/rule_text.h"
#include "command.h"

/* The port that the parameters begin with; *rest is what follows it. NULL when there is none. */
struct port *flow_rule_port(const char *parameters, const char *separators, const char **rest);
/* Reads a rule in testpmd's syntax; false after answering where it is wrong. */
bool flow_rule_read(const char *text, struct rule_text *rule, struct rte_tel_data *data);
/* "PORT TEXT". Returns the port, and the rule in *rule, or NULL after answering why not. */
struct port *flow_rule_parse(const char *parameters, struct rule_text *rule, const char **text,
	struct rte_tel_data *data);
/* rte_flow's answer: `rc` is 0 or -errno; `rule` may be NULL. */
void flow_rule_verdict(struct rte_tel_data *data, int rc, const struct rule_text *rule,
	const struct rte_flow_error *error);
uint64_t flow_rule_ns_since(uint64_t start);

#endif
