/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/offload: which ports look flows up themselves, and what went wrong; on and off. */
#include "flow/offload.h"
#include "flow/offload_port.h"
#include "rte_flow_text/rule_cause.h"
#include "command.h"

#include <rte_cycles.h>
#include <stdio.h>
#include <string.h>

static uint64_t read_counter(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static uint64_t refused_sum(const struct offload_counters *counters)
{
	uint64_t sum = 0;

	for (unsigned type = 0; type < OFFLOAD_ERROR_TYPES; type++)
		sum += read_counter(&counters->refused[type]);
	return sum;
}

/* Packets a second that a flow needs for a place. */
static uint64_t threshold_pps(const struct offload_port *offload)
{
	return (uint64_t)(offload->threshold * FLOW_SAMPLE_EVERY /
			  ((double)OFFLOAD_HALF_LIFE_MS / MS_PER_S));
}

static int answer_ports(struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "ssuuuuuuuuuu", "name", "state", "rules", "limit", "threshold_pps",
		"promoted", "demoted", "ended", "refused", "full", "silent", "lost");
	for (unsigned i = 0; i < offload_ports(); i++) {
		const struct offload_port *offload = offload_port_at(i);
		const struct offload_counters *counters = &offload->counters;

		table_string(&table, 0, offload->port->name);
		table_string(&table, 1, offload->on ? "on" : "off");
		table_u64(&table, 2, offload->standing);
		table_u64(&table, 3, offload->limit);
		table_u64(&table, 4, threshold_pps(offload));
		table_u64(&table, 5, read_counter(&counters->promoted));
		table_u64(&table, 6, read_counter(&counters->demoted));
		table_u64(&table, 7, read_counter(&counters->ended));
		table_u64(&table, 8, refused_sum(counters));
		table_u64(&table, 9, read_counter(&counters->full));
		table_u64(&table, 10, read_counter(&counters->silent));
		table_u64(&table, 11, read_counter(&counters->lost));
	}
	return table_end(&table, data);
}

static struct offload_port *find(const char *name)
{
	for (unsigned i = 0; i < offload_ports(); i++)
		if (strcmp(offload_port_at(i)->port->name, name) == 0)
			return offload_port_at(i);
	return NULL;
}

static void answer_times(
	struct rte_tel_data *data, const char *verb, const struct offload_times *times)
{
	uint64_t count = read_counter(&times->count);
	char name[32];

	snprintf(name, sizeof(name), "%s_ns_min", verb);
	answer_u64(data, name, times->min);
	snprintf(name, sizeof(name), "%s_ns_mean", verb);
	answer_u64(data, name, count == 0 ? 0 : times->sum / count);
	snprintf(name, sizeof(name), "%s_ns_max", verb);
	answer_u64(data, name, times->max);
}

static void answer_port(struct rte_tel_data *data, const struct offload_port *offload)
{
	const struct offload_counters *counters = &offload->counters;
	char name[48];

	answer_string(data, "state", offload->on ? "on" : "off");
	answer_string(data, "reason", offload->reason);
	answer_u64(data, "rules", offload->standing);
	answer_u64(data, "limit", offload->limit);
	answer_u64(data, "threshold_pps", threshold_pps(offload));
	answer_u64(data, "promoted", read_counter(&counters->promoted));
	answer_u64(data, "demoted", read_counter(&counters->demoted));
	answer_u64(data, "ended", read_counter(&counters->ended));
	answer_u64(data, "refused", refused_sum(counters));
	for (unsigned type = 0; type < OFFLOAD_ERROR_TYPES; type++) {
		snprintf(name, sizeof(name), "refused_%s",
			rule_error_type((enum rte_flow_error_type)type));
		if (counters->refused[type] != 0)
			answer_u64(data, name, read_counter(&counters->refused[type]));
	}
	answer_u64(data, "full", read_counter(&counters->full));
	answer_u64(data, "silent", read_counter(&counters->silent));
	answer_u64(data, "lost", read_counter(&counters->lost));
	answer_u64(data, "not_destroyed", read_counter(&counters->not_destroyed));
	answer_u64(data, "unsuited", read_counter(&counters->unsuited));
	answer_u64(data, "switched_off", read_counter(&counters->switched_off));
	answer_string(data, "last_error", counters->last_error);
	answer_times(data, "create", &counters->create);
	answer_times(data, "destroy", &counters->destroy);
}

/* "on,PORT" and "off,PORT": the rule thread sees it within a quarter of a second. */
static struct offload_port *switched(const char *parameters, bool *wanted)
{
	*wanted = strncmp(parameters, "on,", 3) == 0;
	if (!*wanted && strncmp(parameters, "off,", 4) != 0)
		return NULL;
	return find(strchr(parameters, ',') + 1);
}

static int offload_answer(const char *parameters, struct rte_tel_data *data)
{
	struct offload_port *offload;
	bool wanted;

	if (parameters == NULL || parameters[0] == '\0')
		return answer_ports(data);
	offload = switched(parameters, &wanted);
	if (offload != NULL)
		__atomic_store_n(&offload->wanted, wanted, __ATOMIC_RELAXED);
	else
		offload = find(parameters);
	if (offload == NULL)
		return -1;
	answer_port(data, offload);
	return 0;
}

COMMAND("/linerate/offload", offload_answer,
	"Rules that look flows up. No parameter: columns a port; PORT: all of that port; "
	"on,PORT or off,PORT")
