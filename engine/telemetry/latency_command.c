/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/latency[,STREAM[,BUCKET]]: which streams are timed, and a stream's histogram. */
#include "port/port.h"
#include "tester/latency.h"
#include "tester/tester.h"
#include "command.h"

#include <stdlib.h>

/* More do not fit into an answer. */
#define BUCKETS_PER_ANSWER 256

static const char *port_name(int index)
{
	return index < 0 ? "" : port_at((unsigned)index)->name;
}

static int answer_streams(struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "usss", "stream", "name", "port", "rx_port");
	for (unsigned i = 0; i < tester.nb_streams; i++) {
		const struct stream *stream = tester.streams[i];

		if (stream->latency == NULL)
			continue;
		table_u64(&table, 0, i);
		table_string(&table, 1, stream->name);
		table_string(&table, 2, port_name(stream->port));
		table_string(&table, 3, port_name(stream->rx_port));
	}
	return table_end(&table, data);
}

static void answer_figures(struct rte_tel_data *data, const struct latency *latency)
{
	const struct histogram *clean = &latency->clean, *disturbed = &latency->disturbed;

	answer_string(data, "unit", "ns");
	answer_u64(data, "digits", LATENCY_DIGITS);
	answer_u64(data, "highest", LATENCY_MAX_NS);
	answer_u64(data, "count", clean->count);
	answer_u64(data, "min", clean->count == 0 ? 0 : clean->min);
	answer_u64(data, "max", clean->max);
	answer_u64(data, "sum", clean->sum);
	answer_u64(data, "jitter_sum", latency->jitter_sum);
	answer_u64(data, "jitter_count", latency->jitter_count);
	answer_u64(data, "damaged", latency->damaged);
	answer_u64(data, "disturbed_count", disturbed->count);
	answer_u64(data, "disturbed_max", disturbed->max);
}

/* Buckets that are not empty, from `bucket` on; "next" is where to go on, 0 at the end. */
static int answer_buckets(
	struct rte_tel_data *data, const struct latency *latency, unsigned long bucket)
{
	unsigned count = 0;
	struct table table;

	table_start(&table, "uuu", "bucket", "packets", "disturbed");
	for (; bucket < LATENCY_BUCKETS && count < BUCKETS_PER_ANSWER; bucket++) {
		uint64_t clean = latency->clean.counts[bucket];
		uint64_t disturbed = latency->disturbed.counts[bucket];

		if (clean == 0 && disturbed == 0)
			continue;
		table_u64(&table, 0, bucket);
		table_u64(&table, 1, clean);
		table_u64(&table, 2, disturbed);
		count++;
	}
	answer_u64(data, "next", bucket < LATENCY_BUCKETS ? bucket : 0);
	return table_end(&table, data);
}

static int latency_answer(const char *parameters, struct rte_tel_data *data)
{
	unsigned long stream, bucket = 0;
	char *end;

	if (parameters == NULL)
		return answer_streams(data);
	stream = strtoul(parameters, &end, 10);
	if (*end == ',')
		bucket = strtoul(end + 1, NULL, 10);
	if (stream >= tester.nb_streams || tester.streams[stream]->latency == NULL)
		return answer_error(
			data, "no latency stream has that number: /linerate/latency lists them");
	answer_figures(data, tester.streams[stream]->latency);
	return answer_buckets(data, tester.streams[stream]->latency, bucket);
}

COMMAND("/linerate/latency", latency_answer,
	"Latency streams; with the number of one its histogram in ns. Parameters: "
	"STREAM[,BUCKET], the first bucket of the answer")
