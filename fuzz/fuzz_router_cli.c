/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a router's CLI file. */
#include "router/cli.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *take(void *context, const struct router_order *order)
{
	unsigned *orders = context;

	if (order->kind >= ORDER_NOTHING || order->length > 32 ||
		order->nb_labels > ADJACENCY_LABELS_MAX || order->line == 0)
		abort();
	(*orders)++;
	return *orders % 16 == 0 ? "refused" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	unsigned orders = 0, mistakes, lines = 1;

	if (nowhere == NULL)
		nowhere = fopen("/dev/null", "we");
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	mistakes = cli_parse("fuzz", (const char *)data, size, take, &orders, nowhere);
	if (mistakes + orders - orders / 16 > lines)
		abort();
	return 0;
}
