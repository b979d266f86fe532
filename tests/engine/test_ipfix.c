/* SPDX-License-Identifier: BSD-3-Clause */
/* IPFIX messages are read back as RFC 7011 says; JSON lines by a JSON reader; increments add up. */
#include "flow/flow_export_record.h"
#include "flow/flow_json.h"
#include "flow/ipfix.h"
#include "test.h"

#include <jansson.h>
#include <netinet/in.h>

#define ELEMENTS 200
#define TEMPLATES_MAX 8

/* A collector: knows nothing but the RFC and what the templates say. */
struct collector {
	uint32_t sequence; /* expected next */
	unsigned messages, records;
	struct {
		uint16_t id, nb_fields;
		uint16_t elements[32], lengths[32];
	} templates[TEMPLATES_MAX];
	unsigned nb_templates;
	/* The last data record, by element; `length` 0: not in it. */
	const uint8_t *values[ELEMENTS];
	uint16_t lengths[ELEMENTS];
	uint64_t packets, octets; /* sums */
};

static uint64_t number(const uint8_t *bytes, size_t length)
{
	uint64_t value = 0;

	while (length-- > 0)
		value = value << 8 | *bytes++;
	return value;
}

static uint64_t value(const struct collector *collector, unsigned element)
{
	return number(collector->values[element], collector->lengths[element]);
}

static void read_templates(struct collector *collector, const uint8_t *at, const uint8_t *end)
{
	while (end - at >= 4) {
		unsigned t = collector->nb_templates++;

		CHECK(t < TEMPLATES_MAX);
		collector->templates[t].id = (uint16_t)number(at, 2);
		collector->templates[t].nb_fields = (uint16_t)number(at + 2, 2);
		CHECK(collector->templates[t].id >= 256);
		at += 4;
		for (unsigned i = 0; i < collector->templates[t].nb_fields; i++, at += 4) {
			CHECK(at + 4 <= end);
			collector->templates[t].elements[i] = (uint16_t)number(at, 2);
			collector->templates[t].lengths[i] = (uint16_t)number(at + 2, 2);
			CHECK((at[0] & 0x80) == 0); /* no enterprise's own */
		}
	}
	CHECK(at == end);
}

static void read_records(
	struct collector *collector, uint16_t id, const uint8_t *at, const uint8_t *end)
{
	unsigned t = 0;

	while (t < collector->nb_templates && collector->templates[t].id != id)
		t++;
	CHECK(t < collector->nb_templates);
	while (t < collector->nb_templates && at < end) {
		memset(collector->lengths, 0, sizeof(collector->lengths));
		for (unsigned i = 0; i < collector->templates[t].nb_fields; i++) {
			unsigned element = collector->templates[t].elements[i];

			collector->values[element] = at;
			collector->lengths[element] = collector->templates[t].lengths[i];
			at += collector->templates[t].lengths[i];
		}
		CHECK(at <= end);
		collector->records++;
		collector->octets += value(collector, 1);
		collector->packets += value(collector, 2);
	}
}

static void read_message(struct collector *collector, const uint8_t *bytes, size_t length)
{
	const uint8_t *at = bytes + 16, *end = bytes + length;
	unsigned before = collector->records;

	CHECK(length <= IPFIX_MESSAGE_BYTES);
	CHECK_EQUAL(number(bytes, 2), 10);
	CHECK_EQUAL(number(bytes + 2, 2), length);
	CHECK_EQUAL(number(bytes + 8, 4), collector->sequence);
	CHECK_EQUAL(number(bytes + 12, 4), 77);
	while (end - at >= 4) {
		uint16_t id = (uint16_t)number(at, 2), set = (uint16_t)number(at + 2, 2);

		CHECK(set > 4 && at + set <= end);
		if (id == 2)
			read_templates(collector, at + 4, at + set);
		else
			read_records(collector, id, at + 4, at + set);
		at += set;
	}
	CHECK(at == end);
	collector->sequence += collector->records - before;
	collector->messages++;
}

static void pass_on(struct ipfix *ipfix, struct collector *collector)
{
	size_t length = ipfix_finish(ipfix, 1700000000);

	CHECK_EQUAL(number(ipfix->bytes + 4, 4), 1700000000);
	read_message(collector, ipfix->bytes, length);
	ipfix_next(ipfix);
}

static struct flow_export_record some_flow(uint8_t version, uint8_t protocol)
{
	struct flow_export_record record = {.id = 0x1122334455667788,
		.version = version,
		.protocol = protocol,
		.reason = FLOW_EXPORT_IDLE,
		.icmp = protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6,
		.ports = {1000, 443},
		.icmp_type_code = 0x0800,
		.of = {{.packets = 3,
			       .bytes = 180,
			       .first_ms = 1700000000123,
			       .last_ms = 1700000000456,
			       .tcp_flags = 0x13},
			{.packets = 70000,
				.bytes = 5000000000,
				.first_ms = 1700000000124,
				.last_ms = 1700000000457,
				.tcp_flags = 0x12}}};

	for (unsigned i = 0; i < 16; i++) {
		record.addresses[0][i] = (uint8_t)(10 + i);
		record.addresses[1][i] = (uint8_t)(200 + i);
	}
	return record;
}

static void every_element_is_read_back(void)
{
	struct collector collector = {0};
	struct flow_export_record record = some_flow(4, IPPROTO_TCP);
	struct ipfix ipfix;

	ipfix_start(&ipfix, 77);
	CHECK(ipfix_empty(&ipfix));
	CHECK(ipfix_add_templates(&ipfix));
	CHECK(ipfix_add(&ipfix, &record, FLOW_HIGH_TO_LOW));
	CHECK(!ipfix_empty(&ipfix));
	pass_on(&ipfix, &collector);
	CHECK_EQUAL(collector.nb_templates, 4);
	CHECK_EQUAL(collector.records, 1);
	CHECK(memcmp(collector.values[8], record.addresses[1], 4) == 0);
	CHECK(memcmp(collector.values[12], record.addresses[0], 4) == 0);
	CHECK_EQUAL(value(&collector, 7), 443);
	CHECK_EQUAL(value(&collector, 11), 1000);
	CHECK_EQUAL(value(&collector, 4), IPPROTO_TCP);
	CHECK_EQUAL(value(&collector, 6), 0x12);
	CHECK_EQUAL(value(&collector, 136), 1);
	CHECK_EQUAL(value(&collector, 1), 5000000000);
	CHECK_EQUAL(value(&collector, 2), 70000);
	CHECK_EQUAL(value(&collector, 152), 1700000000124);
	CHECK_EQUAL(value(&collector, 153), 1700000000457);
	CHECK_EQUAL(value(&collector, 148), 0x1122334455667788);
}

static void ip6_and_icmp_have_templates(void)
{
	struct flow_export_record tcp6 = some_flow(6, IPPROTO_TCP),
				  icmp6 = some_flow(6, IPPROTO_ICMPV6);
	struct flow_export_record icmp4 = some_flow(4, IPPROTO_ICMP);
	struct collector collector = {0};
	struct ipfix ipfix;

	ipfix_start(&ipfix, 77);
	CHECK(ipfix_add_templates(&ipfix));
	CHECK(ipfix_add(&ipfix, &tcp6, FLOW_LOW_TO_HIGH));
	pass_on(&ipfix, &collector);
	CHECK(collector.lengths[27] == 16 && collector.lengths[28] == 16);
	CHECK(memcmp(collector.values[27], tcp6.addresses[0], 16) == 0);
	CHECK(memcmp(collector.values[28], tcp6.addresses[1], 16) == 0);
	CHECK_EQUAL(value(&collector, 7), 1000);
	CHECK(ipfix_add(&ipfix, &icmp4, FLOW_LOW_TO_HIGH));
	pass_on(&ipfix, &collector);
	CHECK_EQUAL(value(&collector, 32), 0x0800);
	CHECK_EQUAL(collector.lengths[7], 0);
	CHECK(ipfix_add(&ipfix, &icmp6, FLOW_LOW_TO_HIGH));
	pass_on(&ipfix, &collector);
	CHECK_EQUAL(value(&collector, 139), 0x0800);
	CHECK_EQUAL(collector.lengths[27], 16);
	CHECK_EQUAL(collector.records, 3);
}

/* Sets change with the kind of flow; messages end when they are full; numbers go on. */
static void many_flows_in_many_messages(void)
{
	static const uint8_t kinds[][2] = {
		{4, IPPROTO_UDP}, {6, IPPROTO_TCP}, {4, IPPROTO_ICMP}, {4, IPPROTO_UDP}};
	struct collector collector = {0};
	uint64_t packets = 0, octets = 0;
	struct ipfix ipfix;

	ipfix_start(&ipfix, 77);
	CHECK(ipfix_add_templates(&ipfix));
	srandom(1);
	for (unsigned i = 0; i < 5000; i++) {
		const uint8_t *kind = kinds[random() % 4];
		struct flow_export_record record = some_flow(kind[0], kind[1]);

		record.of[0].packets = (uint64_t)random();
		record.of[0].bytes = (uint64_t)random();
		packets += record.of[0].packets;
		octets += record.of[0].bytes;
		if (ipfix_add(&ipfix, &record, FLOW_LOW_TO_HIGH))
			continue;
		CHECK(ipfix.used > IPFIX_MESSAGE_BYTES - 100);
		pass_on(&ipfix, &collector);
		CHECK(ipfix_add(&ipfix, &record, FLOW_LOW_TO_HIGH));
	}
	pass_on(&ipfix, &collector);
	CHECK_EQUAL(collector.records, 5000);
	CHECK_EQUAL(collector.packets, packets);
	CHECK_EQUAL(collector.octets, octets);
	CHECK(collector.messages > 100);
}

static void templates_need_room(void)
{
	struct flow_export_record record = some_flow(4, IPPROTO_UDP);
	struct ipfix ipfix;

	ipfix_start(&ipfix, 77);
	while (ipfix_add(&ipfix, &record, FLOW_LOW_TO_HIGH))
		;
	CHECK(!ipfix_add_templates(&ipfix));
	(void)ipfix_finish(&ipfix, 0);
	ipfix_next(&ipfix);
	CHECK(ipfix_add_templates(&ipfix));
}

static struct flow_export some_export(void)
{
	return (struct flow_export){
		.key = {.low_address = 0x0a000001,
			.high_address = 0x0a000002,
			.low_port = 5,
			.high_port = 6,
			.protocol = IPPROTO_UDP,
			.version = 4},
		.mark = FLOW_MARK(7, 0, 3),
		.packets = {10, 0},
		.bytes = {1000, 0},
		.first_ms = {UINT32_MAX - 50, 0},
		.last_ms = {100, 0},
		.now_ms = 200,
		.l3_offset = {14, 18},
		.reason = FLOW_STILL_LIVE,
	};
}

static void increments_add_up(void)
{
	struct flow_export_record_before before = {0};
	struct flow_export export = some_export();
	struct flow_export_record record;

	flow_export_record_make(&record, &export, &before, 1000000);
	CHECK_EQUAL(record.reason, FLOW_EXPORT_ACTIVE);
	CHECK_EQUAL(record.of[0].packets, 10);
	CHECK_EQUAL(record.of[0].bytes, 1000 - 10 * 14);
	/* The table's clock passed zero in between. */
	CHECK_EQUAL(record.of[0].first_ms, 1000000 - 251);
	CHECK_EQUAL(record.of[0].last_ms, 1000000 - 100);
	CHECK_EQUAL(record.of[1].packets, 0);
	CHECK_EQUAL(record.addresses[0][0], 10);
	CHECK_EQUAL(record.addresses[1][3], 2);
	CHECK_EQUAL(record.ports[1], 6);

	export.packets[0] = 15;
	export.bytes[0] = 1600;
	export.packets[1] = 2;
	export.bytes[1] = 200;
	export.first_ms[1] = 300;
	export.last_ms[0] = 400;
	export.last_ms[1] = 350;
	export.now_ms = 500;
	flow_export_record_make(&record, &export, &before, 1000300);
	CHECK_EQUAL(record.of[0].packets, 5);
	CHECK_EQUAL(record.of[0].bytes, 600 - 5 * 14);
	CHECK_EQUAL(record.of[0].first_ms, 1000300 - 400);
	CHECK_EQUAL(record.of[0].last_ms, 1000300 - 100);
	CHECK_EQUAL(record.of[1].packets, 2);
	CHECK_EQUAL(record.of[1].bytes, 200 - 2 * 18);
	CHECK_EQUAL(record.of[1].first_ms, 1000300 - 200);

	export.reason = FLOW_END_IDLE;
	export.packets[0] = 16;
	export.bytes[0] = 1700;
	flow_export_record_make(&record, &export, &before, 1000300);
	CHECK_EQUAL(record.of[0].packets, 1);
	CHECK_EQUAL(record.of[1].packets, 0);
	CHECK_EQUAL(record.reason, FLOW_EXPORT_IDLE);
	CHECK_EQUAL(before.mark, FLOW_MARK_NONE);
}

/* The record has another flow: nothing is taken off. */
static void another_flow_begins_anew(void)
{
	struct flow_export_record_before before = {0};
	struct flow_export export = some_export();
	struct flow_export_record record;

	flow_export_record_make(&record, &export, &before, 1000000);
	export.mark = FLOW_MARK(7, 0, 4);
	export.packets[0] = 3;
	export.bytes[0] = 300;
	export.reason = FLOW_END_CLOSED;
	flow_export_record_make(&record, &export, &before, 1000000);
	CHECK_EQUAL(record.of[0].packets, 3);
	CHECK_EQUAL(record.reason, FLOW_EXPORT_END);
}

static void icmp_has_no_ports(void)
{
	struct flow_export_record_before before = {0};
	struct flow_export export = some_export();
	struct flow_export_record record;

	export.key.protocol = IPPROTO_ICMP;
	export.key.high_port = 0x0800;
	flow_export_record_make(&record, &export, &before, 1000000);
	CHECK(record.icmp);
	CHECK_EQUAL(record.icmp_type_code, 0x0800);
	CHECK_EQUAL(record.ports[0], 0);
}

static void json_is_json(void)
{
	static const uint8_t kinds[][2] = {{4, IPPROTO_UDP}, {6, IPPROTO_TCP}, {6, IPPROTO_ICMPV6}};

	for (unsigned i = 0; i < RTE_DIM(kinds); i++) {
		struct flow_export_record record = some_flow(kinds[i][0], kinds[i][1]);
		char line[FLOW_JSON_BYTES];
		size_t length = flow_json_line(&record, line);
		json_t *json = json_loads(line, 0, NULL), *high = json_object_get(json, "high");

		CHECK(length == strlen(line) && line[length - 1] == '\n');
		CHECK(strchr(line, '\n') == line + length - 1);
		CHECK(json != NULL);
		CHECK_EQUAL(json_integer_value(json_object_get(high, "packets")), 70000);
		CHECK_EQUAL(json_integer_value(json_object_get(high, "bytes")), 5000000000);
		CHECK(strcmp(json_string_value(json_object_get(high, "last")),
			      "2023-11-14T22:13:20.457Z") == 0);
		if (kinds[i][1] == IPPROTO_TCP)
			CHECK(strcmp(json_string_value(json_object_get(high, "tcp_flags")), "SA") ==
				0);
		CHECK((json_object_get(high, "port") == NULL) == record.icmp);
		json_decref(json);
	}
}

/* The longest of everything fits. */
static void json_fits(void)
{
	struct flow_export_record record = some_flow(6, IPPROTO_TCP);
	char line[FLOW_JSON_BYTES];

	record.id = UINT64_MAX;
	memset(record.addresses, 0xff, sizeof(record.addresses));
	record.ports[0] = record.ports[1] = UINT16_MAX;
	for (unsigned d = 0; d < FLOW_DIRECTIONS; d++)
		record.of[d] = (struct flow_export_record_direction){.packets = UINT64_MAX,
			.bytes = UINT64_MAX,
			.first_ms = UINT64_MAX / 1000,
			.last_ms = UINT64_MAX / 1000,
			.tcp_flags = 0xff};
	CHECK(flow_json_line(&record, line) < FLOW_JSON_BYTES);
}

static const struct test_case cases[] = {
	{"every element is read back", every_element_is_read_back},
	{"IPv6 and ICMP have templates", ip6_and_icmp_have_templates},
	{"many flows in many messages", many_flows_in_many_messages},
	{"templates need room", templates_need_room},
	{"increments add up", increments_add_up},
	{"another flow begins anew", another_flow_begins_anew},
	{"ICMP has no ports", icmp_has_no_ports},
	{"JSON is JSON", json_is_json},
	{"JSON fits", json_fits},
};
TEST_MAIN(cases)
