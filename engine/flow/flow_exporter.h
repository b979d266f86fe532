/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells others of flows: IPFIX (RFC 7011) over UDP to a collector, and JSON lines in a file. A
 * thread of its own takes struct flow_export from a ring a worker; workers never wait for it.
 */
#ifndef LINERATE_FLOW_EXPORTER_H
#define LINERATE_FLOW_EXPORTER_H

#include "core/config.h"
#include "flow_table.h"

#include <stdbool.h>
#include <stdint.h>

struct flow_exporter_counters {
	uint64_t records; /* taken from the workers */
	uint64_t ipfix_records, ipfix_messages;
	uint64_t ipfix_errors; /* messages that could not be sent, or had no listener */
	uint64_t json_lines, json_errors;
};

/* Reads the "export" object; without it, nothing is exported. */
void flow_exporter_parse(const struct config_node *node);
/* For struct flow_timeouts: 0 when nothing is exported. */
uint32_t flow_exporter_interval_ms(void);
/*
 * With tables made and before workers walk: gives each table its ring `exports` and starts the
 * thread. Returns 0 or -errno after saying why. Without "export" it does nothing.
 */
int flow_exporter_create(struct flow_table *const *tables, unsigned count);
/* Once the last record is in the rings: tells of all that are, and ends the thread. */
void flow_exporter_stop(void);
/* Returns false when nothing is exported. */
bool flow_exporter_counters(struct flow_exporter_counters *counters);

#endif
