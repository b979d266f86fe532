/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/roundtrip: how near to each other the workers' CPUs are now. */
#include "core/worker.h"
#include "tester/trial.h"
#include "command.h"

#include <rte_cycles.h>

static uint64_t nanoseconds(uint64_t clocks)
{
	return (uint64_t)((double)clocks * 1e9 / (double)rte_get_tsc_hz());
}

static int roundtrip_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct worker *ping = worker_of_tester(0);
	struct table table;

	if (trial_active())
		return answer_error(data, "a trial is running");
	if (ping == NULL)
		ping = worker_of_forwarder(0);
	table_start(&table, "suu", "worker", "min_ns", "median_ns");
	for (unsigned i = 0; i < workers_count(); i++) {
		struct worker *pong = worker_at(i);

		if (worker_roundtrip(ping, pong) != 0)
			continue;
		table_string(&table, 0, pong->name);
		table_u64(&table, 1, nanoseconds(ping->roundtrip_min_clocks));
		table_u64(&table, 2, nanoseconds(ping->roundtrip_median_clocks));
	}
	return table_end(&table, data);
}

COMMAND("/linerate/roundtrip", roundtrip_answer,
	"Measures the round trip between workers. Takes no parameter")
