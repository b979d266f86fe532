/* SPDX-License-Identifier: BSD-3-Clause */
#include "card_flow_rules.h"

#include "core/memory.h"
#include "core/rcu.h"

#include <errno.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_pause.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUCKET_RULES 8
#define NO_BUCKET UINT32_MAX
/* Slots beyond the capacity, for rules that the worker may still see. */
#define SPARE_SLOTS 1024
#define RECLAIM_WAIT_US 100
#define RECLAIM_WAITS 1000
#define US_PER_SECOND 1000000
#define NS_PER_US 1000
#define POLLED_US 100

struct card_retired {
	uint64_t token;
	uint32_t slot;
};

static void *zeroed(size_t count, size_t bytes)
{
	return rte_zmalloc_socket("flow table", RTE_MAX(count, (size_t)1) * bytes,
		RTE_CACHE_LINE_SIZE, memory_socket());
}

void card_flow_table_free(struct card_flow_table *table)
{
	if (table == NULL)
		return;
	rte_free(table->heads);
	rte_free(table->rules);
	free(table->buckets);
	free(table->free);
	free(table->retired);
	pthread_mutex_destroy(&table->lock);
	rte_free(table);
}

struct card_flow_table *card_flow_table_create(const struct card_flow_limits *limits)
{
	struct card_flow_table *table = zeroed(1, sizeof(*table));
	uint32_t heads = rte_align32pow2(limits->capacity * 2);

	if (table == NULL)
		return NULL;
	pthread_mutex_init(&table->lock, NULL);
	table->limits = *limits;
	table->any_ports = strcmp(limits->ignore, CARD_IGNORE_PORTS) == 0;
	table->mask = heads - 1;
	table->nb_slots = limits->capacity + SPARE_SLOTS;
	table->nb_buckets =
		(limits->capacity - limits->guaranteed + BUCKET_RULES - 1) / BUCKET_RULES;
	table->heads = zeroed(heads, sizeof(*table->heads));
	table->rules = zeroed(table->nb_slots, sizeof(*table->rules));
	table->buckets = calloc(RTE_MAX(table->nb_buckets, 1u), sizeof(*table->buckets));
	table->free = calloc(table->nb_slots, sizeof(*table->free));
	table->retired = calloc(table->nb_slots, sizeof(*table->retired));
	if (table->heads == NULL || table->rules == NULL || table->buckets == NULL ||
		table->free == NULL || table->retired == NULL) {
		card_flow_table_free(table);
		return NULL;
	}
	while (table->nb_free < table->nb_slots) {
		table->free[table->nb_free] = table->nb_slots - 1 - table->nb_free;
		table->nb_free++;
	}
	return table;
}

/*
 * Time that the device takes to execute an order. As in a driver that waits for hardware: sleeps
 * while much time is left, and polls the rest, since a sleep ends tens of microseconds late.
 */
static void program(const struct card_flow_table *table)
{
	uint64_t start = rte_rdtsc(), us = table->limits.programming_us;
	uint64_t sleep_us = us > POLLED_US ? us - POLLED_US : 0;
	struct timespec time = {.tv_sec = (time_t)(sleep_us / US_PER_SECOND),
		.tv_nsec = (long)(sleep_us % US_PER_SECOND) * NS_PER_US};

	while (sleep_us > 0 && nanosleep(&time, &time) != 0 && errno == EINTR)
		;
	while (rte_rdtsc() - start < us * rte_get_tsc_hz() / US_PER_SECOND)
		rte_pause();
}

/* Takes back the slots that no worker can see any more. */
static void reclaim(struct card_flow_table *table)
{
	while (table->nb_retired > 0) {
		const struct card_retired *oldest = &table->retired[table->retired_first];

		if (rcu != NULL && !rcu_passed(oldest->token))
			return;
		table->free[table->nb_free++] = oldest->slot;
		table->retired_first = (table->retired_first + 1) % table->nb_slots;
		table->nb_retired--;
	}
}

static struct card_rule *take_slot(struct card_flow_table *table)
{
	const struct timespec pause = {.tv_nsec = (long)RECLAIM_WAIT_US * NS_PER_US};

	reclaim(table);
	for (unsigned waits = 0; table->nb_free == 0 && waits < RECLAIM_WAITS; waits++) {
		(void)nanosleep(&pause, NULL);
		reclaim(table);
	}
	return table->nb_free == 0 ? NULL : &table->rules[table->free[--table->nb_free]];
}

static void retire(struct card_flow_table *table, struct card_rule *rule)
{
	uint32_t at = (table->retired_first + table->nb_retired++) % table->nb_slots;

	table->retired[at] = (struct card_retired){
		.token = rcu == NULL ? 0 : rcu_token(),
		.slot = (uint32_t)(rule - table->rules),
	};
}

static uint32_t *head_of(const struct card_flow_table *table, const struct card_rule *rule)
{
	return &table->heads[(card_flow_hash(&rule->key) >> 8) & table->mask];
}

/* Where the rule's slot is named: in the head or in the rule before; NULL when it is not there. */
static uint32_t *link_to(const struct card_flow_table *table, const struct card_rule *rule)
{
	uint32_t *link = head_of(table, rule);

	while (*link != 0 && &table->rules[*link - 1] != rule)
		link = &table->rules[*link - 1].next;
	return *link == 0 ? NULL : link;
}

static bool is_known(const struct card_flow_table *table, const struct card_rule *rule)
{
	for (uint32_t word = *head_of(table, rule); word != 0; word = table->rules[word - 1].next)
		if (memcmp(&table->rules[word - 1].key, &rule->key, sizeof(rule->key)) == 0)
			return true;
	return false;
}

static void link_rule(struct card_flow_table *table, struct card_rule *rule)
{
	uint32_t *head = head_of(table, rule);

	rule->linked = true;
	rule->next = *head;
	__atomic_store_n(head, (uint32_t)(rule - table->rules) + 1, __ATOMIC_RELEASE);
	if (rule->key.vlan != CARD_VLAN_ANY)
		__atomic_add_fetch(&table->nb_linked_tagged, 1, __ATOMIC_RELEASE);
	__atomic_add_fetch(&table->nb_linked, 1, __ATOMIC_RELEASE);
}

static void unlink_rule(struct card_flow_table *table, struct card_rule *rule)
{
	uint32_t *link = link_to(table, rule);

	rule->linked = false;
	if (link == NULL)
		return;
	__atomic_store_n(link, rule->next, __ATOMIC_RELEASE);
	if (rule->key.vlan != CARD_VLAN_ANY)
		__atomic_sub_fetch(&table->nb_linked_tagged, 1, __ATOMIC_RELEASE);
	__atomic_sub_fetch(&table->nb_linked, 1, __ATOMIC_RELEASE);
}

/* Finds room; returns 0 or -errno with *error. */
static int place(
	struct card_flow_table *table, struct card_rule *rule, struct rte_flow_error *error)
{
	rule->bucket = NO_BUCKET;
	if (table->nb_standing == table->limits.capacity)
		return rte_flow_error_set(error, ENOSPC, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"the flow table is full");
	if (table->nb_guaranteed < table->limits.guaranteed) {
		table->nb_guaranteed++;
		return 0;
	}
	/* Other bits of the hash than those that find a rule. */
	rule->bucket = (uint32_t)((uint64_t)(card_flow_hash(&rule->key) * 0x85ebca6bu) *
					  table->nb_buckets >>
				  32);
	if (table->buckets[rule->bucket] == BUCKET_RULES)
		return rte_flow_error_set(error, ENOSPC, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"hash collision: the flow's bucket is full");
	table->buckets[rule->bucket]++;
	return 0;
}

/* Takes the rule's place and handle away. */
static void take_away(struct card_flow_table *table, struct card_rule *rule)
{
	if (rule->bucket == NO_BUCKET)
		table->nb_guaranteed--;
	else
		table->buckets[rule->bucket]--;
	table->nb_standing--;
	rule->stands = false;
	if (rule->linked)
		unlink_rule(table, rule);
	retire(table, rule);
}

static void take_all_away(struct card_flow_table *table)
{
	for (uint32_t slot = 0; slot < table->nb_slots && table->nb_standing > 0; slot++)
		if (table->rules[slot].stands)
			take_away(table, &table->rules[slot]);
}

/* A handle is no pointer to the rule: one from before a reset must do no harm. */
static struct rte_flow *handle_of(const struct card_flow_table *table, const struct card_rule *rule)
{
	uint64_t slot = (uint64_t)(rule - table->rules) + 1;

	return (struct rte_flow *)(uintptr_t)((uint64_t)rule->generation << 32 | slot);
}

/* Returns NULL with *error for a rule that is gone. */
static struct card_rule *rule_of(const struct card_flow_table *table, const struct rte_flow *flow,
	struct rte_flow_error *error)
{
	uint64_t handle = (uintptr_t)flow;
	uint32_t slot = (uint32_t)handle - 1;

	if (slot < table->nb_slots && table->rules[slot].stands &&
		table->rules[slot].generation == handle >> 32)
		return &table->rules[slot];
	(void)rte_flow_error_set(error, ENOENT, RTE_FLOW_ERROR_TYPE_HANDLE, flow,
		"the rule is not there (any more)");
	return NULL;
}

static int no_table(struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
		"the card has no flow table (cards[].flow_table)");
}

int card_flow_validate(struct card_port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	struct card_rule rule;

	if (port->flow_table == NULL)
		return no_table(error);
	return card_flow_translate(port->card, attr, pattern, actions, &rule, error);
}

/* With the lock. */
static struct card_rule *add(
	struct card_flow_table *table, const struct card_rule *wanted, struct rte_flow_error *error)
{
	struct card_rule *rule;
	uint32_t generation;

	if (is_known(table, wanted)) {
		(void)rte_flow_error_set(error, EEXIST, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"there is a rule for this flow");
		return NULL;
	}
	rule = take_slot(table);
	if (rule == NULL) {
		(void)rte_flow_error_set(error, EBUSY, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"the card is busy with rules that were destroyed");
		return NULL;
	}
	generation = rule->generation + 1;
	*rule = *wanted;
	rule->generation = generation;
	if (place(table, rule, error) != 0) {
		table->free[table->nb_free++] = (uint32_t)(rule - table->rules);
		return NULL;
	}
	table->nb_standing++;
	rule->stands = true;
	if (!table->limits.silent)
		link_rule(table, rule);
	return rule;
}

struct rte_flow *card_flow_create(struct card_port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	struct card_flow_table *table = port->flow_table;
	struct card_rule wanted, *rule = NULL;
	struct rte_flow *flow = NULL;
	int rc;

	if (table == NULL) {
		(void)no_table(error);
		return NULL;
	}
	rc = card_flow_translate(port->card, attr, pattern, actions, &wanted, error);
	pthread_mutex_lock(&table->lock);
	if (rc == 0) {
		program(table);
		rule = add(table, &wanted, error);
	}
	if (rule == NULL)
		table->refused++;
	else
		flow = handle_of(table, rule);
	pthread_mutex_unlock(&table->lock);
	return flow;
}

int card_flow_destroy(struct card_port *port, struct rte_flow *flow, struct rte_flow_error *error)
{
	struct card_flow_table *table = port->flow_table;
	struct card_rule *rule;

	if (table == NULL)
		return no_table(error);
	pthread_mutex_lock(&table->lock);
	rule = rule_of(table, flow, error);
	if (rule != NULL) {
		program(table);
		take_away(table, rule);
	}
	pthread_mutex_unlock(&table->lock);
	return rule == NULL ? -ENOENT : 0;
}

int card_flow_flush(struct card_port *port, struct rte_flow_error *error)
{
	struct card_flow_table *table = port->flow_table;

	if (table == NULL)
		return no_table(error);
	pthread_mutex_lock(&table->lock);
	program(table);
	take_all_away(table);
	pthread_mutex_unlock(&table->lock);
	return 0;
}

int card_flow_count(struct card_port *port, struct rte_flow *flow,
	struct rte_flow_query_count *count, struct rte_flow_error *error)
{
	struct card_flow_table *table = port->flow_table;
	struct card_rule *rule;
	int rc = 0;

	if (table == NULL)
		return no_table(error);
	pthread_mutex_lock(&table->lock);
	rule = rule_of(table, flow, error);
	if (rule == NULL) {
		rc = -ENOENT;
	} else if ((rule->flags & CARD_RULE_COUNT) == 0) {
		rc = rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, NULL,
			"the rule does not count");
	} else {
		count->hits = __atomic_load_n(&rule->packets, __ATOMIC_RELAXED);
		count->bytes = __atomic_load_n(&rule->bytes, __ATOMIC_RELAXED);
		count->hits_set = count->bytes_set = 1;
	}
	pthread_mutex_unlock(&table->lock);
	return rc;
}

void card_flow_reset(struct card_port *port)
{
	struct card_flow_table *table = port->flow_table;

	if (table == NULL)
		return;
	pthread_mutex_lock(&table->lock);
	take_all_away(table);
	table->resets++;
	pthread_mutex_unlock(&table->lock);
}
