/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/trace/start, /linerate/trace/stop, /linerate/trace/read: packet traces. */
#include "core/trace.h"
#include "command.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEX_LINE_BYTES 60

/* A thread serves each client: one at a time arms a trace or reads it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A decimal number, digits only, of four at most. */
static bool read_number(const char *text, unsigned *number)
{
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 4 || text[digits] != '\0')
		return false;
	*number = (unsigned)strtoul(text, NULL, 10);
	return true;
}

static void answer_state(struct rte_tel_data *data)
{
	answer_string(data, "node", trace_node() == NULL ? "" : trace_node());
	answer_u64(data, "count", trace_count());
	answer_u64(data, "traced", trace_ended());
}

/* "NODE,COUNT" */
static int start_answer(const char *parameters, struct rte_tel_data *data)
{
	const char *comma = parameters == NULL ? NULL : strchr(parameters, ',');
	char node[RTE_NODE_NAMESIZE];
	const char *wrong;
	unsigned count;

	if (comma == NULL || comma - parameters >= (ptrdiff_t)sizeof(node) ||
		!read_number(comma + 1, &count))
		return -1;
	snprintf(node, sizeof(node), "%.*s", (int)(comma - parameters), parameters);
	pthread_mutex_lock(&lock);
	wrong = trace_start(node, count);
	if (wrong != NULL)
		answer_error(data, wrong);
	else
		answer_state(data);
	pthread_mutex_unlock(&lock);
	return 0;
}

COMMAND("/linerate/trace/start", start_answer,
	"Traces the next packets that come to a node. Parameters: NODE,COUNT")

static int stop_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	pthread_mutex_lock(&lock);
	trace_stop();
	answer_state(data);
	pthread_mutex_unlock(&lock);
	return 0;
}

COMMAND("/linerate/trace/stop", stop_answer,
	"Ends the trace; what was traced can still be read. Takes no parameter")

/* In lines that fit a string of DPDK's. */
static void answer_frame(struct rte_tel_data *data, const struct trace_packet *packet)
{
	struct rte_tel_data *lines = rte_tel_data_alloc();
	unsigned length = RTE_MIN(packet->length, (uint32_t)TRACE_FRAME_BYTES);

	if (lines == NULL)
		return;
	rte_tel_data_start_array(lines, RTE_TEL_STRING_VAL);
	for (unsigned from = 0; from < length; from += HEX_LINE_BYTES) {
		char line[2 * HEX_LINE_BYTES + 1] = "";

		for (unsigned i = from; i < RTE_MIN(length, from + HEX_LINE_BYTES); i++)
			snprintf(line + 2 * (size_t)(i - from), 3, "%02x", packet->frame[i]);
		rte_tel_data_add_array_string(lines, line);
	}
	rte_tel_data_add_dict_container(data, "frame", lines, 0);
}

static const char *next_of(const struct trace_hop *hop)
{
	if (hop->outcome == TRACE_SENT_ON)
		return rte_node_id_to_name(hop->next);
	return hop->outcome == TRACE_HELD ? "(held)" : "(left)";
}

static int answer_hops(struct rte_tel_data *data, const struct trace_packet *packet)
{
	struct table table;

	table_start(&table, "sssss", "node", "fused", "next", "reason", "text");
	for (unsigned i = 0; i < packet->nb_hops; i++) {
		const struct trace_hop *hop = &packet->hops[i];
		char fused[TRACE_TEXT_BYTES] = "";

		for (unsigned f = 0; f < NODE_FUSED_MAX && hop->fused[f] != NULL; f++) {
			size_t used = strlen(fused);

			snprintf(fused + used, sizeof(fused) - used, "%s%s", f == 0 ? "" : " ",
				hop->fused[f]);
		}
		table_string(&table, 0, rte_node_id_to_name(hop->node));
		table_string(&table, 1, fused);
		table_string(&table, 2, next_of(hop));
		table_string(&table, 3, hop->reason == NULL ? "" : hop->reason);
		table_string(&table, 4, hop->text);
	}
	return table_end(&table, data);
}

static int answer_packet(struct rte_tel_data *data, unsigned number)
{
	const struct trace_packet *packet = trace_packet(number);

	if (packet == NULL)
		return answer_error(data, "there is no such packet yet");
	answer_string(data, "worker", packet->worker->name);
	answer_u64(data, "length", packet->length);
	answer_u64(data, "cut", packet->cut);
	answer_frame(data, packet);
	return answer_hops(data, packet);
}

/* Nothing, or the number of a packet. */
static int read_answer(const char *parameters, struct rte_tel_data *data)
{
	unsigned number = 0;
	int rc = 0;

	if (parameters != NULL && !read_number(parameters, &number))
		return -1;
	pthread_mutex_lock(&lock);
	if (parameters == NULL)
		answer_state(data);
	else
		rc = answer_packet(data, number);
	pthread_mutex_unlock(&lock);
	return rc;
}

COMMAND("/linerate/trace/read", read_answer,
	"How many packets were traced; with a number, from 0, that packet's way: columns "
	"node, fused, next, reason, text")
