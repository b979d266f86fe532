/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tester against a device that loses, repeats, delays, damages, cuts and invents frames at
 * random: what the analyser counts is what the device did.
 */
#include "core/ledger.h"
#include "core/worker.h"
#include "port/port.h"
#include "tester/stream_rx.h"
#include "tester/tester.h"
#include "tester/trial.h"
#include "frame_device.h"

#define STREAMS(list) "\"streams\": [" list "]"
#define UDP(options) \
	"{\"port\": \"e0\", \"rx_port\": \"e1\", \"rate\": {\"pps\": 100000}, " options \
	"\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {\"src\": \"16.0.0.1\", \"dst\": " \
	"\"48.0.0.1\"}}, {\"udp\": {\"src\": 1, \"dst\": 2}}]}"

struct counted {
	uint64_t received, duplicated, corrupted, other;
};

static struct counted counted(void)
{
	struct ledger ledger;
	struct counted now;

	ledger_read(&ledger);
	now = (struct counted){ledger_sum(&ledger, LEDGER_RECEIVED),
		ledger_sum(&ledger, LEDGER_DUPLICATED), ledger_sum(&ledger, LEDGER_CORRUPTED),
		ledger_sum(&ledger, LEDGER_OTHER)};
	ledger_free(&ledger);
	return now;
}

static struct sequence_counts counts_of(unsigned stream)
{
	struct stream_counts counts;

	stream_rx_read(tester.streams[stream], &counts);
	return counts.sequence;
}

static void check_counted(struct counted before, struct counted wanted)
{
	struct counted now = counted();

	CHECK_EQUAL(now.received - before.received, wanted.received);
	CHECK_EQUAL(now.duplicated - before.duplicated, wanted.duplicated);
	CHECK_EQUAL(now.corrupted - before.corrupted, wanted.corrupted);
	CHECK_EQUAL(now.other - before.other, wanted.other);
}

static bool one_in(unsigned chances)
{
	return (unsigned)rand() % chances == 0;
}

static void flip_bit(struct test_frame *frame, unsigned from, unsigned to)
{
	frame->bytes[from + (unsigned)rand() % (to - from)] ^= (uint8_t)(1u << rand() % 8);
}

static void invent(void)
{
	struct test_frame *frame = give(&came[0], 1);

	frame->length = (uint16_t)(60 + rand() % 100);
	for (unsigned i = 0; i < frame->length; i++)
		frame->bytes[i] = (uint8_t)rand();
}

/* Loses and repeats as often, and invents: neither makes up for the other. */
static void repeats_make_up_for_no_loss(void)
{
	struct counted before = counted(), wanted = {0};

	send_for(1.0);
	CHECK(nb_came > 90000);
	for (uint32_t i = 0; i < nb_came; i++) {
		if (one_in(100))
			continue;
		give(&came[i], 1);
		wanted.received++;
		for (; one_in(100); wanted.duplicated++)
			give(&came[i], 1);
		for (; one_in(100); wanted.other++)
			invent();
	}
	take_back();
	check_counted(before, wanted);
	CHECK(wanted.received < nb_came && wanted.duplicated > 0);
}

/* One flipped bit in the signature is a damaged frame, and the only one that is missing. */
static void damaged_signatures_are_ours(void)
{
	struct counted before = counted(), wanted = {0};

	send_for(1.0);
	for (uint32_t i = 0; i < nb_came; i++) {
		struct test_frame *frame = give(&came[i], 1);

		if (one_in(1000)) {
			unsigned at = signature_offset(frame->length);

			flip_bit(frame, at, at + SIGNATURE_BYTES);
			wanted.corrupted++;
		} else {
			wanted.received++;
		}
	}
	take_back();
	check_counted(before, wanted);
	CHECK(wanted.corrupted > 0);
	CHECK(counts_of(0).lost + counts_of(1).lost <= wanted.corrupted);
}

/* Anywhere behind the Ethernet header, if that is asked for. */
static void damaged_payload_is_seen(void)
{
	struct counted before = counted(), wanted = {0};

	send_for(1.0);
	for (uint32_t i = 0; i < nb_came; i++) {
		struct test_frame *frame = give(&came[i], 1);

		if (one_in(100)) {
			flip_bit(frame, 14, frame->length);
			wanted.corrupted++;
		} else {
			wanted.received++;
		}
	}
	take_back();
	check_counted(before, wanted);
}

static void cut_frames_are_foreign(void)
{
	struct counted before = counted(), wanted = {0};

	send_for(0.2);
	for (uint32_t i = 0; i < nb_came; i++) {
		struct test_frame *frame = give(&came[i], 1);

		if (one_in(100)) {
			frame->length = (uint16_t)(rand() % (frame->length - 8));
			wanted.other++;
		} else {
			wanted.received++;
		}
	}
	take_back();
	check_counted(before, wanted);
}

/* A frame of an earlier trial, or with a number that was not sent yet, is nothing of this one. */
static void other_numbers_are_foreign(void)
{
	struct counted before;
	struct test_frame old, future;

	send_for(0.1);
	for (uint32_t i = 1; i < nb_came; i++)
		give(&came[i], 1);
	old = came[0];
	take_back();
	before = counted();
	send_for(0.1);
	future = came[0];
	signature_write(future.bytes + signature_offset(future.length),
		signature_word(0, tester.streams[0]->next_sequence));
	give(&old, 1);
	give(&future, 1);
	for (uint32_t i = 0; i < nb_came; i++)
		give(&came[i], 1);
	take_back();
	check_counted(before, (struct counted){.received = nb_came, .other = 2});
	CHECK_EQUAL(counts_of(0).lost, 1); /* of the first trial */
}

/* By more than the window too: all come, each once, and nothing is lost. */
static void late_frames_are_no_repeats(void)
{
	struct counted before = counted();
	uint32_t held;

	send_for(1.0);
	held = nb_came / 4;
	CHECK(nb_came - held > SEQUENCE_WINDOW);
	for (uint32_t i = held; i < nb_came; i++)
		give(&came[i], 1);
	for (uint32_t i = 0; i < held; i++)
		give(&came[i], 1);
	take_back();
	check_counted(before, (struct counted){.received = nb_came});
	CHECK_EQUAL(counts_of(0).lost, 0);
	CHECK_EQUAL(counts_of(0).out_of_order, held);
}

/* A message of the device's own about a frame of `from`, which it quotes whole (RFC 1812, 4.3.2.3).
 */
static void quote(const struct test_frame *from)
{
	static const uint8_t ip4[] = {0x45, 0, 0, 0, 0, 0, 0, 0, 64, 1, 0, 0, 100, 64, 1, 1, 16, 0,
		0, 1, 11, 0, 0, 0, 0, 0, 0, 0};
	static const uint8_t ip6[] = {0x60, 0, 0, 0, 0, 0, 58, 64, [40] = 3, 0, 0, 0, 0, 0, 0, 0};
	bool six = from->bytes[12] == 0x86;
	const uint8_t *headers = six ? ip6 : ip4;
	unsigned bytes = six ? sizeof(ip6) : sizeof(ip4), packet = from->length - 14u;
	struct test_frame *frame = give(from, 1);

	memcpy(frame->bytes + 14, headers, bytes);
	memcpy(frame->bytes + 14 + bytes, from->bytes + 14, packet);
	frame->length = (uint16_t)(14 + bytes + packet);
	frame->bytes[six ? 18 : 16] = 0;
	frame->bytes[six ? 19 : 17] = (uint8_t)(frame->length - 14 - (six ? 40 : 0));
}

/* Frames that were dropped and answered by ICMP did not come through, whatever the answer holds. */
static void quoted_frames_are_lost(void)
{
	struct counted before = counted(), wanted = {0};

	send_for(0.5);
	for (uint32_t i = 0; i < nb_came; i++) {
		if (one_in(10)) {
			quote(&came[i]);
			wanted.other++;
		} else {
			give(&came[i], 1);
			wanted.received++;
		}
	}
	take_back();
	check_counted(before, wanted);
	CHECK(wanted.other > 1000);
}

#define UDP6(options) \
	"{\"port\": \"e0\", \"rx_port\": \"e1\", \"rate\": {\"pps\": 100000}, " options \
	"\"layers\": [{\"ethernet\": {}}, {\"ipv6\": {\"src\": \"2001:db8::1\", \"dst\": " \
	"\"2001:db8::2\"}}, {\"udp\": {\"src\": 1, \"dst\": 2}}]}"

static const struct tester_case cases[] = {
	{"repeats make up for no loss", repeats_make_up_for_no_loss,
		.text = STREAMS(UDP("") ", " UDP("\"frame_bytes\": 128, "))},
	{"damaged signatures are ours", damaged_signatures_are_ours,
		.text = STREAMS(UDP("") ", " UDP("\"frame_bytes\": 128, "))},
	{"damaged payload is seen", damaged_payload_is_seen,
		.text = STREAMS(UDP("\"check_payload\": true, ") ", " UDP(
			"\"check_payload\": true, \"frame_bytes\": 131, "))},
	{"cut frames are foreign", cut_frames_are_foreign,
		.text = STREAMS(UDP("\"frame_bytes\": 128, "))},
	{"other numbers are foreign", other_numbers_are_foreign, .text = STREAMS(UDP(""))},
	{"late frames are no repeats", late_frames_are_no_repeats, .text = STREAMS(UDP(""))},
	{"quoted frames are lost", quoted_frames_are_lost, .text = STREAMS(UDP(""))},
	{"quoted frames are lost, checked", quoted_frames_are_lost,
		.text = STREAMS(UDP("\"check_payload\": true, "))},
	{"quoted frames are lost, IPv6", quoted_frames_are_lost,
		.text = STREAMS(UDP6("\"frame_bytes\": 128, "))},
};
TESTER_MAIN(cases)
