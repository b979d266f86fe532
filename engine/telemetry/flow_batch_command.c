/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/flow/batch: how fast rules are made through rte_flow's asynchronous API. */
#include "flow_rule_answer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MAX 65536u
/* An odd number: multiplied by it, no two of 2^16 become the same. */
#define SCRAMBLE 40503u

/* A queue of the device is one thread's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Another source address for each number, in its lowest 16 bits. */
static void vary(void *text, uint32_t number)
{
	rte_be16_t low = rte_cpu_to_be_16((uint16_t)(number * SCRAMBLE));
	struct rule_text *rule = text;

	for (unsigned i = 0; i < rule->nb_items; i++) {
		union rule_header *spec = rule->headers[i];

		if (rule->pattern[i].type == RTE_FLOW_ITEM_TYPE_IPV4)
			memcpy((uint8_t *)&spec->ipv4.hdr.src_addr + 2, &low, sizeof(low));
		else if (rule->pattern[i].type == RTE_FLOW_ITEM_TYPE_IPV6)
			memcpy((uint8_t *)&spec->ipv6.hdr.src_addr + 14, &low, sizeof(low));
	}
}

static int batch_answer(const char *parameters, struct rte_tel_data *data)
{
	struct port_flow_batch batch = {.vary = vary};
	struct rte_flow_error error = {0};
	const char *rest = "";
	struct port *port = flow_rule_port(parameters, " ", &rest);
	struct rule_text rule;
	char *text;
	int rc;

	batch.count = (uint32_t)strtoul(rest, &text, 10);
	if (port == NULL || batch.count == 0 || batch.count > RULES_MAX || *text != ' ')
		return answer_error(data, "expected PORT COUNT RULE, at most 65536 rules");
	if (!flow_rule_read(text + 1, &rule, data))
		return 0;
	batch.rule = &rule;
	batch.attr = &rule.attr;
	batch.pattern = rule.pattern;
	batch.actions = rule.actions;
	pthread_mutex_lock(&lock);
	rc = port_flow_batch(port, &batch, &error);
	pthread_mutex_unlock(&lock);
	answer_u64(data, "queue_size", batch.queue_size);
	answer_u64(data, "created", batch.created);
	answer_u64(data, "destroyed", batch.destroyed);
	answer_u64(data, "create_ns", batch.create_ns);
	answer_u64(data, "destroy_ns", batch.destroy_ns);
	flow_rule_verdict(data, rc, &rule, &error);
	return 0;
}

COMMAND("/linerate/flow/batch", batch_answer,
	"Makes and removes rules by rte_flow's asynchronous API. Parameters: PORT COUNT RULE, with "
	"blanks between")
