/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * /linerate/streams,FIRST: what became of each stream; /linerate/streams/received,FIRST: where its
 * frames came in.
 */
#include "tester/stream_rx.h"
#include "tester/tester.h"

#include "command.h"

#include <stdlib.h>

#define STREAMS_PER_ANSWER 64

/* One that several senders send is one stream: the sums over its parts. */
static uint64_t read_parts(const struct stream *stream, struct stream_counts *sum)
{
	uint64_t sent = 0;

	*sum = (struct stream_counts){0};
	for (; stream != NULL; stream = stream->next_part) {
		struct stream_counts counts;

		stream_rx_read(stream, &counts);
		sent += stream->sent;
		sum->sequence.received += counts.sequence.received;
		sum->sequence.lost += counts.sequence.lost;
		sum->sequence.duplicated += counts.sequence.duplicated;
		sum->sequence.out_of_order += counts.sequence.out_of_order;
		sum->corrupted += counts.corrupted;
		sum->rx_bytes += counts.rx_bytes;
	}
	return sent;
}

static int streams_answer(const char *parameters, struct rte_tel_data *data)
{
	unsigned long first = parameters == NULL ? 0 : strtoul(parameters, NULL, 10);
	struct table table;

	table_start(&table, "suuuuuuu", "name", "sent", "received", "lost", "duplicated",
		"out_of_order", "corrupted", "rx_bytes");
	for (unsigned long i = first; i < tester.nb_rows && i < first + STREAMS_PER_ANSWER; i++) {
		const struct stream *stream = tester.rows[i];
		struct stream_counts counts;
		uint64_t sent = read_parts(stream, &counts);

		table_string(&table, 0, stream->name);
		table_u64(&table, 1, sent);
		table_u64(&table, 2, counts.sequence.received);
		table_u64(&table, 3, counts.sequence.lost);
		table_u64(&table, 4, counts.sequence.duplicated);
		table_u64(&table, 5, counts.sequence.out_of_order);
		table_u64(&table, 6, counts.corrupted);
		table_u64(&table, 7, counts.rx_bytes);
	}
	answer_u64(data, "total", tester.nb_rows);
	return table_end(&table, data);
}

COMMAND("/linerate/streams", streams_answer,
	"Columns of up to 64 streams. Parameter: number of the first")

#define ROWS_PER_ANSWER 256

/* Adds a row for each port at which frames of the stream came in. Returns the number of rows. */
static unsigned add_ports(struct table *table, const struct stream *stream)
{
	unsigned rows = 0;

	for (unsigned i = 0; i < tester.nb_ports; i++) {
		const struct port *port = tester.ports[i].port;
		struct stream_rx_port counts = {0};

		for (const struct stream *part = stream; part != NULL; part = part->next_part)
			stream_rx_read_port(part, port->index, &counts);
		if (counts.rx_bytes == 0)
			continue;
		table_string(table, 0, stream->name);
		table_u64(table, 1, stream->id);
		table_string(table, 2, port->name);
		table_u64(table, 3, counts.received);
		table_u64(table, 4, counts.rx_bytes);
		rows++;
	}
	return rows;
}

static int received_answer(const char *parameters, struct rte_tel_data *data)
{
	unsigned long next = parameters == NULL ? 0 : strtoul(parameters, NULL, 10);
	unsigned rows = 0;
	struct table table;

	table_start(&table, "susuu", "name", "id", "port", "received", "rx_bytes");
	for (; next < tester.nb_rows && rows + tester.nb_ports <= ROWS_PER_ANSWER; next++)
		rows += add_ports(&table, tester.rows[next]);
	answer_u64(data, "next", next < tester.nb_rows ? next : 0);
	return table_end(&table, data);
}

COMMAND("/linerate/streams/received", received_answer,
	"Columns of streams and the ports that received them. Parameter: number of the first "
	"stream")
