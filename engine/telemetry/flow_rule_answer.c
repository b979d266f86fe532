/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_rule_answer.h"

#include "rte_flow_text/rule_cause.h"

#include <errno.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <stdio.h>
#include <string.h>

#define PORT_NAME_BYTES 24
#define ERROR_BYTES 480
#define NS_PER_SECOND 1000000000ull

struct port *flow_rule_port(const char *parameters, const char *separators, const char **rest)
{
	char name[PORT_NAME_BYTES] = "";
	size_t length;

	if (parameters == NULL)
		return NULL;
	length = strcspn(parameters, separators);
	if (length < sizeof(name))
		memcpy(name, parameters, length);
	*rest = parameters + length + strspn(parameters + length, separators);
	return port_find(name);
}

/* Says where the text is wrong; an answer's string may be shorter than all that was expected. */
static void answer_mistake(struct rte_tel_data *data, const struct rule_mistake *mistake)
{
	char text[ERROR_BYTES];

	snprintf(text, sizeof(text), "column %u: %s%s%s%s", mistake->column, mistake->message,
		mistake->word[0] == '\0' ? ", not the end" : ", not \"", mistake->word,
		mistake->word[0] == '\0' ? "" : "\"");
	answer_error(data, text);
	answer_u64(data, "column", mistake->column);
	answer_string(data, "word", mistake->word);
}

/* Linux has two names for one of them; DPDK's is the other. */
static const char *errno_name(int code)
{
	const char *name = code == ENOTSUP ? "ENOTSUP" : strerrorname_np(code);

	return name == NULL ? "?" : name;
}

void flow_rule_verdict(struct rte_tel_data *data, int rc, const struct rule_text *rule,
	const struct rte_flow_error *error)
{
	char cause[RULE_CAUSE_BYTES] = "", message[RTE_TEL_MAX_STRING_LEN];

	answer_u64(data, "accepted", rc == 0);
	if (rc == 0)
		return;
	if (rule != NULL)
		rule_cause(rule, error->cause, cause);
	snprintf(message, sizeof(message), "%s",
		error->message == NULL ? rte_strerror(-rc) : error->message);
	answer_string(data, "errno", errno_name(-rc));
	answer_string(data, "type", rule_error_type(error->type));
	answer_string(data, "cause", cause);
	answer_string(data, "message", message);
}

uint64_t flow_rule_ns_since(uint64_t start)
{
	return (uint64_t)((double)(rte_rdtsc_precise() - start) * (double)NS_PER_SECOND /
			  (double)rte_get_tsc_hz());
}

bool flow_rule_read(const char *text, struct rule_text *rule, struct rte_tel_data *data)
{
	struct rule_mistake mistake;

	if (rule_text_parse(text, rule, &mistake) == 0)
		return true;
	answer_mistake(data, &mistake);
	return false;
}

struct port *flow_rule_parse(const char *parameters, struct rule_text *rule, const char **text,
	struct rte_tel_data *data)
{
	struct port *port = flow_rule_port(parameters, " \t", text);

	if (port == NULL) {
		answer_error(data, "expected PORT RULE, with the name of a port");
		return NULL;
	}
	return flow_rule_read(*text, rule, data) ? port : NULL;
}
