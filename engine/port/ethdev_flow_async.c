/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev_flow_async.h"

#include <errno.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operations between two pushes. */
#define BURST 32
#define PULL_SECONDS 10
#define NS_PER_SECOND 1e9

const struct flow_async_calls ethdev_flow_async_dpdk = {
	.info_get = rte_flow_info_get,
	.configure = rte_flow_configure,
	.pattern_create = rte_flow_pattern_template_create,
	.pattern_destroy = rte_flow_pattern_template_destroy,
	.actions_create = rte_flow_actions_template_create,
	.actions_destroy = rte_flow_actions_template_destroy,
	.table_create = rte_flow_template_table_create,
	.table_destroy = rte_flow_template_table_destroy,
	.create = rte_flow_async_create,
	.destroy = rte_flow_async_destroy,
	.push = rte_flow_push,
	.pull = rte_flow_pull,
};

static void keep_why_not(struct flow_async *async, int rc, const struct rte_flow_error *error)
{
	snprintf(async->why_not, sizeof(async->why_not), "%s",
		error->message != NULL ? error->message : rte_strerror(-rc));
}

void flow_async_configure(struct flow_async *async, const struct flow_async_calls *calls,
	uint16_t port_id, uint32_t queue_size)
{
	struct rte_flow_port_info info = {0};
	struct rte_flow_queue_info queue = {0};
	struct rte_flow_error error = {0};
	int rc = calls->info_get(port_id, &info, &queue, &error);
	struct rte_flow_queue_attr attr = {.size = RTE_MIN(queue_size, queue.max_size)};
	const struct rte_flow_queue_attr *attrs[] = {&attr};
	const struct rte_flow_port_attr none = {0};

	async->calls = calls;
	async->port_id = port_id;
	async->queue_size = 0;
	if (rc == 0 && (info.max_nb_queues == 0 || attr.size == 0))
		rc = -ENOTSUP;
	if (rc == 0)
		rc = calls->configure(port_id, &none, 1, attrs, &error);
	if (rc == 0)
		async->queue_size = attr.size;
	else
		keep_why_not(async, rc, &error);
}

/* Templates and table of one batch, and its rules. */
struct work {
	struct flow_async *async;
	struct port_flow_batch *batch;
	struct rte_flow_error *error;
	struct rte_flow_pattern_template *pattern;
	struct rte_flow_actions_template *actions;
	struct rte_flow_template_table *table;
	struct rte_flow **rules;
	uint32_t nb_rules;
	uint32_t waiting; /* operations whose result is to come */
	uint32_t failed;  /* by their results */
};

static int open_table(struct work *work)
{
	const struct rte_flow_pattern_template_attr pattern = {.relaxed_matching = 1, .ingress = 1};
	const struct rte_flow_actions_template_attr actions = {.ingress = 1};
	const struct rte_flow_template_table_attr table = {
		.flow_attr = *work->batch->attr, .nb_flows = work->batch->count};
	const struct flow_async_calls *calls = work->async->calls;
	uint16_t port_id = work->async->port_id;

	work->pattern = calls->pattern_create(port_id, &pattern, work->batch->pattern, work->error);
	if (work->pattern == NULL)
		return -rte_errno;
	/* The actions are those of the template in each rule: they are their own masks. */
	work->actions = calls->actions_create(
		port_id, &actions, work->batch->actions, work->batch->actions, work->error);
	if (work->actions == NULL)
		return -rte_errno;
	work->table = calls->table_create(
		port_id, &table, &work->pattern, 1, &work->actions, 1, work->error);
	return work->table == NULL ? -rte_errno : 0;
}

static void close_table(struct work *work)
{
	const struct flow_async_calls *calls = work->async->calls;
	uint16_t port_id = work->async->port_id;
	struct rte_flow_error ignored;

	if (work->table != NULL)
		(void)calls->table_destroy(port_id, work->table, &ignored);
	if (work->actions != NULL)
		(void)calls->actions_destroy(port_id, work->actions, &ignored);
	if (work->pattern != NULL)
		(void)calls->pattern_destroy(port_id, work->pattern, &ignored);
}

/* Pulls results until at most `left` operations wait. */
static int pull(struct work *work, uint32_t left)
{
	struct rte_flow_op_result results[BURST];
	uint64_t deadline = rte_rdtsc() + PULL_SECONDS * rte_get_tsc_hz();

	while (work->waiting > left) {
		int count = work->async->calls->pull(
			work->async->port_id, 0, results, BURST, work->error);

		if (count < 0)
			return count;
		for (int i = 0; i < count; i++)
			work->failed += results[i].status != RTE_FLOW_OP_SUCCESS;
		work->waiting -= (uint32_t)count;
		if (count == 0 && rte_rdtsc() > deadline)
			return rte_flow_error_set(work->error, ETIMEDOUT,
				RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				"results of the queue do not come");
	}
	return 0;
}

/* After each operation: pushes a burst, and makes room in the queue. */
static int advance(struct work *work)
{
	uint32_t burst = RTE_MIN((uint32_t)BURST, work->async->queue_size);
	int rc;

	work->waiting++;
	if (work->waiting % burst != 0 && work->waiting < work->async->queue_size)
		return 0;
	rc = work->async->calls->push(work->async->port_id, 0, work->error);
	return rc != 0 ? rc : pull(work, work->async->queue_size - burst);
}

static int finish(struct work *work)
{
	int rc = work->async->calls->push(work->async->port_id, 0, work->error);

	return rc != 0 ? rc : pull(work, 0);
}

static uint64_t ns_since(uint64_t start)
{
	return (uint64_t)((double)(rte_rdtsc_precise() - start) * NS_PER_SECOND /
			  (double)rte_get_tsc_hz());
}

static int create_all(struct work *work)
{
	const struct rte_flow_op_attr postponed = {.postpone = 1};
	struct port_flow_batch *batch = work->batch;
	uint64_t start = rte_rdtsc_precise();
	int rc = 0;

	while (rc == 0 && work->nb_rules < batch->count) {
		struct rte_flow *rule;

		batch->vary(batch->rule, work->nb_rules);
		rule = work->async->calls->create(work->async->port_id, 0, &postponed, work->table,
			batch->pattern, 0, batch->actions, 0, NULL, work->error);
		if (rule == NULL)
			rc = -rte_errno;
		else
			work->rules[work->nb_rules++] = rule;
		if (rule != NULL)
			rc = advance(work);
	}
	rc = rc != 0 ? rc : finish(work);
	batch->create_ns = ns_since(start);
	batch->created = work->nb_rules - work->failed;
	return rc;
}

/* Also after a failure: what was ordered shall not stay. */
static int destroy_all(struct work *work)
{
	const struct rte_flow_op_attr postponed = {.postpone = 1};
	uint64_t start;
	int rc = finish(work);

	work->failed = 0;
	start = rte_rdtsc_precise();
	for (uint32_t i = 0; i < work->nb_rules && rc == 0; i++) {
		rc = work->async->calls->destroy(
			work->async->port_id, 0, &postponed, work->rules[i], NULL, work->error);
		if (rc == 0)
			rc = advance(work);
	}
	rc = rc != 0 ? rc : finish(work);
	work->batch->destroy_ns = ns_since(start);
	work->batch->destroyed = rc == 0 ? work->nb_rules - work->failed : 0;
	return rc;
}

int flow_async_batch(
	struct flow_async *async, struct port_flow_batch *batch, struct rte_flow_error *error)
{
	struct work work = {.async = async, .batch = batch, .error = error};
	struct rte_flow_error ignored;
	int rc;

	batch->queue_size = async->queue_size;
	if (async->queue_size == 0)
		return rte_flow_error_set(
			error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, async->why_not);
	work.rules = calloc(batch->count, sizeof(struct rte_flow *));
	if (work.rules == NULL)
		return rte_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for the rules' handles");
	rc = open_table(&work);
	if (rc == 0)
		rc = create_all(&work);
	work.error = rc == 0 ? error : &ignored;
	if (work.table != NULL) {
		int removed = destroy_all(&work);

		rc = rc != 0 ? rc : removed;
	}
	close_table(&work);
	free(work.rules);
	return rc;
}
