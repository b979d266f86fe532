/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a router's CLI file. */
#include "router/cli.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Orders come in the order of their lines, several of one that has several paths. */
struct taken {
	unsigned orders, refused, line;
};

static const char *take(void *context, const struct router_order *order)
{
	struct taken *taken = context;

	if (order->kind >= ORDER_NOTHING || order->nb_labels > ADJACENCY_LABELS_MAX ||
		order->line < taken->line || order->line == 0 ||
		order->length > (order->address.family == ADDRESS_IP6 ? 128 : 32))
		abort();
	taken->line = order->line;
	if (++taken->orders % 16 != 0)
		return NULL;
	taken->refused++;
	return "refused";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct taken taken = {0};
	unsigned mistakes, lines = 1;

	if (nowhere == NULL)
		nowhere = fopen("/dev/null", "we");
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	mistakes = cli_parse("fuzz", (const char *)data, size, take, &taken, nowhere);
	/* A line is read up to its first mistake. */
	if (mistakes > lines || mistakes < taken.refused || taken.line > lines)
		abort();
	return 0;
}
