/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void keys_mistake(struct keys *keys, const char *format, ...)
{
	va_list arguments;

	if (keys->wrong[0] != '\0')
		return;
	va_start(arguments, format);
	vsnprintf(keys->wrong, sizeof(keys->wrong), format, arguments);
	va_end(arguments);
}

static bool is_known(const char *name, const char *const *known)
{
	for (; *known != NULL; known++)
		if (strcmp(*known, name) == 0)
			return true;
	return false;
}

static void add(struct keys *keys, const char *name, const char *value, const char *const *known)
{
	if (!is_known(name, known))
		keys_mistake(keys, "%.40s: no such key", name);
	else if (keys_get(keys, name) != NULL)
		keys_mistake(keys, "%s: given twice", name);
	else if (keys->count < KEYS_MAX) {
		keys->names[keys->count] = name;
		keys->values[keys->count++] = value;
	}
}

void keys_read(
	struct keys *keys, const char *parameters, const char *const *known, const char *rest)
{
	char *at = keys->text;

	memset(keys, 0, sizeof(*keys));
	if (parameters == NULL)
		return;
	if (strlen(parameters) >= sizeof(keys->text)) {
		keys_mistake(keys, "more than %zu characters", sizeof(keys->text) - 1);
		return;
	}
	strcpy(keys->text, parameters);
	while (at != NULL && keys->wrong[0] == '\0') {
		char *name = at, *value = strchr(name, '=');
		char *comma = strchr(name, ',');

		if (value == NULL || (comma != NULL && comma < value)) {
			keys_mistake(keys, "expected KEY=VALUE,..., not %.40s", name);
			return;
		}
		*value++ = '\0';
		if (rest != NULL && strcmp(name, rest) == 0)
			comma = NULL;
		if (comma != NULL)
			*comma = '\0';
		at = comma == NULL ? NULL : comma + 1;
		add(keys, name, value, known);
	}
}

const char *keys_get(const struct keys *keys, const char *name)
{
	for (unsigned i = 0; i < keys->count; i++)
		if (strcmp(keys->names[i], name) == 0)
			return keys->values[i];
	return NULL;
}

uint64_t keys_u64(
	struct keys *keys, const char *name, uint64_t fallback, uint64_t min, uint64_t max)
{
	const char *text = keys_get(keys, name);
	unsigned long long value;
	char *end;

	if (text == NULL)
		return fallback;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && value >= min &&
		value <= max)
		return value;
	keys_mistake(keys, "%s: expected a number from %llu to %llu", name, (unsigned long long)min,
		(unsigned long long)max);
	return fallback;
}

int keys_choice(struct keys *keys, const char *name, const char *const *choices, int fallback)
{
	const char *text = keys_get(keys, name);

	if (text == NULL)
		return fallback;
	for (int i = 0; choices[i] != NULL; i++)
		if (strcmp(choices[i], text) == 0)
			return i;
	keys_mistake(keys, "%s: there is no %.40s", name, text);
	return fallback;
}

struct port *keys_port(struct keys *keys)
{
	const char *name = keys_get(keys, "port");
	struct port *port = name == NULL ? NULL : port_find(name);

	if (port == NULL)
		keys_mistake(keys, "port: expected the name of a port");
	return port;
}
