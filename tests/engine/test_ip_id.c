/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams without signatures that are counted by their IP headers, beside others that have
 * signatures: what a device loses at random is missing from the right stream, and what it makes by
 * itself is none's.
 */
#include "core/ledger.h"
#include "port/port.h"
#include "stream_text.h"
#include "tester/division.h"
#include "tester/ip_id.h"
#include "tester/stream_part.h"
#include "tester/stream_rx.h"
#include "tester/tester.h"
#include "tester/trial.h"
#include "frame_device.h"

#include <rte_ip.h>

#define STREAMS(list) "\"streams\": [" list "]"
#define RATE "\"port\": \"e0\", \"rate\": {\"pps\": 50000}, "
#define TCP \
	"\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {\"src\": \"16.0.0.1\", \"dst\": " \
	"\"48.0.0.1\"}}, {\"tcp\": {}}]"
#define TCP6 "\"layers\": [{\"ethernet\": {}}, {\"vlan\": {}}, {\"ipv6\": {}}, {\"tcp\": {}}]"
#define LABELLED "\"layers\": [{\"ethernet\": {}}, {\"mpls\": {}}, {\"ipv4\": {}}, {\"tcp\": {}}]"
#define BY_IP_ID "\"count_by\": \"ip_id\", "
/* An Ethernet header, IPv4 of 46 bytes with identification 0x1234, UDP. */
#define HEAD "02000000000002000000000108004500002e"
#define REST(protocol) \
	"000040" protocol "288a1000000130000001000100020012" \
	"0000"
#define TEMPLATE "\"template\": \"" HEAD "1234" REST("11") "\""

static bool one_in(unsigned chances)
{
	return (unsigned)rand() % chances == 0;
}

static uint64_t booked(enum ledger_kind kind)
{
	struct ledger ledger;
	uint64_t sum;

	ledger_read(&ledger);
	sum = ledger_sum(&ledger, kind);
	ledger_free(&ledger);
	return sum;
}

/* The stream whose frame it is. */
static unsigned stream_of(const struct test_frame *frame)
{
	struct signature signature;
	struct ip_id_packet packet;

	if (signature_decode(
		    signature_read(frame->bytes + signature_offset(frame->length)), &signature))
		return signature.stream;
	CHECK(ip_id_read(frame->bytes, frame->length, &packet));
	return ip_id_of((uint16_t)packet.id);
}

struct expected {
	uint64_t sent, received[PORTS_MAX], rx_bytes[PORTS_MAX];
};

static void check_stream(unsigned number, const struct expected *expected)
{
	const struct stream *stream = tester.streams[number];
	struct stream_counts counts;
	uint64_t received = 0, bytes = 0;

	for (uint16_t port = 0; port < 2; port++) {
		struct stream_rx_port here = {0};

		stream_rx_read_port(stream, port, &here);
		CHECK_EQUAL(here.received, expected->received[port]);
		CHECK_EQUAL(here.rx_bytes, expected->rx_bytes[port]);
		received += expected->received[port];
		bytes += expected->rx_bytes[port];
	}
	stream_rx_read(stream, &counts);
	CHECK_EQUAL(stream->sent, expected->sent);
	CHECK_EQUAL(counts.sequence.received, received);
	CHECK_EQUAL(counts.rx_bytes, bytes);
	/* No later frame shows a loss. */
	if (stream->ip_id.version != 0)
		CHECK_EQUAL(counts.sequence.lost, 0);
	CHECK_EQUAL(
		counts.sequence.out_of_order + counts.sequence.duplicated + counts.corrupted, 0);
}

/* Packets of others with the identification of a stream: of another protocol, another length, and
 * fragments. */
static void invent(const struct test_frame *from)
{
	struct test_frame *frame = give(from, 1);
	bool six = from->bytes[12] == 0x81;
	uint8_t *ip = frame->bytes + (six ? 18 : from->bytes[12] == 0x88 ? 18 : 14);

	switch (rand() % 3) {
	case 0:
		ip[six ? 6 : 9] = 17;
		break;
	case 1:
		ip[six ? 5 : 3] = (uint8_t)(ip[six ? 5 : 3] - 1 - rand() % 8);
		break;
	default:
		ip[six ? 1 : 6] ^= six ? 1 : 0x20; /* the label's upper bits; more fragments */
	}
}

static void each_stream_has_its_own(void)
{
	struct expected expected[8] = {0};
	uint64_t others = 0, received = 0, before = booked(LEDGER_RECEIVED);

	send_for(1.0);
	for (uint32_t i = 0; i < nb_came; i++) {
		unsigned stream = stream_of(&came[i]);
		uint16_t port = one_in(4) ? 0 : 1;

		CHECK(stream < tester.nb_streams);
		expected[stream].sent++;
		if (!one_in(10)) {
			give(&came[i], port);
			received++;
			expected[stream].received[port]++;
			expected[stream].rx_bytes[port] += came[i].length + 4u;
		}
		if (tester.streams[stream]->ip_id.version != 0 && one_in(50)) {
			invent(&came[i]);
			others++;
		}
	}
	take_back();
	for (unsigned i = 0; i < tester.nb_streams; i++)
		check_stream(i, &expected[i]);
	CHECK_EQUAL(booked(LEDGER_OTHER), others);
	CHECK_EQUAL(booked(LEDGER_RECEIVED) - before, received);
	CHECK_EQUAL(booked(LEDGER_SENT), nb_came);
	CHECK(others > 1000 && tester.nb_streams == 4);
}

/* A port that the stream's frames are not expected at. */
static void elsewhere_is_foreign(void)
{
	uint64_t missed = 0;

	send_for(0.5);
	for (uint32_t i = 0; i < nb_came; i++) {
		bool astray = one_in(5);

		give(&came[i], astray ? 0 : 1);
		missed += astray;
	}
	take_back();
	CHECK_EQUAL(booked(LEDGER_OTHER), missed);
	CHECK_EQUAL(booked(LEDGER_RECEIVED), nb_came - missed);
	CHECK(missed > 1000);
}

/* A frame that a device repeats is like the first. */
static void repeats_are_counted(void)
{
	struct stream_counts counts;

	send_for(0.1);
	for (uint32_t i = 0; i < nb_came; i++) {
		give(&came[i], 1);
		if (i % 10 == 0)
			give(&came[i], 1);
	}
	take_back();
	stream_rx_read(tester.streams[0], &counts);
	CHECK_EQUAL(counts.sequence.received, nb_came + (nb_came + 9) / 10);
	CHECK_EQUAL(counts.sequence.lost + counts.sequence.duplicated, 0);
}

/* Bytes at the end of a frame that happen to be a signature, of a stream or of none. */
static void no_signature_by_chance(void)
{
	send_for(0.1);
	for (uint32_t i = 0; i < nb_came; i++) {
		struct test_frame *frame = give(&came[i], 1);
		uint16_t stream = (uint16_t)(i % 3 == 0 ? 0 : 7);

		signature_write(frame->bytes + signature_offset(frame->length),
			signature_word(stream, 1000000 + i));
	}
	take_back();
	CHECK_EQUAL(booked(LEDGER_RECEIVED), nb_came);
	CHECK_EQUAL(booked(LEDGER_OTHER), 0);
}

static bool ip4_holds(const uint8_t *frame)
{
	return rte_raw_cksum(frame + 14, 20) == 0xffff;
}

static void headers_are_right(void)
{
	send_for(0.1);
	for (uint32_t i = 0; i < nb_came; i++) {
		CHECK(ip4_holds(came[i].bytes));
		give(&came[i], 1);
	}
	take_back();
	CHECK_EQUAL(booked(LEDGER_RECEIVED), nb_came);
	for (unsigned i = 0; i < tester.nb_streams; i++)
		check_stream(i, &(struct expected){.sent = tester.streams[i]->sent,
					.received[1] = tester.streams[i]->sent,
					.rx_bytes[1] = 64 * tester.streams[i]->sent});
}

static void mistakes_are_reported(void)
{
	static const struct {
		const char *text;
		unsigned mistakes;
	} parsed[] = {
		{"{" BY_IP_ID TCP "}", 0},
		{"{" BY_IP_ID TEMPLATE "}", 0},
		{"{\"count_by\": \"signature\", \"frame_bytes\": 80, " TCP "}", 0},
		{"{\"count_by\": \"id\", " TEMPLATE "}", 1},
		{"{\"signature\": true, \"frame_bytes\": 80, " BY_IP_ID TCP "}", 1},
		{"{\"signature\": false, \"count_by\": \"signature\", " TCP "}", 1},
		{"{\"latency\": true, \"frame_bytes\": 90, " BY_IP_ID TCP "}", 1},
		{"{\"check_payload\": true, " BY_IP_ID TCP "}", 1},
		{"{" BY_IP_ID "\"layers\": [{\"ethernet\": {}}]}", 1},
		{"{" BY_IP_ID "\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {\"id\": 7}}]}", 1},
		{"{" BY_IP_ID "\"layers\": [{\"ethernet\": {}}, {\"ipv6\": {\"flow_label\": 7}}]}",
			1},
		{"{" BY_IP_ID "\"template\": \"0200000000000200000000010806450000\"}", 1},
		{"{" BY_IP_ID TEMPLATE
		 ", \"program\": {\"variables\": [{\"name\": \"v\", \"bytes\": "
		 "2, \"min\": 0, \"max\": 9}], \"steps\": [{\"write\": {\"variable\": \"v\", "
		 "\"offset\": 18}}]}}",
			1},
		{"{" BY_IP_ID TEMPLATE
		 ", \"program\": {\"variables\": [{\"name\": \"v\", \"bytes\": "
		 "1, \"min\": 0, \"max\": 9}], \"steps\": [{\"write\": {\"variable\": \"v\", "
		 "\"offset\": 23}}]}}",
			1},
		{"{" BY_IP_ID TEMPLATE
		 ", \"program\": {\"variables\": [{\"name\": \"v\", \"bytes\": "
		 "4, \"min\": 0, \"max\": 9}], \"steps\": [{\"write\": {\"variable\": \"v\", "
		 "\"offset\": 26}}]}}",
			0},
	};

	for (size_t i = 0; i < RTE_DIM(parsed); i++) {
		unsigned mistakes;
		struct stream *stream = stream_of_text(parsed[i].text, &mistakes);

		CHECK_EQUAL(mistakes, parsed[i].mistakes);
		CHECK((stream == NULL) == (mistakes != 0));
		stream_free(stream);
	}
}

static struct stream *made(const char *text, uint16_t id)
{
	unsigned mistakes;
	struct stream *stream = stream_of_text(text, &mistakes);

	CHECK(stream != NULL);
	stream->id = id;
	stream->pps = 1;
	ip_id_write(stream);
	return stream;
}

#define WRITES(offset, bytes) \
	", \"program\": {\"variables\": [{\"name\": \"v\", \"bytes\": " bytes \
	", \"min\": 0, \"max\": 9}], \"steps\": [{\"write\": {\"variable\": \"v\", " \
	"\"offset\": " offset "}}]}"

/* Frames without a signature, of a stream that is not counted, must not be taken for another's:
 * 0xedcb is 0xffff - 0x1234. */
static void what_is_taken_for_another_clashes(void)
{
	static const struct {
		const char *text;
		uint16_t counted; /* id of that stream */
		bool clashes;
	} others[] = {
		{"{" TEMPLATE "}", 0xedcb, true},
		{"{" TEMPLATE "}", 0xedcc, false},
		{"{\"signature\": true, " TEMPLATE "}", 0xedcb, false},
		{"{" BY_IP_ID TEMPLATE "}", 0xedcb, false},
		{"{" TEMPLATE WRITES("18", "2") "}", 5, true},
		{"{" TEMPLATE WRITES("26", "4") "}", 5, false},
		/* Any length, any protocol. */
		{"{" TEMPLATE WRITES("16", "2") "}", 0xedcb, true},
		{"{" TEMPLATE WRITES("23", "1") "}", 0xedcb, true},
		/* UDP is not TCP, 46 bytes are not 47, IPv4 is not IPv6. */
		{"{\"template\": \"" HEAD "1234" REST("06") "\"}", 0xedcb, false},
		{"{\"template\": \"02000000000002000000000108004500002f1234" REST("11") "\"}",
			0xedcb, false},
		{"{\"signature\": false, " TCP6 ", \"frame_bytes\": 90}", 0xffff, false},
	};

	for (size_t i = 0; i < RTE_DIM(others); i++) {
		struct stream *counted = made("{" BY_IP_ID TEMPLATE "}", others[i].counted);
		struct stream *other = made(others[i].text, 1);

		CHECK((ip_id_clash(counted, &other, 1) != NULL) == others[i].clashes);
		CHECK((ip_id_clash(other, &counted, 1) != NULL) == others[i].clashes);
		counted->removed = true;
		CHECK(ip_id_clash(other, &counted, 1) == NULL);
		stream_free(counted);
		stream_free(other);
	}
}

/* Parts have frames that differ in that alone, whatever they are made of. */
static void parts_are_distinguished(void)
{
	static const char *const texts[] = {"{" BY_IP_ID TCP "}", "{" BY_IP_ID TEMPLATE "}"};

	for (size_t i = 0; i < RTE_DIM(texts); i++) {
		struct stream *stream = made(texts[i], 3), *next = stream;
		uint16_t id = 3;

		CHECK_EQUAL(stream_cut(stream, 3), 0);
		for (struct stream *part = stream->next_part; part != NULL;
			part = part->next_part) {
			part->id = ++id;
			ip_id_write(part);
		}
		CHECK_EQUAL(id, 5);
		for (id = 3; next != NULL; id++) {
			struct ip_id_packet packet;
			static uint8_t data[512];
			struct rte_mbuf mbuf = {.buf_addr = data}, *one = &mbuf;
			struct stream *part = next;

			memset(data, 0, sizeof(data));
			stream_fill(part, &one, 1);
			CHECK(ip_id_read(data, mbuf.data_len, &packet));
			CHECK_EQUAL(packet.id, ip_id_of(id));
			CHECK(ip4_holds(data));
			CHECK(ip_id_matches(&part->ip_id, &packet));
			next = part->next_part;
			stream_free(part);
		}
		CHECK_EQUAL(id, 6);
	}
}

static const struct tester_case cases[] = {
	{"mistakes are reported", mistakes_are_reported, .text = NULL},
	{"what is taken for another clashes", what_is_taken_for_another_clashes, .text = NULL},
	{"parts are distinguished", parts_are_distinguished, .text = NULL},
	{"each stream has its own", each_stream_has_its_own,
		.text = STREAMS("{" RATE BY_IP_ID TCP "}, {" RATE "\"frame_bytes\": 80, " TCP
				"}, {" RATE "\"frame_bytes\": 90, " BY_IP_ID TCP6 "}, {" RATE
				"\"frame_bytes\": 90, " BY_IP_ID LABELLED "}")},
	{"elsewhere is foreign", elsewhere_is_foreign,
		.text = STREAMS("{\"rx_port\": \"e1\", " RATE BY_IP_ID TCP "}")},
	{"repeats are counted", repeats_are_counted, .text = STREAMS("{" RATE BY_IP_ID TCP "}")},
	{"no signature by chance", no_signature_by_chance,
		.text = STREAMS("{" RATE BY_IP_ID TCP "}")},
	{"headers are right", headers_are_right,
		.text = STREAMS("{" RATE BY_IP_ID TCP ", \"modifiers\": [{\"field\": \"ipv4.src\", "
				"\"op\": \"random\", \"min\": \"16.0.0.1\", \"max\": "
				"\"16.9.0.0\"}]}, {" RATE BY_IP_ID TCP
				", \"flows\": {\"count\": 1000}}, {" RATE BY_IP_ID TCP "}")},
};
TESTER_MAIN(cases)
