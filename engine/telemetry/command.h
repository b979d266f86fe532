/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands on DPDK's telemetry socket: one file a command, registered where it stands. */
#ifndef LINERATE_COMMAND_H
#define LINERATE_COMMAND_H

#include "core/registry.h"

#include <rte_telemetry.h>
#include <stdint.h>

struct command {
	const char *path; /* "/linerate/…" */
	/* Fills the dictionary `data`; `parameters` is NULL when there are none. Returns 0, or -1
	 * when they make no sense: then the answer is null. */
	int (*answer)(const char *parameters, struct rte_tel_data *data);
	const char *help;
	struct command *link;
};

extern struct command *commands;
#define COMMAND(at, function, text) \
	static struct command function##_command = { \
		.path = (at), .answer = (function), .help = (text)}; \
	REGISTER(commands, function##_command)

/* Offers all commands of the engine with that name; after EAL. Returns 0 or -errno. */
int commands_start(const char *engine_name);
const char *command_engine_name(void);

/* Answers. DPDK 23.03 renamed the unsigned calls; these are the same on all releases. */
void answer_u64(struct rte_tel_data *dict, const char *name, uint64_t value);
void answer_string(struct rte_tel_data *dict, const char *name, const char *value);

/* "error": the answer's text, as far as it fits. Returns 0, as the command does then. */
int answer_error(struct rte_tel_data *dict, const char *text);
/* Carries lines of the router's CLI out, called `name`, and answers how many were ("done") and
 * what was wrong with the first that could not be ("error"), which the others do not mind. */
int answer_cli(struct rte_tel_data *dict, const char *name, const char *text, size_t length);

/* A table: columns of equal length, put into a dictionary under their names. */
#define TABLE_COLUMNS_MAX 12
struct table {
	unsigned nb_columns;
	const char *names[TABLE_COLUMNS_MAX];
	struct rte_tel_data *columns[TABLE_COLUMNS_MAX];
};

/* `kinds` has a letter a column: s string, u unsigned; then come the columns' names. */
#define table_start(table, kinds, ...) \
	table_start_columns(table, kinds, (const char *const[]){__VA_ARGS__})
void table_start_columns(struct table *table, const char *kinds, const char *const *names);
void table_string(struct table *table, unsigned column, const char *value);
void table_u64(struct table *table, unsigned column, uint64_t value);
/* Returns 0, or -1 when there was no memory for the columns. */
int table_end(struct table *table, struct rte_tel_data *dict);

#endif
