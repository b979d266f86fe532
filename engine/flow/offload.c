/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload.h"

#include "modes/forwarder.h"
#include "port/port.h"
#include "offload_hold.h"
#include "offload_port.h"

#include <errno.h>
#include <pthread.h>
#include <rte_cycles.h>
#include <rte_ring_elem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RULES_DEFAULT 8192
/* Samples of a worker at 20 Mpps while one rule takes 25 ms. */
#define SAMPLES 16384
#define BURST 64
/* Polling interval of the thread, and how long it programs before it polls again: it may share a
 * CPU with a tester's worker. */
#define SLEEP_US 2000
#define WORK_US 2000

static struct {
	bool wanted;
	unsigned rules; /* that a port may have */
} config;

/* Notices and orders that may be in flight for one held flow. */
#define MESSAGES_A_HOLD 4

static struct {
	struct flow_table *const *tables;
	unsigned nb_tables;
	struct offload_port ports[PORTS_MAX];
	unsigned nb_ports;
	struct offload_port *by_index[PORTS_MAX]; /* of the port */
	pthread_t thread;
	bool started;
	bool stop; /* atomic */
} offload;

void offload_parse(const struct config_node *node)
{
	if (!config_object(node, "rules"))
		return;
	config.rules = (unsigned)config_u64(node, "rules", RULES_DEFAULT, 1, OFFLOAD_PLACES_MAX);
	config.wanted = true;
}

bool offload_wanted(void)
{
	return config.wanted;
}

static uint32_t clock_ms(void)
{
	return (uint32_t)(rte_rdtsc() / (rte_get_tsc_hz() / MS_PER_S));
}

static void take_notices(struct flow_table *table)
{
	struct flow_notice notices[BURST];
	unsigned taken;

	do {
		taken = rte_ring_sc_dequeue_burst_elem(
			table->rings.notices, notices, sizeof(notices[0]), BURST, NULL);
		for (unsigned i = 0; i < taken; i++)
			offload_ports_notice(offload.ports, offload.nb_ports, &notices[i]);
	} while (taken == BURST);
}

/* To the policy of the port where they came in; mostly that is one for a while. */
static void pass_samples(const struct flow_sample *samples, unsigned count)
{
	for (unsigned start = 0, end; start < count; start = end) {
		uint16_t index = samples[start].port;
		struct offload_port *port = index < PORTS_MAX ? offload.by_index[index] : NULL;

		for (end = start + 1; end < count && samples[end].port == index; end++)
			;
		if (port != NULL && port->on)
			offload_policy_samples(port->policy, samples + start, end - start);
	}
}

static void take_samples(struct flow_table *table)
{
	struct flow_sample samples[BURST];
	unsigned taken;

	do {
		taken = rte_ring_sc_dequeue_burst_elem(
			table->rings.samples, samples, sizeof(samples[0]), BURST, NULL);
		pass_samples(samples, taken);
	} while (taken == BURST);
}

static void hear(void)
{
	uint32_t now_ms = clock_ms();

	for (unsigned i = 0; i < offload.nb_tables; i++) {
		take_notices(offload.tables[i]);
		take_samples(offload.tables[i]);
	}
	for (unsigned i = 0; i < offload.nb_ports; i++)
		offload_port_clock(&offload.ports[i], now_ms);
}

/* A rule of each port in turn, until it is time to hear the workers again. Returns false when there
 * is nothing left to do. */
static bool work(void)
{
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / US_PER_S * WORK_US;
	bool worked;

	do {
		worked = false;
		for (unsigned i = 0; i < offload.nb_ports; i++)
			worked |= offload_port_work(&offload.ports[i]);
	} while (worked && rte_rdtsc() < end);
	return worked;
}

static void *run(__rte_unused void *argument)
{
	while (!__atomic_load_n(&offload.stop, __ATOMIC_ACQUIRE)) {
		hear();
		if (!work())
			(void)usleep(SLEEP_US);
	}
	return NULL;
}

static struct rte_ring *make_ring(const char *what, unsigned worker, unsigned bytes, unsigned count)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "flow-%s-%u", what, worker);
	return rte_ring_create_elem(
		name, bytes, rte_align32pow2(count), SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static int make_rings(struct flow_table *table, unsigned worker, unsigned holds)
{
	struct flow_rings *rings = &table->rings;
	unsigned messages = holds * MESSAGES_A_HOLD;

	rings->orders = make_ring("orders", worker, sizeof(struct flow_order), messages);
	rings->notices = make_ring("notices", worker, sizeof(struct flow_notice), messages);
	rings->samples = make_ring("samples", worker, sizeof(struct flow_sample), SAMPLES);
	table->offload = true;
	return rings->orders == NULL || rings->notices == NULL || rings->samples == NULL ? -ENOMEM
											 : 0;
}

static int create_all(void)
{
	unsigned holds = config.rules * forwarder_ports();
	uint32_t records = 0;
	int rc = 0;

	for (unsigned i = 0; i < offload.nb_tables && rc == 0; i++) {
		records = RTE_MAX(records, offload.tables[i]->base + offload.tables[i]->capacity);
		rc = make_rings(offload.tables[i], i, holds);
	}
	if (rc == 0)
		rc = offload_holds_create(offload.tables, offload.nb_tables, records, holds);
	for (unsigned i = 0; i < forwarder_ports() && rc == 0; i++) {
		struct port *port = forwarder_port(i);

		rc = offload_port_create(
			&offload.ports[i], port, records, config.rules, clock_ms());
		offload.by_index[port->index] = &offload.ports[i];
		offload.nb_ports = i + 1;
	}
	return rc;
}

int offload_create(struct flow_table *const *tables, unsigned count)
{
	if (!config.wanted)
		return 0;
	offload.tables = tables;
	offload.nb_tables = count;
	if (create_all() != 0) {
		fprintf(stderr, "flow offload: no memory; raise memory.megabytes, or lower "
				"forwarder.flowtable.offload.rules\n");
		return -ENOMEM;
	}
	offload.started = pthread_create(&offload.thread, NULL, run, NULL) == 0;
	if (!offload.started)
		return -EAGAIN;
	(void)pthread_setname_np(offload.thread, "flow-offload");
	return 0;
}

void offload_stop(void)
{
	if (!offload.started)
		return;
	offload_holds_stop();
	__atomic_store_n(&offload.stop, true, __ATOMIC_RELEASE);
	(void)pthread_join(offload.thread, NULL);
	offload.started = false;
	for (unsigned i = 0; i < offload.nb_ports; i++) {
		offload_port_stop(&offload.ports[i]);
		offload_port_destroy(&offload.ports[i]);
	}
	offload.nb_ports = 0;
	offload_holds_destroy();
}

unsigned offload_ports(void)
{
	return offload.nb_ports;
}

struct offload_port *offload_port_at(unsigned index)
{
	return &offload.ports[index];
}
