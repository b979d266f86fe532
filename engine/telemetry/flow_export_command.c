/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/export: counters of the flow exporter. */
#include "flow/flow_exporter.h"
#include "command.h"

static int export_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct flow_exporter_counters counters;

	if (!flow_exporter_counters(&counters))
		return 0;
	answer_u64(data, "records", counters.records);
	answer_u64(data, "ipfix_records", counters.ipfix_records);
	answer_u64(data, "ipfix_messages", counters.ipfix_messages);
	answer_u64(data, "ipfix_errors", counters.ipfix_errors);
	answer_u64(data, "json_lines", counters.json_lines);
	answer_u64(data, "json_errors", counters.json_errors);
	return 0;
}

COMMAND("/linerate/export", export_answer,
	"Counters of the flow export by IPFIX and JSON; empty without "
	"forwarder.flowtable.export. Takes no parameter")
