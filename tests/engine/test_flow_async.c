/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of rules through rte_flow's asynchronous API, on a device that is a queue and a list. */
#include "port/ethdev_flow_async.h"
#include "test.h"
#include "eal.h"

#include <errno.h>
#include <rte_errno.h>
#include <string.h>

#define PORT_ID 3
#define RULES_MAX 4096
#define QUEUE_MAX 256

/* Pointers that the device hands out stand for these. */
static int a_pattern, an_actions, a_table;
static char handles[RULES_MAX];

static struct {
	/* As the test wants it. */
	uint32_t max_queues, max_size, capacity;
	int refuse_info, refuse_table;
	/* As the device saw it. */
	uint32_t configured, queued, pushed, standing, made, most_queued;
	int failures[QUEUE_MAX]; /* results to come, in their order: nonzero failed */
	uint32_t sources[RULES_MAX];
	unsigned templates;
} device;

static int info_get(uint16_t port_id, struct rte_flow_port_info *port,
	struct rte_flow_queue_info *queue, struct rte_flow_error *error)
{
	CHECK_EQUAL(port_id, PORT_ID);
	port->max_nb_queues = device.max_queues;
	queue->max_size = device.max_size;
	return device.refuse_info == 0 ? 0
				       : rte_flow_error_set(error, device.refuse_info,
						 RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "none");
}

static int configure(__rte_unused uint16_t port_id,
	__rte_unused const struct rte_flow_port_attr *port, uint16_t nb_queues,
	const struct rte_flow_queue_attr *queues[], __rte_unused struct rte_flow_error *error)
{
	CHECK_EQUAL(nb_queues, 1);
	device.configured = queues[0]->size;
	return 0;
}

static struct rte_flow_pattern_template *pattern_create(__rte_unused uint16_t port_id,
	const struct rte_flow_pattern_template_attr *attr, const struct rte_flow_item *pattern,
	__rte_unused struct rte_flow_error *error)
{
	CHECK(attr->ingress == 1 && pattern[0].type == RTE_FLOW_ITEM_TYPE_IPV4);
	device.templates++;
	return (void *)&a_pattern;
}

static int pattern_destroy(__rte_unused uint16_t port_id, struct rte_flow_pattern_template *pattern,
	__rte_unused struct rte_flow_error *error)
{
	CHECK((void *)pattern == &a_pattern);
	device.templates--;
	return 0;
}

static struct rte_flow_actions_template *actions_create(__rte_unused uint16_t port_id,
	__rte_unused const struct rte_flow_actions_template_attr *attr,
	const struct rte_flow_action *actions, const struct rte_flow_action *masks,
	__rte_unused struct rte_flow_error *error)
{
	CHECK(actions[0].type == RTE_FLOW_ACTION_TYPE_DROP && masks[0].type == actions[0].type);
	device.templates++;
	return (void *)&an_actions;
}

static int actions_destroy(__rte_unused uint16_t port_id, struct rte_flow_actions_template *actions,
	__rte_unused struct rte_flow_error *error)
{
	CHECK((void *)actions == &an_actions);
	device.templates--;
	return 0;
}

static struct rte_flow_template_table *table_create(__rte_unused uint16_t port_id,
	const struct rte_flow_template_table_attr *attr,
	struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
	struct rte_flow_actions_template *actions[], uint8_t nb_actions,
	struct rte_flow_error *error)
{
	CHECK(nb_patterns == 1 && (void *)patterns[0] == &a_pattern);
	CHECK(nb_actions == 1 && (void *)actions[0] == &an_actions);
	CHECK(attr->nb_flows > 0 && attr->flow_attr.ingress == 1);
	if (device.refuse_table != 0) {
		(void)rte_flow_error_set(error, device.refuse_table,
			RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "no such table");
		return NULL;
	}
	device.templates++;
	return (void *)&a_table;
}

static int table_destroy(__rte_unused uint16_t port_id, struct rte_flow_template_table *table,
	__rte_unused struct rte_flow_error *error)
{
	CHECK((void *)table == &a_table);
	CHECK_EQUAL(device.standing, 0);
	device.templates--;
	return 0;
}

/* Returns false when the queue is full. */
static bool enqueue(bool failed)
{
	if (device.queued == device.configured)
		return false;
	device.failures[device.queued++] = failed;
	device.most_queued = RTE_MAX(device.most_queued, device.queued);
	return true;
}

static struct rte_flow *create(__rte_unused uint16_t port_id, uint32_t queue,
	const struct rte_flow_op_attr *attr, struct rte_flow_template_table *table,
	const struct rte_flow_item *pattern, __rte_unused uint8_t pattern_template,
	__rte_unused const struct rte_flow_action *actions, __rte_unused uint8_t actions_template,
	__rte_unused void *user, struct rte_flow_error *error)
{
	const struct rte_flow_item_ipv4 *spec = pattern[0].spec;

	CHECK(queue == 0 && attr->postpone == 1 && (void *)table == &a_table);
	if (!enqueue(device.standing >= device.capacity)) {
		(void)rte_flow_error_set(
			error, EAGAIN, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "the queue is full");
		return NULL;
	}
	device.sources[device.made] = spec->hdr.src_addr;
	device.standing++;
	return (void *)&handles[device.made++];
}

static int destroy(__rte_unused uint16_t port_id, __rte_unused uint32_t queue,
	__rte_unused const struct rte_flow_op_attr *attr, struct rte_flow *flow,
	__rte_unused void *user, __rte_unused struct rte_flow_error *error)
{
	CHECK((char *)flow >= handles && (char *)flow < handles + RULES_MAX);
	if (!enqueue(false))
		return -EAGAIN;
	device.standing--;
	return 0;
}

static int push(__rte_unused uint16_t port_id, __rte_unused uint32_t queue,
	__rte_unused struct rte_flow_error *error)
{
	device.pushed = device.queued;
	return 0;
}

/* At most a third of what it was asked for, as it likes. */
static int pull(__rte_unused uint16_t port_id, __rte_unused uint32_t queue,
	struct rte_flow_op_result *results, uint16_t count,
	__rte_unused struct rte_flow_error *error)
{
	uint32_t given = RTE_MIN(device.pushed, count / 3u + 1u);

	for (uint32_t i = 0; i < given; i++)
		results[i].status =
			device.failures[i] != 0 ? RTE_FLOW_OP_ERROR : RTE_FLOW_OP_SUCCESS;
	device.pushed -= given;
	device.queued -= given;
	memmove(device.failures, device.failures + given, device.queued * sizeof(int));
	return (int)given;
}

static const struct flow_async_calls calls = {
	.info_get = info_get,
	.configure = configure,
	.pattern_create = pattern_create,
	.pattern_destroy = pattern_destroy,
	.actions_create = actions_create,
	.actions_destroy = actions_destroy,
	.table_create = table_create,
	.table_destroy = table_destroy,
	.create = create,
	.destroy = destroy,
	.push = push,
	.pull = pull,
};

static struct rte_flow_item_ipv4 spec;

static void vary(__rte_unused void *rule, uint32_t number)
{
	spec.hdr.src_addr = number + 1;
}

static struct flow_async async;
static struct rte_flow_error error;

static struct port_flow_batch run(uint32_t count, int wanted)
{
	static const struct rte_flow_attr attr = {.ingress = 1};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &spec}, {.type = RTE_FLOW_ITEM_TYPE_END}};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_DROP}, {.type = RTE_FLOW_ACTION_TYPE_END}};
	struct port_flow_batch batch = {.attr = &attr,
		.pattern = pattern,
		.actions = actions,
		.count = count,
		.vary = vary};

	memset(&error, 0, sizeof(error));
	CHECK_EQUAL(flow_async_batch(&async, &batch, &error), wanted);
	CHECK_EQUAL(device.standing, 0);
	CHECK_EQUAL(device.templates, 0);
	CHECK_EQUAL(device.queued, 0);
	return batch;
}

static void opened(uint32_t max_size, uint32_t wanted)
{
	memset(&device, 0, sizeof(device));
	device.max_queues = 4;
	device.max_size = max_size;
	device.capacity = RULES_MAX;
	flow_async_configure(&async, &calls, PORT_ID, wanted);
}

static void all_rules_are_made_and_removed(void)
{
	static const uint32_t sizes[] = {1, 7, 32, 33, QUEUE_MAX};

	for (unsigned i = 0; i < RTE_DIM(sizes); i++) {
		struct port_flow_batch batch;

		opened(sizes[i], QUEUE_MAX);
		CHECK_EQUAL(device.configured, sizes[i]);
		batch = run(1000, 0);
		CHECK_EQUAL(batch.created, 1000);
		CHECK_EQUAL(batch.destroyed, 1000);
		CHECK_EQUAL(batch.queue_size, sizes[i]);
		CHECK(device.most_queued <= sizes[i]);
		CHECK(batch.create_ns > 0 && batch.destroy_ns > 0);
		for (uint32_t n = 0; n < 1000; n++)
			CHECK_EQUAL(device.sources[n], n + 1);
	}
}

static void results_that_failed_are_no_rules(void)
{
	opened(64, 64);
	device.capacity = 100;
	CHECK_EQUAL(run(150, 0).created, 100);
	CHECK_EQUAL(device.made, 150);
}

static void a_refused_table_leaves_no_template(void)
{
	opened(64, 64);
	device.refuse_table = EINVAL;
	CHECK_EQUAL(run(10, -EINVAL).created, 0);
	CHECK(strcmp(error.message, "no such table") == 0);
}

static void a_device_without_it_says_so(void)
{
	opened(64, 64);
	device.refuse_info = ENOSYS;
	flow_async_configure(&async, &calls, PORT_ID, 64);
	CHECK_EQUAL(run(10, -ENOTSUP).queue_size, 0);
	CHECK(strcmp(error.message, "none") == 0);
	device.refuse_info = 0;
	device.max_queues = 0;
	flow_async_configure(&async, &calls, PORT_ID, 64);
	CHECK_EQUAL(run(10, -ENOTSUP).created, 0);
	CHECK(error.message != NULL);
}

int main(void)
{
	static const struct test_case cases[] = {
		{"all rules of a batch are made and removed, whatever the queue holds",
			all_rules_are_made_and_removed},
		{"results that failed are no rules", results_that_failed_are_no_rules},
		{"a refused table leaves no template", a_refused_table_leaves_no_template},
		{"a device without the API says so", a_device_without_it_says_so},
	};

	if (!eal_start("64", "--lcores=0@0"))
		return EXIT_FAILURE;
	return TEST_RUN(cases);
}
