/* SPDX-License-Identifier: BSD-3-Clause */
#include "ledger.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ledger_source_t ledger_sources[LEDGER_STAGES];

const char *ledger_kind_name(enum ledger_kind kind)
{
	static const char *const names[LEDGER_KINDS] = {"sent", "originated", "received",
		"duplicated", "corrupted", "other", "consumed", "held", "loss"};

	return names[kind];
}

/* The entry of that place and kind, made when new; NULL without memory. */
static struct ledger_entry *find_entry(
	struct ledger *ledger, enum ledger_kind kind, const char *place)
{
	struct ledger_entry *entry;

	for (unsigned i = 0; i < ledger->count; i++) {
		entry = &ledger->entries[i];
		if (entry->kind == kind && strcmp(entry->place, place) == 0)
			return entry;
	}
	if (ledger->count == ledger->size) {
		unsigned size = ledger->size == 0 ? 64 : 2 * ledger->size;

		entry = realloc(ledger->entries, size * sizeof(*entry));
		if (entry == NULL)
			return NULL;
		ledger->entries = entry;
		ledger->size = size;
	}
	entry = &ledger->entries[ledger->count++];
	snprintf(entry->place, sizeof(entry->place), "%s", place);
	entry->kind = kind;
	entry->packets = 0;
	return entry;
}

void ledger_add(
	struct ledger *ledger, enum ledger_kind kind, uint64_t packets, const char *format, ...)
{
	char place[LEDGER_PLACE_MAX];
	struct ledger_entry *entry;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(place, sizeof(place), format, arguments);
	va_end(arguments);
	entry = find_entry(ledger, kind, place);
	if (entry != NULL)
		entry->packets += packets;
}

static void watch(struct ledger *ledger, unsigned entry, const uint64_t *packets)
{
	struct ledger_counter *counters =
		realloc(ledger->counters, ((size_t)ledger->nb_counters + 1) * sizeof(*counters));

	if (counters == NULL)
		return;
	ledger->counters = counters;
	counters[ledger->nb_counters++] = (struct ledger_counter){entry, packets};
}

void ledger_add_counter(struct ledger *ledger, enum ledger_kind kind, const uint64_t *packets,
	const char *format, ...)
{
	char place[LEDGER_PLACE_MAX];
	struct ledger_entry *entry;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(place, sizeof(place), format, arguments);
	va_end(arguments);
	entry = find_entry(ledger, kind, place);
	if (entry == NULL)
		return;
	entry->packets += __atomic_load_n(packets, __ATOMIC_RELAXED);
	if (ledger->watches && kind == LEDGER_LOSS)
		watch(ledger, (unsigned)(entry - ledger->entries), packets);
}

static void read_all(struct ledger *ledger)
{
	for (unsigned i = 0; i < LEDGER_STAGES; i++)
		if (ledger_sources[i] != NULL)
			ledger_sources[i](ledger);
}

void ledger_read(struct ledger *ledger)
{
	memset(ledger, 0, sizeof(*ledger));
	read_all(ledger);
}

void ledger_watch(struct ledger *ledger)
{
	memset(ledger, 0, sizeof(*ledger));
	ledger->watches = true;
	read_all(ledger);
}

void ledger_free(struct ledger *ledger)
{
	free(ledger->entries);
	free(ledger->counters);
	memset(ledger, 0, sizeof(*ledger));
}

uint64_t ledger_sum(const struct ledger *ledger, enum ledger_kind kind)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < ledger->count; i++)
		if (ledger->entries[i].kind == kind)
			sum += ledger->entries[i].packets;
	return sum;
}
