/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of commands as "key=value,key=value". */
#ifndef LINERATE_KEYS_H
#define LINERATE_KEYS_H

#include "port/port.h"

#include <stdbool.h>
#include <stdint.h>

#define KEYS_MAX 12
#define KEYS_TEXT_BYTES 1024
#define KEYS_WRONG_BYTES 128

struct keys {
	unsigned count;
	const char *names[KEYS_MAX], *values[KEYS_MAX];
	char text[KEYS_TEXT_BYTES];
	char wrong[KEYS_WRONG_BYTES]; /* the first mistake; "": none */
};

/* Reads the parameters, NULL being none. Each key is one of the NULL-terminated list and comes
 * once; the value of `rest`, unless that is NULL, goes to the end, commas included. Mistakes are in
 * keys->wrong. */
void keys_read(
	struct keys *keys, const char *parameters, const char *const *known, const char *rest);
/* For keys that are written down there: keys_of(&keys, parameters, NULL, "port", "size"). */
#define keys_of(keys, parameters, rest, ...) \
	keys_read(keys, parameters, (const char *const[]){__VA_ARGS__, NULL}, rest)

/* The value; NULL when it was not given. */
const char *keys_get(const struct keys *keys, const char *name);
/* Notes a mistake, unless there is one. */
void keys_mistake(struct keys *keys, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Each returns the value, or `fallback` when the key is missing or wrong (a mistake then). */
uint64_t keys_u64(
	struct keys *keys, const char *name, uint64_t fallback, uint64_t min, uint64_t max);
/* Index in the NULL-terminated list. */
int keys_choice(struct keys *keys, const char *name, const char *const *choices, int fallback);
/* The port of the key "port"; NULL when there is none of that name (a mistake then). */
struct port *keys_port(struct keys *keys);

#endif
