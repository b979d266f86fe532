/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/ledger: the packet ledger's entries. */
#include "core/ledger.h"

#include "command.h"

static int ledger_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct ledger ledger;
	struct table table;

	table_start(&table, "ssu", "place", "kind", "packets");
	ledger_read(&ledger);
	for (unsigned i = 0; i < ledger.count; i++) {
		table_string(&table, 0, ledger.entries[i].place);
		table_string(&table, 1, ledger_kind_name(ledger.entries[i].kind));
		table_u64(&table, 2, ledger.entries[i].packets);
	}
	ledger_free(&ledger);
	return table_end(&table, data);
}

COMMAND("/linerate/ledger", ledger_answer,
	"Columns place, kind, packets, in path order. Takes no parameter")
