/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VPP's CLI text, as people have it in files: each line becomes one order. Words may be
 * shortened as long as they stay unambiguous; '#' starts a comment.
 */
#ifndef LINERATE_CLI_H
#define LINERATE_CLI_H

#include "router_order.h"

#include <stddef.h>
#include <stdio.h>

/* Reads the whole text. Each mistake is one line, `file:line: what was expected`, on
 * `complaints`; returns their number. */
unsigned cli_parse(const char *file, const char *text, size_t length, router_sink_t sink,
	void *context, FILE *complaints);

#endif
