/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int config_opened(struct config *config, const char *file, const json_error_t *error)
{
	FILE *out = config->complaints;

	config->file = file;
	config->mistakes = 0;
	if (config->root == NULL) {
		fprintf(out, "%s: line %d, column %d: %s\n", file, error->line, error->column,
			error->text);
		return -1;
	}
	if (!json_is_object(config->root)) {
		fprintf(out, "%s: expected a JSON object, { … }\n", file);
		json_decref(config->root);
		config->root = NULL;
		return -1;
	}
	return 0;
}

int config_open(struct config *config, const char *file)
{
	return config_open_to(config, file, stderr);
}

int config_open_to(struct config *config, const char *file, FILE *complaints)
{
	json_error_t error;

	config->complaints = complaints;
	config->root = json_load_file(file, JSON_REJECT_DUPLICATES, &error);
	return config_opened(config, file, &error);
}

int config_open_text(struct config *config, const char *file, const char *text)
{
	json_error_t error;

	config->complaints = stderr;
	config->root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	return config_opened(config, file, &error);
}

void config_close(struct config *config)
{
	json_decref(config->root);
	config->root = NULL;
}

struct config_node config_root(struct config *config)
{
	return (struct config_node){.config = config, .json = config->root};
}

static void config_path(const struct config_node *node, FILE *out)
{
	if (node->parent == NULL)
		return;
	config_path(node->parent, out);
	if (node->key == NULL)
		fprintf(out, "[%zu]", node->index);
	else
		fprintf(out, "%s%s", node->parent->parent == NULL ? "" : ".", node->key);
}

void config_mistake(const struct config_node *node, const char *format, ...)
{
	FILE *out = node->config->complaints;
	va_list arguments;

	fprintf(out, "%s: ", node->config->file);
	config_path(node, out);
	fputs(node->parent == NULL ? "" : ": ", out);
	va_start(arguments, format);
	vfprintf(out, format, arguments);
	va_end(arguments);
	fputc('\n', out);
	node->config->mistakes++;
}

void config_known_keys(const struct config_node *node, const char *const *keys)
{
	const char *key;
	json_t *value;

	if (!json_is_object(node->json))
		return;
	json_object_foreach (node->json, key, value) {
		const char *const *known = keys;

		while (*known != NULL && strcmp(*known, key) != 0)
			known++;
		if (*known == NULL) {
			struct config_node child = config_child(node, key);
			char list[512] = "";

			for (known = keys; *known != NULL; known++) {
				strncat(list, known == keys ? "" : ", ",
					sizeof(list) - strlen(list) - 1);
				strncat(list, *known, sizeof(list) - strlen(list) - 1);
			}
			config_mistake(&child, "unknown key, expected one of: %s", list);
		}
	}
}

struct config_node config_child(const struct config_node *node, const char *key)
{
	return (struct config_node){
		.config = node->config,
		.parent = node,
		.key = key,
		.json = json_object_get(node->json, key),
	};
}

struct config_node config_item(const struct config_node *array, size_t index)
{
	return (struct config_node){
		.config = array->config,
		.parent = array,
		.index = index,
		.json = json_array_get(array->json, index),
	};
}

size_t config_items(const struct config_node *node)
{
	if (node->json == NULL)
		return 0;
	if (!json_is_array(node->json)) {
		config_mistake(node, "expected an array, [ … ]");
		return 0;
	}
	return json_array_size(node->json);
}

struct config_node config_first(const struct config_node *array)
{
	(void)config_items(array);
	return config_item(array, 0);
}

bool config_is_object(const struct config_node *node)
{
	if (node->json == NULL)
		return false;
	if (!json_is_object(node->json)) {
		config_mistake(node, "expected an object, { … }");
		return false;
	}
	return true;
}

uint64_t config_u64(const struct config_node *node, const char *key, uint64_t fallback,
	uint64_t min, uint64_t max)
{
	struct config_node child = config_child(node, key);
	double real;

	if (child.json == NULL)
		return fallback;
	/* People write 1e10 for a link rate; a whole number is a whole number. */
	real = json_is_number(child.json) ? json_number_value(child.json) : -1.0;
	if (json_is_number(child.json) && floor(real) == real && real >= (double)min &&
		real <= (double)max)
		return json_is_integer(child.json) ? (uint64_t)json_integer_value(child.json)
						   : (uint64_t)real;
	config_mistake(&child, "expected a whole number from %" PRIu64 " to %" PRIu64, min, max);
	return fallback;
}

double config_number(
	const struct config_node *node, const char *key, double fallback, double min, double max)
{
	struct config_node child = config_child(node, key);

	if (child.json == NULL)
		return fallback;
	if (json_is_number(child.json)) {
		double value = json_number_value(child.json);

		if (value >= min && value <= max)
			return value;
	}
	config_mistake(&child, "expected a number from %g to %g", min, max);
	return fallback;
}

bool config_bool(const struct config_node *node, const char *key, bool fallback)
{
	struct config_node child = config_child(node, key);

	if (child.json == NULL)
		return fallback;
	if (json_is_boolean(child.json))
		return json_is_true(child.json);
	config_mistake(&child, "expected true or false");
	return fallback;
}

const char *config_string(const struct config_node *node, const char *key, const char *fallback)
{
	struct config_node child = config_child(node, key);

	if (child.json == NULL)
		return fallback;
	if (json_is_string(child.json))
		return json_string_value(child.json);
	config_mistake(&child, "expected a string");
	return fallback;
}

const char *config_required(const struct config_node *node, const char *key)
{
	struct config_node child = config_child(node, key);
	const char *value;

	if (child.json == NULL) {
		config_mistake(&child, "expected a string, found nothing");
		return "";
	}
	value = config_string(node, key, "");
	/* Callers take an empty one for a mistake that was reported. */
	if (json_is_string(child.json) && value[0] == '\0')
		config_mistake(&child, "expected a string that is not empty");
	return value;
}

int config_choice(
	const struct config_node *node, const char *key, const char *const *choices, int fallback)
{
	struct config_node child = config_child(node, key);
	char list[512] = "";

	if (child.json == NULL)
		return fallback;
	for (int i = 0; choices[i] != NULL; i++) {
		if (json_is_string(child.json) &&
			strcmp(json_string_value(child.json), choices[i]) == 0)
			return i;
		strncat(list, i == 0 ? "" : ", ", sizeof(list) - strlen(list) - 1);
		strncat(list, choices[i], sizeof(list) - strlen(list) - 1);
	}
	config_mistake(&child, "expected one of: %s", list);
	return fallback;
}

bool config_mac(const struct config_node *node, const char *key, struct rte_ether_addr *mac)
{
	struct config_node child = config_child(node, key);

	if (child.json == NULL)
		return false;
	if (json_is_string(child.json) &&
		rte_ether_unformat_addr(json_string_value(child.json), mac) == 0)
		return true;
	config_mistake(&child, "expected a MAC address such as 02:00:00:00:0e:00");
	return false;
}

bool config_ip4(const struct config_node *node, const char *key, uint32_t *address)
{
	struct config_node child = config_child(node, key);
	struct in_addr in;

	if (child.json == NULL)
		return false;
	if (json_is_string(child.json) &&
		inet_pton(AF_INET, json_string_value(child.json), &in) == 1) {
		*address = ntohl(in.s_addr);
		return true;
	}
	config_mistake(&child, "expected an IPv4 address such as 100.64.1.2");
	return false;
}

bool config_ip6(const struct config_node *node, const char *key, struct in6_addr *address)
{
	struct config_node child = config_child(node, key);

	if (child.json == NULL)
		return false;
	if (json_is_string(child.json) &&
		inet_pton(AF_INET6, json_string_value(child.json), address) == 1)
		return true;
	config_mistake(&child, "expected an IPv6 address such as 2001:db8::1");
	return false;
}

/* An address with a colon was meant to be IPv6. */
static bool has_colon(const struct config_node *node)
{
	return json_is_string(node->json) && strchr(json_string_value(node->json), ':') != NULL;
}

bool config_address(const struct config_node *node, const char *key, struct ip_address *address)
{
	struct config_node child = config_child(node, key);
	struct in6_addr ip6;

	if (child.json == NULL) {
		config_mistake(&child, "expected an IPv4 or IPv6 address, found nothing");
		return false;
	}
	if (!has_colon(&child)) {
		address->family = ADDRESS_IP4;
		return config_ip4(node, key, &address->ip4);
	}
	if (!config_ip6(node, key, &ip6))
		return false;
	*address = address_ip6(ip6.s6_addr);
	return true;
}

bool config_prefix(const struct config_node *node, struct ip_address *prefix, uint8_t *length)
{
	const char *text = json_string_value(node->json);
	const char *end = text == NULL ? NULL : text + json_string_length(node->json);

	if (text != NULL && address_read_prefix(text, end, prefix, length) == end)
		return true;
	config_mistake(node, has_colon(node) ? "expected an IPv6 prefix such as 2001:db8::/32"
					     : "expected an IPv4 prefix such as 16.0.0.0/24");
	return false;
}
