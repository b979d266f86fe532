/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading JSON so that every mistake gives one line: file, key, what was expected. */
#ifndef LINERATE_CONFIG_H
#define LINERATE_CONFIG_H

#include "ip_address.h"

#include <jansson.h>
#include <netinet/in.h>
#include <rte_ether.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One file being read, and how many mistakes were found in it so far. */
struct config {
	const char *file;
	json_t *root;
	unsigned mistakes;
	FILE *complaints; /* where they are written */
};

/* A place in the file. `parent` and `key` or `index` spell its path in error lines. */
struct config_node {
	struct config *config;
	const struct config_node *parent;
	const char *key; /* NULL in an array */
	size_t index;
	json_t *json; /* borrowed; NULL when missing */
};

/* Reads and parses `file`. Returns 0, or -1 after printing one line. */
int config_open(struct config *config, const char *file);
/* The same, mistakes being written to `complaints`. */
int config_open_to(struct config *config, const char *file, FILE *complaints);
/* The same from text, `file` being the name to print. */
int config_open_text(struct config *config, const char *file, const char *text);
void config_close(struct config *config);
struct config_node config_root(struct config *config);

/* Prints `file: path: message` and counts it. */
void config_mistake(const struct config_node *node, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Complains about each key of the object that is not in the NULL-terminated list. */
void config_known_keys(const struct config_node *node, const char *const *keys);
/* The same for keys that are written down there: config_known(node, "name", "ports"). */
#define config_known(node, ...) config_known_keys(node, (const char *const[]){__VA_ARGS__, NULL})

struct config_node config_child(const struct config_node *node, const char *key);
struct config_node config_item(const struct config_node *array, size_t index);
/* Number of items; 0 when missing; a mistake when not an array. */
size_t config_items(const struct config_node *node);
/* True when there; a mistake when it is there and is no object. */
bool config_is_object(const struct config_node *node);
/* The same, and complains about other keys than those: config_object(node, "name", "ports"). */
#define config_object(node, ...) \
	(config_is_object(node) && \
		(config_known_keys(node, (const char *const[]){__VA_ARGS__, NULL}), true))
/* Runs the statement for each item of the array; a mistake when it is none. */
#define CONFIG_EACH(item, array) \
	for (struct config_node item = config_first(array); (item).json != NULL; \
		(item) = config_item((item).parent, (item).index + 1))
struct config_node config_first(const struct config_node *array);

/* Each returns the value, or `fallback` when the key is missing or wrong (a mistake then). */
uint64_t config_u64(const struct config_node *node, const char *key, uint64_t fallback,
	uint64_t min, uint64_t max);
double config_number(
	const struct config_node *node, const char *key, double fallback, double min, double max);
bool config_bool(const struct config_node *node, const char *key, bool fallback);
/* The string stays owned by the file. `fallback` may be NULL. */
const char *config_string(const struct config_node *node, const char *key, const char *fallback);
/* As config_string, but a missing key is a mistake; then "" is returned. */
const char *config_required(const struct config_node *node, const char *key);
/* Index of the string in the NULL-terminated list; `fallback` when missing or wrong. */
int config_choice(
	const struct config_node *node, const char *key, const char *const *choices, int fallback);
/* Each returns false when missing or wrong (a mistake then). Addresses are in host order. */
bool config_mac(const struct config_node *node, const char *key, struct rte_ether_addr *mac);
bool config_ip4(const struct config_node *node, const char *key, uint32_t *address);
bool config_ip6(const struct config_node *node, const char *key, struct in6_addr *address);
/* The same for both families: "fe80::1", "16.0.0.0/24". */
bool config_address(const struct config_node *node, const char *key, struct ip_address *address);
bool config_prefix(const struct config_node *node, struct ip_address *prefix, uint8_t *length);

#endif
