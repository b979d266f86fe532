/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * /linerate/latency[,STREAM[,BUCKET]]: which streams are timed, and a stream's histogram;
 * /linerate/latency/figures,FIRST: figures of all of them.
 */
#include "port/port.h"
#include "tester/stream_rx.h"
#include "tester/tester.h"
#include "command.h"

#include <stdlib.h>

/* More do not fit into an answer. */
#define BUCKETS_PER_ANSWER 256
#define STREAMS_PER_ANSWER 256

static const char *port_name(int index)
{
	return index < 0 ? "" : port_at((unsigned)index)->name;
}

/* The first of them; /linerate/latency/figures lists all. */
static int answer_streams(struct rte_tel_data *data)
{
	struct table table;
	unsigned rows = 0;

	table_start(&table, "usss", "stream", "name", "port", "rx_port");
	for (unsigned i = 0; i < tester.nb_rows && rows < STREAMS_PER_ANSWER; i++) {
		const struct stream *stream = tester.rows[i];

		if (!stream->stamped)
			continue;
		rows++;
		table_u64(&table, 0, i);
		table_string(&table, 1, stream->name);
		table_string(&table, 2, port_name(stream->port));
		table_string(&table, 3, port_name(stream->rx_port));
	}
	return table_end(&table, data);
}

/* Histograms of one stream at all workers that received it in this trial. */
struct parts {
	unsigned count;
	struct latency *of[TESTER_WORKERS_MAX];
};

static struct parts parts_of(const struct stream *stream)
{
	struct parts parts = {0};

	for (unsigned i = 0; i < tester.nb_workers; i++) {
		struct latency *latency = stream_rx_latency(tester.workers[i], stream);

		if (latency != NULL)
			parts.of[parts.count++] = latency;
	}
	return parts;
}

static struct latency_figures sum_of(const struct parts *parts)
{
	struct latency_figures sum = {.min = UINT64_MAX};

	for (unsigned i = 0; i < parts->count; i++)
		latency_add_figures(parts->of[i], &sum);
	return sum;
}

static void answer_figures(struct rte_tel_data *data, const struct parts *parts)
{
	struct latency_figures sum = sum_of(parts);

	answer_string(data, "unit", "ns");
	answer_u64(data, "digits", LATENCY_DIGITS);
	answer_u64(data, "highest", LATENCY_MAX_NS);
	answer_u64(data, "count", sum.count);
	answer_u64(data, "min", sum.count == 0 ? 0 : sum.min);
	answer_u64(data, "max", sum.max);
	answer_u64(data, "sum", sum.sum);
	answer_u64(data, "jitter_sum", sum.jitter_sum);
	answer_u64(data, "jitter_count", sum.jitter_count);
	answer_u64(data, "damaged", sum.damaged);
	answer_u64(data, "disturbed_count", sum.disturbed_count);
	answer_u64(data, "disturbed_max", sum.disturbed_max);
}

/* Buckets that are not empty, from `bucket` on; "next" is where to go on, 0 at the end. */
static int answer_buckets(
	struct rte_tel_data *data, const struct parts *parts, unsigned long bucket)
{
	unsigned count = 0;
	struct table table;

	table_start(&table, "uuu", "bucket", "packets", "disturbed");
	for (; bucket < LATENCY_BUCKETS && count < BUCKETS_PER_ANSWER; bucket++) {
		uint64_t clean = 0, disturbed = 0;

		for (unsigned i = 0; i < parts->count; i++) {
			const struct latency *latency = parts->of[i];

			clean += latency_bucket(latency, &latency->clean, (uint32_t)bucket);
			disturbed += latency_bucket(latency, &latency->disturbed, (uint32_t)bucket);
		}
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
	struct parts parts;
	char *end;

	if (parameters == NULL)
		return answer_streams(data);
	stream = strtoul(parameters, &end, 10);
	if (*end == ',')
		bucket = strtoul(end + 1, NULL, 10);
	if (stream >= tester.nb_rows || !tester.rows[stream]->stamped)
		return answer_error(
			data, "no latency stream has that number: /linerate/latency lists them");
	parts = parts_of(tester.rows[stream]);
	answer_figures(data, &parts);
	return answer_buckets(data, &parts, bucket);
}

COMMAND("/linerate/latency", latency_answer,
	"Latency streams; with the number of one its histogram in ns. Parameters: "
	"STREAM[,BUCKET], the first bucket of the answer")

/* Ends the period at all workers; returns its largest latency. */
static uint64_t end_period(const struct parts *parts)
{
	uint64_t max = 0;

	for (unsigned i = 0; i < parts->count; i++)
		max = RTE_MAX(max, latency_end_period(parts->of[i]));
	return max;
}

static void add_figures(struct table *table, unsigned long number)
{
	const struct stream *stream = tester.rows[number];
	struct parts parts = parts_of(stream);
	struct latency_figures sum = sum_of(&parts);

	table_string(table, 0, stream->name);
	table_u64(table, 1, number);
	table_u64(table, 2, sum.count);
	table_u64(table, 3, sum.count == 0 ? 0 : sum.min);
	table_u64(table, 4, sum.max);
	table_u64(table, 5, sum.sum);
	table_u64(table, 6, sum.jitter_sum);
	table_u64(table, 7, sum.jitter_count);
	table_u64(table, 8, sum.damaged);
	table_u64(table, 9, sum.disturbed_count);
	table_u64(table, 10, sum.disturbed_max);
	table_u64(table, 11, end_period(&parts));
}

static int figures_answer(const char *parameters, struct rte_tel_data *data)
{
	unsigned long next = parameters == NULL ? 0 : strtoul(parameters, NULL, 10);
	unsigned rows = 0;
	struct table table;

	table_start(&table, "suuuuuuuuuuu", "name", "stream", "count", "min", "max", "sum",
		"jitter_sum", "jitter_count", "damaged", "disturbed_count", "disturbed_max",
		"last_max");
	for (; next < tester.nb_rows && rows < STREAMS_PER_ANSWER; next++) {
		if (!tester.rows[next]->stamped)
			continue;
		add_figures(&table, next);
		rows++;
	}
	answer_u64(data, "next", next < tester.nb_rows ? next : 0);
	return table_end(&table, data);
}

COMMAND("/linerate/latency/figures", figures_answer,
	"Figures of up to 256 latency streams in ns, last_max since the last answer. Parameter: "
	"number of the first stream")
