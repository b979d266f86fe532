/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/flows[,top=N,by=pps|packets|bytes]: the flow tables' counters and largest flows. */
#include "flow/flowtable.h"
#include "modes/forwarder.h"
#include "command.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOP_DEFAULT 20
/* More do not fit into an answer. */
#define TOP_MAX 50
/* Over so long packets a second are counted. */
#define WINDOW_US 200000

enum by { BY_PPS, BY_PACKETS, BY_BYTES };

struct row {
	uint64_t size; /* what rows are sorted by */
	uint64_t pps;
	struct flow_view view;
};

struct request {
	unsigned top;
	enum by by;
	unsigned count;
	struct row rows[TOP_MAX + 1];
};

/* Counters of each record when the window began. */
struct before {
	uint32_t packets;
	uint8_t generation;
};

static uint64_t packets_of(const struct flow_record *record)
{
	return record->packets[0] + record->packets[1];
}

static struct before *read_before(const struct flow_table *table, uint32_t count)
{
	struct before *before = calloc((size_t)count + 1, sizeof(*before));

	for (uint32_t i = 0; i < count && before != NULL; i++) {
		before[i].packets = (uint32_t)packets_of(&table->records[i]);
		before[i].generation = table->records[i].generation;
	}
	return before;
}

/* Rows are sorted, the largest first; the last falls out. */
static void insert(struct request *request, const struct row *row)
{
	unsigned place = request->count;

	while (place > 0 && request->rows[place - 1].size < row->size) {
		request->rows[place] = request->rows[place - 1];
		place--;
	}
	request->rows[place] = *row;
	request->count = RTE_MIN(request->count + 1, request->top);
}

static void look_at(struct request *request, const struct flow_table *table, uint32_t index,
	const struct before *before, uint32_t window_ms)
{
	struct row row;
	uint64_t packets;

	if (!flow_table_read(table, index, &row.view) || row.view.record.state == FLOW_ENDED)
		return;
	packets = packets_of(&row.view.record);
	/* A flow that began during the window: all of its packets arrived in it. */
	row.pps = before == NULL || before->generation != row.view.record.generation
			  ? packets
			  : (uint32_t)packets - before->packets;
	row.pps = row.pps * 1000 / RTE_MAX(window_ms, 1u);
	row.size = request->by == BY_PPS ? row.pps
		   : request->by == BY_PACKETS
			   ? packets
			   : row.view.record.bytes[0] + row.view.record.bytes[1];
	if (request->count < request->top || row.size > request->rows[request->top - 1].size)
		insert(request, &row);
}

static bool read_flows(struct request *request)
{
	struct before *before[WORKERS_MAX] = {NULL};
	uint32_t counts[WORKERS_MAX] = {0}, began = flowtable_clock_ms();
	unsigned tables = flowtable.nb_tables;
	bool done = true;

	for (unsigned i = 0; i < tables; i++) {
		counts[i] = __atomic_load_n(&flowtable.tables[i]->touched, __ATOMIC_ACQUIRE);
		before[i] = read_before(flowtable.tables[i], counts[i]);
		done &= before[i] != NULL;
	}
	usleep(WINDOW_US);
	for (unsigned i = 0; i < tables && done; i++) {
		const struct flow_table *table = flowtable.tables[i];
		uint32_t touched = __atomic_load_n(&table->touched, __ATOMIC_ACQUIRE);

		for (uint32_t index = 0; index < touched; index++)
			look_at(request, table, index, index < counts[i] ? &before[i][index] : NULL,
				flowtable_clock_ms() - began);
	}
	for (unsigned i = 0; i < tables; i++)
		free(before[i]);
	return done;
}

static const char *protocol_name(uint8_t protocol, char text[8])
{
	switch (protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_SCTP:
		return "sctp";
	case IPPROTO_ICMP:
		return "icmp";
	case IPPROTO_ICMPV6:
		return "icmp6";
	default:
		snprintf(text, 8, "%u", protocol);
		return text;
	}
}

/* "10.0.0.1:80", "[2001:db8::1]:80"; without the port where the protocol has none. */
static void end_text(const struct flow_view *view, bool high, char *text, size_t size)
{
	const struct flow_key *key = &view->record.key;
	uint32_t word = htonl(high ? key->high_address : key->low_address);
	const void *address = &word;
	char name[INET6_ADDRSTRLEN];
	bool ports = key->protocol == IPPROTO_TCP || key->protocol == IPPROTO_UDP ||
		     key->protocol == IPPROTO_SCTP;

	if (key->version == 6)
		address = high ? view->addresses6.high : view->addresses6.low;
	inet_ntop(key->version == 6 ? AF_INET6 : AF_INET, address, name, sizeof(name));
	if (ports)
		snprintf(text, size, key->version == 6 ? "[%s]:%u" : "%s:%u", name,
			high ? key->high_port : key->low_port);
	else
		snprintf(text, size, "%s", name);
}

static void add_row(struct table *table, const struct row *row, uint32_t now_ms)
{
	static const char *const rules[] = {"none", "low", "high", "both"};
	const struct flow_record *record = &row->view.record;
	const struct flow_cold *cold = &row->view.cold;
	char text[INET6_ADDRSTRLEN + 16], protocol[8];
	uint32_t age = RTE_MAX(now_ms - cold->first_seen_ms[0], now_ms - cold->first_seen_ms[1]);
	uint32_t idle = RTE_MIN(now_ms - record->last_seen_ms[0], now_ms - record->last_seen_ms[1]);

	table_string(table, 0, protocol_name(record->key.protocol, protocol));
	end_text(&row->view, false, text, sizeof(text));
	table_string(table, 1, text);
	end_text(&row->view, true, text, sizeof(text));
	table_string(table, 2, text);
	table_string(table, 3, record->state == FLOW_CLOSING ? "closing" : "open");
	table_u64(table, 4, row->pps);
	table_u64(table, 5, record->packets[FLOW_LOW_TO_HIGH]);
	table_u64(table, 6, record->packets[FLOW_HIGH_TO_LOW]);
	table_u64(table, 7, record->bytes[FLOW_LOW_TO_HIGH]);
	table_u64(table, 8, record->bytes[FLOW_HIGH_TO_LOW]);
	table_u64(table, 9, age);
	table_u64(table, 10, idle);
	table_string(table, 11, rules[(record->held & FLOW_RULES) / FLOW_RULE(0)]);
}

static void answer_counters(struct rte_tel_data *data)
{
	static const char *const reasons[FLOW_NOT_RECORDED_REASONS] = {"not_recorded_not_ip",
		"not_recorded_broken", "not_recorded_fragment", "not_recorded_full"};
	static const char *const ends[FLOW_END_REASONS] = {
		"ended_idle", "ended_closed", "ended_hard", "ended_stop"};
	uint64_t sums[sizeof(struct flow_counters) / sizeof(uint64_t)] = {0};
	struct flow_counters sum;
	uint64_t flows = 0, capacity = 0;

	for (unsigned i = 0; i < flowtable.nb_tables; i++) {
		const struct flow_table *table = flowtable.tables[i];
		/* All of it is counts. */
		const uint64_t *counts = (const uint64_t *)&table->counters;

		for (unsigned c = 0; c < RTE_DIM(sums); c++)
			sums[c] += counts[c];
		flows += table->live;
		capacity += table->capacity;
	}
	memcpy(&sum, sums, sizeof(sum));
	answer_u64(data, "flows", flows);
	answer_u64(data, "capacity", capacity);
	answer_u64(data, "packets", sum.packets);
	answer_u64(data, "created", sum.created);
	for (unsigned r = 0; r < FLOW_END_REASONS; r++)
		answer_u64(data, ends[r], sum.ended[r]);
	for (unsigned r = 0; r < FLOW_NOT_RECORDED_REASONS; r++)
		answer_u64(data, reasons[r], sum.not_recorded[r]);
	answer_u64(data, "marked", sum.marked);
	answer_u64(data, "bad_marks", sum.bad_marks);
	answer_u64(data, "lost_exports", sum.lost_exports);
	answer_u64(data, "lost_samples", sum.lost_samples);
}

static int answer_rows(struct rte_tel_data *data, const struct request *request)
{
	uint32_t now_ms = flowtable_clock_ms();
	struct table table;

	table_start(&table, "ssssuuuuuuus", "protocol", "low", "high", "state", "pps",
		"packets_low", "packets_high", "bytes_low", "bytes_high", "age_ms", "idle_ms",
		"rules");
	for (unsigned i = 0; i < request->count; i++)
		add_row(&table, &request->rows[i], now_ms);
	return table_end(&table, data);
}

/* "top=N", "by=…", or both in this order. */
static bool read_request(const char *parameters, struct request *request)
{
	static const char *const names[] = {
		[BY_PPS] = "pps", [BY_PACKETS] = "packets", [BY_BYTES] = "bytes"};
	char by[8] = "pps", rest;

	request->top = TOP_DEFAULT;
	request->by = BY_PPS;
	if (parameters == NULL || parameters[0] == '\0')
		return true;
	if (sscanf(parameters, "top=%u,by=%7[a-z]%c", &request->top, by, &rest) != 2 &&
		sscanf(parameters, "top=%u%c", &request->top, &rest) != 1 &&
		sscanf(parameters, "by=%7[a-z]%c", by, &rest) != 1)
		return false;
	if (request->top > TOP_MAX)
		return false;
	for (unsigned i = 0; i < RTE_DIM(names); i++)
		if (strcmp(by, names[i]) == 0) {
			request->by = (enum by)i;
			return true;
		}
	return false;
}

static int flows_answer(const char *parameters, struct rte_tel_data *data)
{
	struct request *request = calloc(1, sizeof(*request));
	int rc = -1;

	if (request == NULL)
		return -1;
	if (read_request(parameters, request)) {
		rc = 0;
		if (flowtable.nb_tables == 0)
			answer_error(data, "the forwarder is no flowtable");
		else if (request->top > 0 && !read_flows(request))
			answer_error(data, "no memory to compare flows");
		else {
			answer_counters(data);
			rc = answer_rows(data, request);
		}
	}
	free(request);
	return rc;
}

COMMAND("/linerate/flows", flows_answer,
	"Counters of the flow table and its largest flows. Parameters: "
	"[top=N (0 to 50)][,][by=pps|packets|bytes]")
