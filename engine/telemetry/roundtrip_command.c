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

static int roundtrip_answer(const char *command, const char *parameters, struct rte_tel_data *data)
{
	static const char *const names[] = {"worker", "min_ns", "median_ns"};
	struct worker *ping = worker_of_tester();
	struct table table;

	(void)command;
	(void)parameters;
	rte_tel_data_start_dict(data);
	if (trial_active()) {
		answer_string(data, "error", "a trial is running");
		return 0;
	}
	if (ping == NULL)
		ping = worker_of_forwarder(0);
	if (table_start(&table, "suu", names) != 0)
		return -1;
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

static struct command roundtrip = {
	.path = "/linerate/roundtrip",
	.answer = roundtrip_answer,
	.help = "Measures the round trip between workers. Takes no parameter",
};
COMMAND_REGISTER(roundtrip)
