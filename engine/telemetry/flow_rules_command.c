/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/flow/validate, /create, /destroy, /list, /flush: rules by hand, in testpmd's words. */
#include "flow_rule_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MAX (1u << 20)
/* An answer has 16 KiB in all. */
#define LISTED_MAX 32

/* A rule that one of these commands made. */
struct made_rule {
	uint64_t id;
	struct port *port;
	struct rte_flow *flow;
	uint64_t ns; /* that its creation took */
	char pattern[RTE_TEL_MAX_STRING_LEN], actions[RTE_TEL_MAX_STRING_LEN];
};

/* In order of their ids; each client of the socket has a thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct made_rule **made;
static size_t nb_made, room;
static uint64_t last_id;

static bool make_room(void)
{
	size_t wanted = room == 0 ? 64 : 2 * room;
	struct made_rule **larger;

	if (nb_made < room)
		return true;
	if (room >= RULES_MAX)
		return false;
	larger = realloc(made, wanted * sizeof(struct made_rule *));
	if (larger == NULL)
		return false;
	made = larger;
	room = wanted;
	return true;
}

static void forget(size_t index)
{
	free(made[index]);
	nb_made--;
	memmove(&made[index], &made[index + 1], (nb_made - index) * sizeof(struct made_rule *));
}

static int validate_answer(const char *parameters, struct rte_tel_data *data)
{
	struct rte_flow_error error = {0};
	struct rule_text rule;
	const char *text;
	struct port *port = flow_rule_parse(parameters, &rule, &text, data);
	uint64_t start = rte_rdtsc_precise();
	int rc;

	if (port == NULL)
		return 0;
	rc = port_flow_validate(port, &rule.attr, rule.pattern, rule.actions, &error);
	answer_u64(data, "ns", flow_rule_ns_since(start));
	flow_rule_verdict(data, rc, &rule, &error);
	return 0;
}

COMMAND("/linerate/flow/validate", validate_answer,
	"Whether a port would take a rule. Parameter: PORT, a blank, the rule in testpmd's "
	"syntax")

/* The rule's text, split before "actions": each part is a cell of a table. */
static void keep_text(struct made_rule *rule, const char *text)
{
	const char *from = strncmp(text, "flow ", 5) == 0 ? strstr(text, " pattern") : text;
	const char *actions = strstr(text, "actions");

	from = from == NULL ? text : from + strspn(from, " ");
	snprintf(rule->pattern, sizeof(rule->pattern), "%.*s",
		actions > from ? (int)(actions - from) : 0, from);
	snprintf(rule->actions, sizeof(rule->actions), "%s", actions == NULL ? "" : actions);
}

/* With the lock. */
static void keep(struct made_rule *rule, const char *text)
{
	rule->id = ++last_id;
	keep_text(rule, text);
	made[nb_made++] = rule;
}

static int create_answer(const char *parameters, struct rte_tel_data *data)
{
	struct rte_flow_error error = {0};
	struct made_rule *kept;
	struct rule_text rule;
	const char *text;
	struct port *port = flow_rule_parse(parameters, &rule, &text, data);
	uint64_t start;

	if (port == NULL)
		return 0;
	kept = calloc(1, sizeof(*kept));
	pthread_mutex_lock(&lock);
	if (kept == NULL || !make_room()) {
		answer_error(data, "no memory for another rule");
		free(kept);
		pthread_mutex_unlock(&lock);
		return 0;
	}
	start = rte_rdtsc_precise();
	kept->port = port;
	kept->flow = port_flow_create(port, &rule.attr, rule.pattern, rule.actions, &error);
	kept->ns = flow_rule_ns_since(start);
	answer_u64(data, "ns", kept->ns);
	flow_rule_verdict(data, kept->flow == NULL ? -rte_errno : 0, &rule, &error);
	if (kept->flow == NULL) {
		free(kept);
	} else {
		keep(kept, text);
		answer_u64(data, "id", kept->id);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

COMMAND("/linerate/flow/create", create_answer,
	"Makes a rule. Answers its id and how long it took. Parameter: PORT, a blank, the "
	"rule in testpmd's syntax")

/* "PORT,NUMBER"; without a number *number stays. Returns NULL after answering why not. */
static struct port *parse_number(
	const char *parameters, uint64_t *number, bool needed, struct rte_tel_data *data)
{
	const char *rest = "";
	struct port *port = flow_rule_port(parameters, ",", &rest);
	char *end;

	if (port != NULL && rest[0] == '\0' && !needed)
		return port;
	*number = strtoull(rest, &end, 10);
	if (port != NULL && rest[0] >= '0' && rest[0] <= '9' && *end == '\0')
		return port;
	answer_error(data, needed ? "expected PORT,ID" : "expected PORT, or PORT,FROM");
	return NULL;
}

/* With the lock. */
static size_t index_of(const struct port *port, uint64_t id)
{
	size_t i = 0;

	while (i < nb_made && (made[i]->port != port || made[i]->id != id))
		i++;
	return i;
}

static int destroy_answer(const char *parameters, struct rte_tel_data *data)
{
	struct rte_flow_error error = {0};
	uint64_t id = 0, start;
	struct port *port = parse_number(parameters, &id, true, data);
	size_t index;
	int rc;

	if (port == NULL)
		return 0;
	pthread_mutex_lock(&lock);
	index = index_of(port, id);
	if (index == nb_made) {
		answer_error(data, "no such rule was made here");
	} else {
		start = rte_rdtsc_precise();
		rc = port_flow_destroy(port, made[index]->flow, &error);
		answer_u64(data, "ns", flow_rule_ns_since(start));
		flow_rule_verdict(data, rc, NULL, &error);
		/* A rule that the port does not know any more is gone as well. */
		if (rc == 0 || rc == -ENOENT)
			forget(index);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

COMMAND("/linerate/flow/destroy", destroy_answer,
	"Removes a rule. Answers how long it took. Parameters: PORT,ID")

static void list_one(struct table *table, const struct made_rule *rule)
{
	struct rte_flow_query_count count = {0};
	struct rte_flow_error error;

	(void)port_flow_count(rule->port, rule->flow, &count, &error);
	table_u64(table, 0, rule->id);
	table_u64(table, 1, rule->ns);
	table_u64(table, 2, count.hits_set ? count.hits : 0);
	table_u64(table, 3, count.bytes_set ? count.bytes : 0);
	table_string(table, 4, rule->pattern);
	table_string(table, 5, rule->actions);
}

static int list_answer(const char *parameters, struct rte_tel_data *data)
{
	uint64_t from = 0, rules = 0;
	struct port *port = parse_number(parameters, &from, false, data);
	unsigned listed = 0;
	struct table table;

	if (port == NULL)
		return 0;
	table_start(&table, "uuuuss", "id", "ns", "packets", "bytes", "pattern", "actions");
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < nb_made; i++) {
		if (made[i]->port != port)
			continue;
		rules++;
		if (made[i]->id >= from && listed < LISTED_MAX) {
			list_one(&table, made[i]);
			listed++;
		}
	}
	pthread_mutex_unlock(&lock);
	answer_u64(data, "rules", rules);
	return table_end(&table, data);
}

COMMAND("/linerate/flow/list", list_answer,
	"Rules made by these commands, 32 at a time: columns id, ns, packets, bytes, "
	"pattern, actions. Parameters: PORT[,FROM-ID]")

static int flush_answer(const char *parameters, struct rte_tel_data *data)
{
	struct rte_flow_error error = {0};
	struct port *port = port_find(parameters);
	uint64_t start, gone = 0;
	int rc;

	if (port == NULL)
		return -1;
	pthread_mutex_lock(&lock);
	start = rte_rdtsc_precise();
	rc = port_flow_flush(port, &error);
	answer_u64(data, "ns", flow_rule_ns_since(start));
	flow_rule_verdict(data, rc, NULL, &error);
	for (size_t i = nb_made; i-- > 0 && rc == 0;)
		if (made[i]->port == port) {
			forget(i);
			gone++;
		}
	answer_u64(data, "rules", gone);
	pthread_mutex_unlock(&lock);
	return 0;
}

COMMAND("/linerate/flow/flush", flush_answer,
	"Removes all rules of a port, also those that others made. Parameter: PORT")
