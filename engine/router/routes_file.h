/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plain file of routes: on each line `PREFIX/LENGTH NEXT-HOP [PORT]`, or nothing; '#' starts
 * a comment. For tables of millions.
 */
#ifndef LINERATE_ROUTES_FILE_H
#define LINERATE_ROUTES_FILE_H

#include "router_order.h"

/* Number of mistakes that are reported, before the number of further ones. */
#define ROUTES_FILE_COMPLAINTS 20

/* Reads the whole text; `sink` gets an ORDER_ROUTE_ADD a route. Each mistake is one line,
 * `file:line: what was expected`, on `complaints`; returns their number. */
unsigned routes_file_parse(const char *file, const char *text, size_t length, router_sink_t sink,
	void *context, FILE *complaints);

#endif
