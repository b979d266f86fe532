/* SPDX-License-Identifier: BSD-3-Clause */
/* Adjacencies in words, for telemetry and packet traces. */
#ifndef LINERATE_ADJACENCY_TEXT_H
#define LINERATE_ADJACENCY_TEXT_H

#include "adjacency.h"

#include <stddef.h>

const char *adjacency_kind_name(const struct adjacency *adjacency);
/* `before` and the adjacency: "48.0.0.0/24: adjacency 7, rewrite, via 100.64.2.2 on e1". */
void adjacency_text(const char *before, uint32_t index, char *text, size_t bytes);

#endif
