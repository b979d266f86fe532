/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/info and /linerate/workers: what this engine is. */
#include "core/memory.h"
#include "core/worker.h"
#include "modes/forwarder.h"
#include "command.h"

#include <rte_cycles.h>
#include <rte_version.h>
#include <unistd.h>

static int info_answer(const char *command, const char *parameters, struct rte_tel_data *data)
{
	(void)command;
	(void)parameters;
	rte_tel_data_start_dict(data);
	answer_string(data, "version", LINERATE_VERSION);
	answer_string(data, "dpdk", rte_version());
	answer_string(data, "name", command_engine_name());
	answer_u64(data, "pid", (uint64_t)getpid());
	answer_u64(data, "tsc_hz", rte_get_tsc_hz());
	answer_string(data, "memory", memory_kind());
	answer_string(data, "layout", workers_layout());
	answer_string(data, "mode", forwarder_mode());
	answer_u64(data, "main_cpu", (uint64_t)workers_main_cpu());
	return 0;
}

static struct command info = {
	.path = "/linerate/info",
	.answer = info_answer,
	.help = "What this engine is. Takes no parameter",
};
COMMAND_REGISTER(info)

static const char *role_name(enum worker_role role)
{
	return role == WORKER_BOTH ? "both" : role == WORKER_TESTER ? "tester" : "forwarder";
}

static int workers_answer(const char *command, const char *parameters, struct rte_tel_data *data)
{
	static const char *const names[] = {"name", "cpu", "tid", "role"};
	struct table table;

	(void)command;
	(void)parameters;
	rte_tel_data_start_dict(data);
	if (table_start(&table, "suus", names) != 0)
		return -1;
	for (unsigned i = 0; i < workers_count(); i++) {
		const struct worker *worker = worker_at(i);

		table_string(&table, 0, worker->name);
		table_u64(&table, 1, (uint64_t)worker->cpu);
		table_u64(&table, 2, (uint64_t)worker->tid);
		table_string(&table, 3, role_name(worker->role));
	}
	return table_end(&table, data);
}

static struct command workers = {
	.path = "/linerate/workers",
	.answer = workers_answer,
	.help = "Columns name, cpu, tid, role. Takes no parameter",
};
COMMAND_REGISTER(workers)
