/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/port/settings: what a port's device was asked for, and what it has. */
#include "port/port.h"
#include "command.h"

static int settings_answer(const char *parameters, struct rte_tel_data *data)
{
	const struct port *port = port_find(parameters);
	const struct port_settings *settings;
	struct table table;

	if (port == NULL)
		return -1;
	table_start(&table, "sss", "name", "asked", "actual");
	settings = port->driver->settings == NULL ? NULL : port->driver->settings(port);
	for (unsigned i = 0; settings != NULL && i < settings->count; i++) {
		table_string(&table, 0, settings->rows[i].name);
		table_string(&table, 1, settings->rows[i].asked);
		table_string(&table, 2, settings->rows[i].actual);
	}
	return table_end(&table, data);
}

COMMAND("/linerate/port/settings", settings_answer,
	"Columns name, asked, actual. Parameter: the port's name")
