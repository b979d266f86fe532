/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include <rte_version.h>
#include <stdio.h>
#include <string.h>

#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
#define UNSIGNED_VALUE RTE_TEL_UINT_VAL
#define add_array_unsigned rte_tel_data_add_array_uint
#define add_dict_unsigned rte_tel_data_add_dict_uint
#else
#define UNSIGNED_VALUE RTE_TEL_U64_VAL
#define add_array_unsigned rte_tel_data_add_array_u64
#define add_dict_unsigned rte_tel_data_add_dict_u64
#endif

struct command *commands;
static const char *engine_name;

/*
 * DPDK before 24.03 splits commands with strtok(), which keeps its position for all threads
 * together, and has a thread a client: a command might get the parameters of another client's. The
 * linker prefers this one, in which each thread has its own position.
 */
char *strtok(char *restrict text, const char *restrict delimiters)
{
	static __thread char *rest;

	return strtok_r(text, delimiters, &rest);
}

const char *command_engine_name(void)
{
	return engine_name;
}

static int answer_command(const char *path, const char *parameters, struct rte_tel_data *data)
{
	const struct command *command = commands;

	while (strcmp(command->path, path) != 0)
		command = command->link;
	rte_tel_data_start_dict(data);
	return command->answer(parameters, data);
}

int commands_start(const char *name)
{
	engine_name = name;
	for (struct command *command = commands; command != NULL; command = command->link) {
		int rc = rte_telemetry_register_cmd(command->path, answer_command, command->help);

		if (rc != 0) {
			fprintf(stderr, "command %s: cannot be offered: %s\n", command->path,
				strerror(-rc));
			return rc;
		}
	}
	return 0;
}

void answer_u64(struct rte_tel_data *dict, const char *name, uint64_t value)
{
	add_dict_unsigned(dict, name, value);
}

void answer_string(struct rte_tel_data *dict, const char *name, const char *value)
{
	rte_tel_data_add_dict_string(dict, name, value);
}

int answer_error(struct rte_tel_data *dict, const char *text)
{
	char fits[RTE_TEL_MAX_STRING_LEN];

	snprintf(fits, sizeof(fits), "%s", text);
	answer_string(dict, "error", fits);
	return 0;
}

static void free_columns(struct table *table)
{
	while (table->nb_columns > 0)
		rte_tel_data_free(table->columns[--table->nb_columns]);
}

void table_start_columns(struct table *table, const char *kinds, const char *const *names)
{
	table->nb_columns = 0;
	for (unsigned i = 0; kinds[i] != '\0' && i < TABLE_COLUMNS_MAX; i++) {
		struct rte_tel_data *column = rte_tel_data_alloc();

		if (column == NULL) {
			free_columns(table);
			return;
		}
		rte_tel_data_start_array(
			column, kinds[i] == 's' ? RTE_TEL_STRING_VAL : UNSIGNED_VALUE);
		table->columns[i] = column;
		table->names[i] = names[i];
		table->nb_columns++;
	}
}

void table_string(struct table *table, unsigned column, const char *value)
{
	if (column < table->nb_columns)
		rte_tel_data_add_array_string(table->columns[column], value);
}

void table_u64(struct table *table, unsigned column, uint64_t value)
{
	if (column < table->nb_columns)
		add_array_unsigned(table->columns[column], value);
}

int table_end(struct table *table, struct rte_tel_data *dict)
{
	for (unsigned i = 0; i < table->nb_columns; i++)
		rte_tel_data_add_dict_container(dict, table->names[i], table->columns[i], 0);
	return table->nb_columns == 0 ? -1 : 0;
}
