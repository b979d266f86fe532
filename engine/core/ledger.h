/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet ledger: sent + originated = received + duplicated + corrupted + other +
 * consumed + held + loss.
 * Whoever can lose a packet names the place and gives its count here, in path order.
 */
#ifndef LINERATE_LEDGER_H
#define LINERATE_LEDGER_H

#include "registry.h"

#include <stdbool.h>
#include <stdint.h>

enum ledger_kind {
	LEDGER_SENT,
	LEDGER_ORIGINATED,
	LEDGER_RECEIVED,   /* frames of ours, each once */
	LEDGER_DUPLICATED, /* those that came again */
	LEDGER_CORRUPTED,  /* of ours, damaged */
	LEDGER_OTHER,
	LEDGER_CONSUMED,
	LEDGER_HELD,
	LEDGER_LOSS,
};
#define LEDGER_KINDS 9

#define LEDGER_PLACE_MAX 96

struct ledger_entry {
	char place[LEDGER_PLACE_MAX];
	enum ledger_kind kind;
	uint64_t packets;
};

/* A counter behind an entry: it only grows, and any thread may read it at any time. */
struct ledger_counter {
	unsigned entry;
	const uint64_t *packets;
};

struct ledger {
	struct ledger_entry *entries;
	unsigned count;
	unsigned size;
	/* Those of losses, by ledger_watch() alone; also those that are 0. */
	bool watches;
	struct ledger_counter *counters;
	unsigned nb_counters;
};

const char *ledger_kind_name(enum ledger_kind kind);
/* Adds to the entry of that place and kind, made when new. Places that never counted are left out
 * by those who call. */
void ledger_add(struct ledger *ledger, enum ledger_kind kind, uint64_t packets, const char *format,
	...) __attribute__((format(printf, 4, 5)));
/* The same of a counter in memory. */
void ledger_add_counter(struct ledger *ledger, enum ledger_kind kind, const uint64_t *packets,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Reads all counters of the process; free with ledger_free(). */
void ledger_read(struct ledger *ledger);
/* The same, and keeps the counters of losses. Places that ask a device have none. */
void ledger_watch(struct ledger *ledger);
void ledger_free(struct ledger *ledger);

/* The path of a packet, in whose order the ledger is read. */
enum ledger_stage {
	LEDGER_STAGE_SENDER,
	LEDGER_STAGE_CARD_RX,
	LEDGER_STAGE_PORTS,
	LEDGER_STAGE_HANDOFF,
	LEDGER_STAGE_NODES,
	LEDGER_STAGE_CARD_TX,
	LEDGER_STAGE_RECEIVER,
	LEDGER_STAGES,
};
typedef void (*ledger_source_t)(struct ledger *ledger);

/* Each stage has one source, which registers itself in the file where it counts. */
extern ledger_source_t ledger_sources[LEDGER_STAGES];
#define LEDGER_SOURCE_REGISTER(stage, source) REGISTER_VALUE(source, ledger_sources[stage], source)

/* Sum of one kind. */
uint64_t ledger_sum(const struct ledger *ledger, enum ledger_kind kind);

#endif
