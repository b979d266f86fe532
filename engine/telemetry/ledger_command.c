/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/ledger: the packet ledger's entries. */
#include "core/ledger.h"

#include "command.h"

static int ledger_answer(const char *command, const char *parameters, struct rte_tel_data *data)
{
	static const char *const names[] = {"place", "kind", "packets"};
	struct ledger ledger;
	struct table table;

	(void)command;
	(void)parameters;
	rte_tel_data_start_dict(data);
	if (table_start(&table, "ssu", names) != 0)
		return -1;
	ledger_read(&ledger);
	for (unsigned i = 0; i < ledger.count; i++) {
		table_string(&table, 0, ledger.entries[i].place);
		table_string(&table, 1, ledger_kind_name(ledger.entries[i].kind));
		table_u64(&table, 2, ledger.entries[i].packets);
	}
	ledger_free(&ledger);
	return table_end(&table, data);
}

static struct command ledger_command = {
	.path = "/linerate/ledger",
	.answer = ledger_answer,
	.help = "Columns place, kind, packets, in path order. Takes no parameter",
};
COMMAND_REGISTER(ledger_command)
