/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker.h"

#include "waker.h"

#include <errno.h>
#include <rte_cycles.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct worker *workers[WORKERS_MAX];
static unsigned nb_workers;
static unsigned nb_forwarders, nb_testers;
static int main_cpu;
static char layout[1024];
static bool system_calls; /* some port makes one or more a vector */

static struct worker *worker_add(const char *name, enum worker_role role, int cpu)
{
	struct worker *worker = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*worker));

	if (worker == NULL)
		return NULL;
	memset(worker, 0, sizeof(*worker));
	snprintf(worker->name, sizeof(worker->name), "%s", name);
	worker->role = role;
	worker->cpu = cpu;
	worker->index = nb_workers;
	worker->lcore = nb_workers + 1;
	if (role & WORKER_FORWARDER)
		worker->forwarder_index = nb_forwarders++;
	if (role & WORKER_TESTER)
		worker->tester_index = nb_testers++;
	workers[nb_workers++] = worker;
	return worker;
}

const char *rx_mode_name(enum rx_mode mode)
{
	static const char *const names[RX_MODES] = {"polling", "interrupt", "adaptive"};

	return names[mode];
}

static void mark_turns(void)
{
	for (unsigned i = 0; i < nb_workers; i++)
		for (unsigned j = 0; j < nb_workers; j++)
			workers[i]->takes_turns |= i != j && workers[i]->cpu == workers[j]->cpu;
}

/* Adds to the sentence on who runs where. */
static void layout_add(const char *format, ...)
{
	size_t length = strlen(layout);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(layout + length, sizeof(layout) - length, format, arguments);
	va_end(arguments);
}

/* Gives `count` workers the CPUs from `first` to below `end`, in turn. */
static void add_workers(enum worker_role role, unsigned count, const char *name, const int *cpus,
	unsigned first, unsigned end)
{
	char own[32];

	for (unsigned i = 0; i < count; i++) {
		int cpu = cpus[first + i % (end - first)];

		if (count == 1 && role == WORKER_TESTER)
			snprintf(own, sizeof(own), "%s", name);
		else
			snprintf(own, sizeof(own), "%s-%u", name, i);
		worker_add(own, role, cpu);
		layout_add(", %s on %d", own, cpu);
	}
}

/* One CPU: everything on it. Two: tester (with housekeeping) and forwarder. More: one each, and the
 * forwarder's workers first: what they can do is to be measured. */
int workers_plan(const int *cpus, unsigned nb_cpus, unsigned testers, unsigned forwarders,
	enum rx_mode rx_mode)
{
	unsigned first, between, ours;

	if (forwarders + testers > WORKERS_MAX - 1) {
		fprintf(stderr, "at most %d workers\n", WORKERS_MAX - 1);
		return -1;
	}
	main_cpu = cpus[0];
	/* A tester polls always: who wants to sleep must be another thread. */
	if (nb_cpus == 1 && testers == 1 && forwarders == 1 && rx_mode == RX_POLLING) {
		worker_add("worker", WORKER_BOTH, cpus[0]);
		layout_add("1 CPU: tester and forwarder take turns on CPU %d; rates are about half",
			cpus[0]);
		return (int)nb_workers;
	}
	/* One is left for housekeeping alone, if there is one. */
	first = nb_cpus > testers + forwarders ? 1 : 0;
	ours = nb_cpus - first > forwarders ? nb_cpus - first - forwarders : 1;
	between = testers == 0 ? first : first + RTE_MIN(testers, ours);
	layout_add("%u CPU%s: housekeeping on %d", nb_cpus, nb_cpus == 1 ? "" : "s", main_cpu);
	add_workers(WORKER_TESTER, testers, "tester", cpus, first, between);
	add_workers(WORKER_FORWARDER, forwarders, "forwarder", cpus, RTE_MIN(between, nb_cpus - 1),
		nb_cpus);
	mark_turns();
	for (unsigned i = 0; i < nb_workers; i++)
		if (workers[i]->role == WORKER_FORWARDER)
			workers[i]->rx_mode = rx_mode;
	if (testers > ours || forwarders > nb_cpus - RTE_MIN(between, nb_cpus - 1))
		layout_add(" (more workers than CPUs: they take turns)");
	return (int)nb_workers;
}

unsigned workers_count(void)
{
	return nb_workers;
}

struct worker *worker_at(unsigned index)
{
	return index < nb_workers ? workers[index] : NULL;
}

bool worker_away_within(uint64_t since, uint64_t until)
{
	for (unsigned i = 0; i < workers_count(); i++) {
		const struct worker *worker = worker_at(i);

		if (__atomic_load_n(&worker->away_until, __ATOMIC_RELAXED) > since &&
			__atomic_load_n(&worker->away_since, __ATOMIC_RELAXED) < until)
			return true;
	}
	return false;
}

struct worker *worker_find(const char *name)
{
	for (unsigned i = 0; i < nb_workers; i++)
		if (strcmp(workers[i]->name, name) == 0)
			return workers[i];
	return NULL;
}

struct worker *worker_of_tester(unsigned tester_index)
{
	for (unsigned i = 0; i < nb_workers; i++)
		if ((workers[i]->role & WORKER_TESTER) && workers[i]->tester_index == tester_index)
			return workers[i];
	return NULL;
}

unsigned workers_testers(void)
{
	return nb_testers;
}

struct worker *worker_of_forwarder(unsigned forwarder_index)
{
	for (unsigned i = 0; i < nb_workers; i++)
		if ((workers[i]->role & WORKER_FORWARDER) &&
			workers[i]->forwarder_index == forwarder_index)
			return workers[i];
	return NULL;
}

unsigned workers_forwarders(void)
{
	return nb_forwarders;
}

struct node_stats *worker_node_stats(struct worker *worker, const char *node)
{
	rte_node_t id = rte_node_from_name(node);

	return id < WORKER_NODES_MAX ? &worker->nodes[id] : NULL;
}

int workers_main_cpu(void)
{
	return main_cpu;
}

const char *workers_layout(void)
{
	return layout;
}

void workers_expect_system_calls(void)
{
	system_calls = true;
}

uint64_t worker_away_limit(void)
{
	uint64_t us = system_calls ? WORKER_AWAY_SYSTEM_CALLS_US : WORKER_AWAY_US;

	return rte_get_tsc_hz() / 1000000 * us;
}

/* Where calls are system calls, long ones are work. */
uint64_t worker_call_limit(void)
{
	return system_calls ? worker_away_limit() : rte_get_tsc_hz() / 1000000 * WORKER_CALL_US;
}

/* Where polls are system calls, long ones are work. */
uint64_t worker_stall_limit(void)
{
	if (system_calls)
		return worker_away_limit();
	return rte_get_tsc_hz() / 1000000 * WORKER_STALL_US;
}

int workers_create_wakers(void)
{
	for (unsigned i = 0; i < nb_workers; i++) {
		if (workers[i]->rx_mode == RX_POLLING)
			continue;
		workers[i]->waker = waker_create();
		if (workers[i]->waker == NULL)
			return -EMFILE;
	}
	return 0;
}
