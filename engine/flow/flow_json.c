/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_json.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

struct line {
	char *text;
	size_t used;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct line *line, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length =
		vsnprintf(line->text + line->used, FLOW_JSON_BYTES - line->used, format, arguments);
	va_end(arguments);
	line->used += (size_t)length;
}

/* ISO 8601, UTC, milliseconds. */
static void add_time(struct line *line, const char *key, uint64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;
	char text[32];

	(void)gmtime_r(&seconds, &tm);
	(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	add(line, ",\"%s\":\"%s.%03uZ\"", key, text, (unsigned)(ms % 1000));
}

static void add_tcp_flags(struct line *line, uint8_t flags)
{
	static const char letters[] = "FSRPAUEC";

	add(line, ",\"tcp_flags\":\"");
	for (unsigned bit = 0; bit < 8; bit++)
		if (flags >> bit & 1)
			add(line, "%c", letters[bit]);
	add(line, "\"");
}

static void add_endpoint(
	struct line *line, const struct flow_export_record *record, unsigned endpoint)
{
	const struct flow_export_record_direction *sent = &record->of[endpoint];
	char address[INET6_ADDRSTRLEN];

	(void)inet_ntop(record->version == 6 ? AF_INET6 : AF_INET, record->addresses[endpoint],
		address, sizeof(address));
	add(line, ",\"%s\":{\"address\":\"%s\"", endpoint == 0 ? "low" : "high", address);
	if (!record->icmp)
		add(line, ",\"port\":%u", record->ports[endpoint]);
	add(line, ",\"packets\":%llu,\"bytes\":%llu", (unsigned long long)sent->packets,
		(unsigned long long)sent->bytes);
	if (sent->packets > 0) {
		add_time(line, "first", sent->first_ms);
		add_time(line, "last", sent->last_ms);
	}
	if (record->protocol == IPPROTO_TCP)
		add_tcp_flags(line, sent->tcp_flags);
	add(line, "}");
}

static const char *reason_name(uint8_t reason)
{
	switch (reason) {
	case FLOW_EXPORT_IDLE:
		return "idle";
	case FLOW_EXPORT_ACTIVE:
		return "active";
	case FLOW_EXPORT_END:
		return "end";
	default:
		return "forced";
	}
}

size_t flow_json_line(const struct flow_export_record *record, char text[FLOW_JSON_BYTES])
{
	struct line line = {.text = text};

	add(&line, "{\"flow\":%llu,\"version\":%u,\"protocol\":%u", (unsigned long long)record->id,
		record->version, record->protocol);
	if (record->icmp)
		add(&line, ",\"icmp_type\":%u,\"icmp_code\":%u", record->icmp_type_code >> 8,
			record->icmp_type_code & 255);
	add_endpoint(&line, record, 0);
	add_endpoint(&line, record, 1);
	add(&line, ",\"reason\":\"%s\"}\n", reason_name(record->reason));
	return line.used;
}
