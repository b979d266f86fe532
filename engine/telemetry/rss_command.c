/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/rss, /linerate/rss/set: how a port spreads frames over its rx queues. */
#include "core/flow_tuple.h"
#include "port/port.h"
#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETERS_MAX 1024
#define ERROR_MAX 128

/* Reads the port's settings; says in `error` why not. */
static bool read_port(const struct port *port, struct port_rss *rss, char *error, size_t size)
{
	int rc;

	memset(rss, 0, sizeof(*rss));
	if (port->driver->rss_get == NULL) {
		snprintf(error, size, "port %s: driver %s has no RSS", port->name,
			port->driver->name);
		return false;
	}
	rc = port->driver->rss_get(port, rss);
	if (rc != 0)
		snprintf(error, size, "port %s: its RSS cannot be read: %s", port->name,
			strerror(-rc));
	return rc == 0;
}

static void answer_table(struct rte_tel_data *data, const struct port_rss *rss)
{
	struct table table;

	table_start(&table, "u", "reta");
	for (unsigned i = 0; i < rss->nb_entries; i++)
		table_u64(&table, 0, rss->entries[i]);
	(void)table_end(&table, data);
}

static int answer_port(const struct port *port, struct rte_tel_data *data)
{
	struct port_rss rss;
	char error[ERROR_MAX];

	if (!read_port(port, &rss, error, sizeof(error)))
		return answer_error(data, error);
	answer_string(data, "port", port->name);
	answer_u64(data, "queues", port->nb_rx_queues);
	answer_u64(data, "symmetric", rss.symmetric);
	answer_u64(data, "l4", (rss.fields & FLOW_L4) != 0);
	answer_u64(data, "mpls_inner", (rss.fields & FLOW_MPLS_INNER) != 0);
	answer_table(data, &rss);
	return 0;
}

static int rss_answer(const char *parameters, struct rte_tel_data *data)
{
	const struct port *port = port_find(parameters);

	return port == NULL ? -1 : answer_port(port, data);
}

COMMAND("/linerate/rss", rss_answer,
	"RSS of one port: symmetric, l4, mpls_inner, reta. Parameter: the port's name")

/* The requested change, and the first mistake in it. */
struct request {
	struct port *port;
	struct port_rss rss;
	char error[ERROR_MAX];
};

static void mistake(struct request *request, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void mistake(struct request *request, const char *format, ...)
{
	va_list arguments;

	if (request->error[0] != '\0')
		return;
	va_start(arguments, format);
	vsnprintf(request->error, sizeof(request->error), format, arguments);
	va_end(arguments);
}

static bool parse_bool(struct request *request, const char *key, const char *value)
{
	if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
		mistake(request, "%s: expected 0 or 1", key);
	return value[0] == '1';
}

static void parse_field(
	struct request *request, const char *key, const char *value, enum flow_fields field)
{
	if (parse_bool(request, key, value))
		request->rss.fields |= field;
	else
		request->rss.fields &= ~(uint32_t)field;
}

/* "0:1:2:3": a pattern that fills the table, repeated. */
static void parse_table(struct request *request, const char *text)
{
	struct port_rss *rss = &request->rss;
	uint16_t pattern[PORT_RETA_MAX];
	unsigned count = 0;

	if (rss->nb_entries == 0) {
		mistake(request, "reta: port %s has no table", request->port->name);
		return;
	}
	while (request->error[0] == '\0') {
		char *end;
		unsigned long queue = strtoul(text, &end, 10);

		if (end == text || text[0] < '0' || text[0] > '9' || (*end != ':' && *end != '\0'))
			mistake(request, "reta: expected queues as 0:1:2:3");
		else if (queue >= request->port->nb_rx_queues)
			mistake(request, "reta: port %s has the queues 0 to %u",
				request->port->name, request->port->nb_rx_queues - 1u);
		else if (count == rss->nb_entries)
			mistake(request, "reta: at most %u entries", rss->nb_entries);
		else
			pattern[count++] = (uint16_t)queue;
		if (*end != ':')
			break;
		text = end + 1;
	}
	for (unsigned i = 0; i < rss->nb_entries && count > 0 && request->error[0] == '\0'; i++)
		rss->entries[i] = pattern[i % count];
}

static void parse_key(struct request *request, const char *key, const char *value)
{
	if (strcmp(key, "symmetric") == 0)
		request->rss.symmetric = parse_bool(request, key, value);
	else if (strcmp(key, "l4") == 0)
		parse_field(request, key, value, FLOW_L4);
	else if (strcmp(key, "mpls_inner") == 0)
		parse_field(request, key, value, FLOW_MPLS_INNER);
	else if (strcmp(key, "reta") == 0)
		parse_table(request, value);
	else
		mistake(request, "%s: expected port, symmetric, l4, mpls_inner or reta", key);
}

static void parse_port(struct request *request, const char *name)
{
	request->port = port_find(name);
	if (request->port == NULL)
		mistake(request, "port: no port is called %s", name);
	else
		(void)read_port(
			request->port, &request->rss, request->error, sizeof(request->error));
}

/* "port=PORT,key=value,...", the port first: the rest is checked against it. */
static void parse_request(struct request *request, char *text)
{
	char *rest = NULL;

	for (char *word = strtok_r(text, ",", &rest); word != NULL && request->error[0] == '\0';
		word = strtok_r(NULL, ",", &rest)) {
		char *value = strchr(word, '=');

		if (value == NULL) {
			mistake(request, "expected port=PORT,key=value,..., not %s", word);
			return;
		}
		*value++ = '\0';
		if (request->port != NULL)
			parse_key(request, word, value);
		else if (strcmp(word, "port") == 0)
			parse_port(request, value);
		else
			mistake(request, "expected port=PORT first, not %s", word);
	}
	if (request->port == NULL)
		mistake(request, "expected port=PORT,key=value,...");
}

static int rss_set_answer(const char *parameters, struct rte_tel_data *data)
{
	struct request request = {0};
	char text[PARAMETERS_MAX];
	int rc;

	snprintf(text, sizeof(text), "%s", parameters == NULL ? "" : parameters);
	parse_request(&request, text);
	if (request.error[0] == '\0' && request.port->driver->rss_set == NULL)
		mistake(&request, "port %s: its RSS cannot be changed", request.port->name);
	if (request.error[0] == '\0') {
		rc = request.port->driver->rss_set(request.port, &request.rss);
		if (rc != 0)
			mistake(&request, "port %s: its device refuses: %s", request.port->name,
				strerror(-rc));
	}
	if (request.error[0] == '\0')
		return answer_port(request.port, data);
	return answer_error(data, request.error);
}

COMMAND("/linerate/rss/set", rss_set_answer,
	"Changes RSS. Parameters: "
	"port=PORT[,symmetric=0|1][,l4=0|1][,mpls_inner=0|1][,reta=0:1:2:3]")
