/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/port/settings: what a port's device was asked for, and what it has. */
#include "port/port.h"
#include "command.h"

static int settings_answer(const char *command, const char *parameters, struct rte_tel_data *data)
{
	static const char *const names[] = {"name", "asked", "actual"};
	const struct port *port = parameters == NULL ? NULL : port_find(parameters);
	const struct port_settings *settings;
	struct table table;

	(void)command;
	if (port == NULL)
		return -1;
	rte_tel_data_start_dict(data);
	if (table_start(&table, "sss", names) != 0)
		return -1;
	settings = port->driver->settings == NULL ? NULL : port->driver->settings(port);
	for (unsigned i = 0; settings != NULL && i < settings->count; i++) {
		table_string(&table, 0, settings->rows[i].name);
		table_string(&table, 1, settings->rows[i].asked);
		table_string(&table, 2, settings->rows[i].actual);
	}
	return table_end(&table, data);
}

static struct command settings_command = {
	.path = "/linerate/port/settings",
	.answer = settings_answer,
	.help = "Columns name, asked, actual. Parameter: the port's name",
};
COMMAND_REGISTER(settings_command)
