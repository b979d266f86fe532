/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/trial/slices,FIRST and /linerate/trial/clean: the trial in slices. */
#include "core/ledger.h"
#include "core/worker.h"
#include "tester/slices.h"

#include "command.h"

#include <rte_cycles.h>
#include <stdlib.h>

#define SLICES_PER_ANSWER 64

static uint64_t us(uint64_t clocks)
{
	return (uint64_t)((double)clocks * 1e6 / (double)rte_get_tsc_hz());
}

static void add_row(struct table *table, const struct slice *slice)
{
	table_u64(table, 0, us(slice->end_clocks));
	table_u64(table, 1, us(slice->tsc_clocks));
	table_u64(table, 2, slice->sent);
	table_u64(table, 3, slice->received);
	table_u64(table, 4, slice->lost);
	table_u64(table, 5, us(slice->away_clocks));
	table_string(table, 6, slice->worker == NULL ? "" : slice->worker->name);
	table_u64(table, 7, slice->disturbed);
}

static int slices_answer(const char *parameters, struct rte_tel_data *data)
{
	unsigned long first = parameters == NULL ? 0 : strtoul(parameters, NULL, 10);
	struct table table;

	table_start(&table, "uuuuuusu", "end_us", "took_us", "sent", "received", "lost", "away_us",
		"worker", "disturbed");
	for (unsigned long i = first; i < slices_count() && i - first < SLICES_PER_ANSWER; i++)
		add_row(&table, slices_at((unsigned)i));
	answer_u64(data, "total", slices_count());
	return table_end(&table, data);
}

COMMAND("/linerate/trial/slices", slices_answer,
	"Columns of up to 64 slices of the trial. Parameter: number of the first")

/* Places that lost something in the trial: in all of it, and in its disturbed slices. */
static int answer_places(struct rte_tel_data *data)
{
	struct ledger disturbed, all;
	struct table table;

	table_start(&table, "suu", "place", "lost", "lost_disturbed");
	slices_losses(&disturbed, &all);
	for (unsigned i = 0; i < all.count; i++) {
		if (all.entries[i].packets == 0)
			continue;
		table_string(&table, 0, all.entries[i].place);
		table_u64(&table, 1, all.entries[i].packets);
		table_u64(&table, 2, disturbed.entries[i].packets);
	}
	ledger_free(&disturbed);
	ledger_free(&all);
	return table_end(&table, data);
}

static int clean_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct slices_clean sums = slices_clean();

	answer_u64(data, "slices", slices_count());
	answer_u64(data, "clean_slices", sums.slices);
	answer_u64(data, "clean_us", us(sums.clocks));
	answer_u64(data, "clean_sent", sums.sent);
	answer_u64(data, "clean_received", sums.received);
	return answer_places(data);
}

COMMAND("/linerate/trial/clean", clean_answer,
	"Sums over the trial's clean slices, and places of loss. Takes no parameter")
