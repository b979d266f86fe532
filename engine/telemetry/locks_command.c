/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/locks: what locks cost. */
#include "core/lock.h"
#include "command.h"

static int locks_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "suuu", "name", "acquisitions", "waits", "wait_clocks");
	for (const struct lock *lock = locks(); lock != NULL; lock = lock->link) {
		struct lock_user sum = lock_sum(lock);

		table_string(&table, 0, lock->name);
		table_u64(&table, 1, sum.acquisitions);
		table_u64(&table, 2, sum.waits);
		table_u64(&table, 3, sum.wait_clocks);
	}
	return table_end(&table, data);
}

COMMAND("/linerate/locks", locks_answer,
	"Columns name, acquisitions, waits, wait_clocks. Takes no parameter")
