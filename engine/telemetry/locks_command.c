/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/locks: what locks cost. */
#include "core/lock.h"
#include "command.h"

static int locks_answer(const char *command, const char *parameters, struct rte_tel_data *data)
{
	static const char *const names[] = {"name", "acquisitions", "waits", "wait_clocks"};
	struct table table;

	(void)command;
	(void)parameters;
	rte_tel_data_start_dict(data);
	if (table_start(&table, "suuu", names) != 0)
		return -1;
	for (const struct lock *lock = locks(); lock != NULL; lock = lock->link) {
		struct lock_user sum = lock_sum(lock);

		table_string(&table, 0, lock->name);
		table_u64(&table, 1, sum.acquisitions);
		table_u64(&table, 2, sum.waits);
		table_u64(&table, 3, sum.wait_clocks);
	}
	return table_end(&table, data);
}

static struct command locks_command = {
	.path = "/linerate/locks",
	.answer = locks_answer,
	.help = "Columns name, acquisitions, waits, wait_clocks. Takes no parameter",
};
COMMAND_REGISTER(locks_command)
