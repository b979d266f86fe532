/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/export: counters of the flow exporter. */
#include "flow/flow_exporter.h"
#include "command.h"

static int export_answer(const char *command, const char *parameters, struct rte_tel_data *data)
{
	struct flow_exporter_counters counters;

	(void)command;
	(void)parameters;
	rte_tel_data_start_dict(data);
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

static struct command export_command = {
	.path = "/linerate/export",
	.answer = export_answer,
	.help = "Counters of the flow export by IPFIX and JSON; empty without "
		"forwarder.flowtable.export. Takes no parameter",
};
COMMAND_REGISTER(export_command)
