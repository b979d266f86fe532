/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/streams,FIRST: what became of each stream. */
#include "tester/stream_rx.h"
#include "tester/tester.h"

#include "command.h"

#include <stdlib.h>

#define STREAMS_PER_ANSWER 64

static int streams_answer(const char *parameters, struct rte_tel_data *data)
{
	unsigned long first = parameters == NULL ? 0 : strtoul(parameters, NULL, 10);
	struct table table;

	table_start(&table, "suuuuuuu", "name", "sent", "received", "lost", "duplicated",
		"out_of_order", "corrupted", "rx_bytes");
	for (unsigned long i = first; i < tester.nb_streams && i < first + STREAMS_PER_ANSWER;
		i++) {
		const struct stream *stream = tester.streams[i];
		struct stream_counts counts;

		stream_rx_read(stream, &counts);
		table_string(&table, 0, stream->name);
		table_u64(&table, 1, stream->sent);
		table_u64(&table, 2, counts.received);
		table_u64(&table, 3, counts.lost);
		table_u64(&table, 4, counts.duplicated);
		table_u64(&table, 5, counts.out_of_order);
		table_u64(&table, 6, counts.corrupted);
		table_u64(&table, 7, counts.rx_bytes);
	}
	answer_u64(data, "total", tester.nb_streams);
	return table_end(&table, data);
}

COMMAND("/linerate/streams", streams_answer,
	"Columns of up to 64 streams. Parameter: number of the first")
