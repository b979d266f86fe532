/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/witness,FIRST: how the tester's frames came to a forwarder in mode `witness`. */
#include "modes/witness.h"
#include "command.h"

#include <stdlib.h>

#define SIGHTINGS_PER_ANSWER 64

static void list_one(struct table *table, const struct sighting *seen)
{
	static const char *const kinds[] = {
		[WITNESS_UNMARKED] = "", [WITNESS_FLAGGED] = "flag", [WITNESS_MARKED] = "mark"};

	table_string(table, 0, seen->port->name);
	table_u64(table, 1, seen->stream);
	table_u64(table, 2, seen->queue);
	table_string(table, 3, kinds[seen->kind]);
	table_u64(table, 4, seen->mark);
	table_u64(table, 5, __atomic_load_n(&seen->packets, __ATOMIC_RELAXED));
}

static int witness_answer(const char *parameters, struct rte_tel_data *data)
{
	unsigned long first = parameters == NULL ? 0 : strtoul(parameters, NULL, 10);
	unsigned total = witness_count();
	struct table table;

	table_start(&table, "suusuu", "port", "stream", "queue", "kind", "mark", "packets");
	for (unsigned long i = first; i < total && i < first + SIGHTINGS_PER_ANSWER; i++)
		list_one(&table, witness_at((unsigned)i));
	answer_u64(data, "total", total);
	answer_u64(data, "beyond", witness_beyond());
	return table_end(&table, data);
}

COMMAND("/linerate/witness", witness_answer,
	"How frames came in mode witness, 64 rows. Parameter: number of the first")
