/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/info and /linerate/workers: what this engine is. */
#include "core/memory.h"
#include "core/worker.h"
#include "modes/forwarder.h"
#include "command.h"

#include <rte_cycles.h>
#include <rte_version.h>
#include <unistd.h>

static int info_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
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

COMMAND("/linerate/info", info_answer, "What this engine is. Takes no parameter")

static const char *role_name(enum worker_role role)
{
	return role == WORKER_BOTH ? "both" : role == WORKER_TESTER ? "tester" : "forwarder";
}

static int workers_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "suus", "name", "cpu", "tid", "role");
	for (unsigned i = 0; i < workers_count(); i++) {
		const struct worker *worker = worker_at(i);

		table_string(&table, 0, worker->name);
		table_u64(&table, 1, (uint64_t)worker->cpu);
		table_u64(&table, 2, (uint64_t)worker->tid);
		table_string(&table, 3, role_name(worker->role));
	}
	return table_end(&table, data);
}

COMMAND("/linerate/workers", workers_answer, "Columns name, cpu, tid, role. Takes no parameter")
