/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms against a straightforward model, stamps, jitter; and what is delayed, by virtual time.
 */
#include "impair/delay_fifo.h"
#include "tester/latency.h"
#include "core/signature.h"
#include "stream_text.h"
#include "test.h"

#include <rte_cycles.h>
#include <stdlib.h>

static struct latency_room room;
static uint64_t block[LATENCY_BLOCK][LATENCY_CHUNK];

/* With a room of its own, of that number of chunks. */
static struct latency *latency_in_room(uint32_t chunks)
{
	memset(&room, 0, sizeof(room));
	memset(block, 0, sizeof(block));
	latency_room_add(&room, block);
	room.made = chunks;
	return latency_new(&room);
}

static struct latency *new_latency(void)
{
	return latency_in_room(LATENCY_BLOCK);
}

/* HdrHistogram's layout as its text describes it: a bucket holds 2^k values. */
static uint32_t index_by_counting(uint64_t ns)
{
	uint64_t from = 0, width = 1;
	uint32_t index = 0;

	while (ns >= from + width * (from == 0 ? 2 * LATENCY_HALF : LATENCY_HALF)) {
		index += from == 0 ? 2 * LATENCY_HALF : LATENCY_HALF;
		from += width * (from == 0 ? 2 * LATENCY_HALF : LATENCY_HALF);
		width *= 2;
	}
	/* The second stretch already has buckets of two values. */
	return index + (uint32_t)((ns - from) / (from == 0 ? 1 : width));
}

static uint64_t random_value(void)
{
	uint64_t wide = (uint64_t)rand() << 31 ^ (uint64_t)rand();

	return wide >> (rand() % 60) & LATENCY_MAX_NS;
}

static void buckets_are_hdr_histograms(void)
{
	srand(3);
	for (uint64_t ns = 0; ns < 10000; ns++)
		CHECK_EQUAL(histogram_index(ns), index_by_counting(ns));
	for (unsigned i = 0; i < 200000; i++) {
		uint64_t ns = random_value();

		CHECK_EQUAL(histogram_index(ns), index_by_counting(ns));
	}
	for (unsigned bits = 11; bits <= 34; bits++)
		for (int near = -2; near <= 1; near++) {
			uint64_t ns = (1ull << bits) + (uint64_t)(int64_t)near;

			if (ns <= LATENCY_MAX_NS)
				CHECK_EQUAL(histogram_index(ns), index_by_counting(ns));
		}
	CHECK_EQUAL(histogram_index(LATENCY_MAX_NS), LATENCY_BUCKETS - 1);
}

static void figures_are_those_of_the_values(void)
{
	struct latency *latency = new_latency();
	uint64_t sum = 0, min = UINT64_MAX, max = 0, jitter = 0, last = 0, counted = 0;

	for (unsigned i = 0; i < 10000; i++) {
		uint64_t ns = random_value();

		latency_record(latency, ns, false);
		sum += ns;
		min = RTE_MIN(min, ns);
		max = RTE_MAX(max, ns);
		jitter += i == 0 ? 0 : ns > last ? ns - last : last - ns;
		last = ns;
	}
	CHECK_EQUAL(latency->clean.count, 10000);
	CHECK_EQUAL(latency->clean.sum, sum);
	CHECK_EQUAL(latency->clean.min, min);
	CHECK_EQUAL(latency->clean.max, max);
	CHECK_EQUAL(latency->jitter_sum, jitter);
	CHECK_EQUAL(latency->jitter_count, 9999);
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
		counted += latency_bucket(latency, &latency->clean, i);
	CHECK_EQUAL(counted, 10000);
	latency_restart(latency);
	CHECK_EQUAL(latency->clean.count + latency->clean.sum + latency->jitter_count, 0);
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
		CHECK_EQUAL(latency_bucket(latency, &latency->clean, i), 0);
	latency_free(latency);
}

static void disturbed_frames_are_counted_separately(void)
{
	struct latency *latency = new_latency();

	latency_record(latency, 1000, false);
	latency_record(latency, 5000000, true);
	latency_record(latency, 1010, false);
	CHECK_EQUAL(latency->clean.count, 2);
	CHECK_EQUAL(latency->clean.max, 1010);
	CHECK_EQUAL(latency->jitter_sum, 10);
	CHECK_EQUAL(latency->disturbed.count, 1);
	CHECK_EQUAL(latency->disturbed.max, 5000000);
	latency_restart(latency);
	CHECK_EQUAL(latency->disturbed.count + latency->disturbed.max, 0);
	latency_free(latency);
}

static void longer_than_all_buckets(void)
{
	struct latency *latency = new_latency();

	latency_record(latency, LATENCY_MAX_NS + 5, false);
	CHECK_EQUAL(latency_bucket(latency, &latency->clean, LATENCY_BUCKETS - 1), 1);
	CHECK_EQUAL(latency->clean.max, LATENCY_MAX_NS + 5);
	latency_free(latency);
}

/* Where chunks are used up each value still counts, as one that was no shorter. */
static void without_room_buckets_are_coarse(void)
{
	struct latency *latency = latency_in_room(40);
	uint64_t counted = 0, sum = 0, in_buckets = 0;

	srand(5);
	for (unsigned i = 0; i < 10000; i++) {
		uint64_t ns = random_value();

		latency_record(latency, ns, false);
		sum += histogram_index(ns);
	}
	for (uint32_t i = 0; i < LATENCY_BUCKETS; i++) {
		uint64_t count = latency_bucket(latency, &latency->clean, i);

		counted += count;
		in_buckets += count * i;
	}
	CHECK_EQUAL(room.taken, 40);
	CHECK_EQUAL(counted, 10000);
	CHECK(in_buckets > sum);
	latency_restart(latency);
	for (uint32_t i = 0; i < LATENCY_BUCKETS; i++)
		CHECK_EQUAL(latency_bucket(latency, &latency->clean, i), 0);
	latency_free(latency);
}

/* The control thread makes a block more before the worker has taken all that there are. */
static void rooms_stay_ahead(void)
{
	struct latency *latency = latency_in_room(LATENCY_BLOCK);

	CHECK_EQUAL(latency_room_lacks(&room), 0);
	room.nb_streams = 4;
	CHECK_EQUAL(latency_room_lacks(&room), 0);
	room.taken = LATENCY_BLOCK - LATENCY_AHEAD;
	CHECK_EQUAL(latency_room_lacks(&room), 4 * LATENCY_STREAM_AHEAD);
	room.nb_streams = 0;
	CHECK_EQUAL(latency_room_lacks(&room), 0);
	latency_free(latency);
}

/* Each value counts in the period in which it came, and once. */
static void a_period_ends_when_it_is_read(void)
{
	struct latency *latency = new_latency();

	CHECK_EQUAL(latency_end_period(latency), 0);
	latency_record(latency, 1000, false);
	latency_record(latency, 300, false);
	latency_record(latency, 5000, true);
	CHECK_EQUAL(latency_end_period(latency), 1000);
	CHECK_EQUAL(latency_end_period(latency), 0);
	CHECK_EQUAL(latency_end_period(latency), 0);
	latency_record(latency, 20, false);
	CHECK_EQUAL(latency_end_period(latency), 20);
	latency_record(latency, 70, false);
	latency_restart(latency);
	CHECK_EQUAL(latency_end_period(latency), 0);
	CHECK_EQUAL(latency->clean.max, 0);
	latency_free(latency);
}

/* Ones' complement sum of the words of a frame's end. */
static uint16_t sum_of(const uint8_t *at, unsigned bytes)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < bytes; i += 2)
		sum += (uint32_t)at[i] << 8 | at[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

static void stamps_change_no_checksum(void)
{
	uint8_t frame[64];
	uint8_t *at = frame + signature_offset(60);

	srand(11);
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t sent = (uint64_t)rand() << 32 ^ (uint64_t)rand() << 8;
		uint64_t after = (uint64_t)rand() << 3, clocks;

		memset(frame, 0, sizeof(frame));
		stamp_write(at, sent);
		CHECK_EQUAL(sum_of(at - STAMP_BYTES, STAMP_BYTES), 0xffff);
		CHECK(stamp_read(at, sent + after, &clocks));
		CHECK(clocks >= after && clocks < after + STAMP_CLOCKS);
		at[-1 - rand() % STAMP_BYTES] ^= (uint8_t)(1 << rand() % 8);
		CHECK(!stamp_read(at, sent + after, &clocks));
	}
}

#define STREAM(bytes, layers, more) \
	"{\"frame_bytes\": " bytes ", \"latency\": true" more \
	", \"layers\": [{\"ethernet\": {}}" layers "]}"
#define MPLS ", {\"mpls\": {}}"
#define IP4 ", {\"ipv4\": {}}, {\"udp\": {}}"
#define IP6 ", {\"ipv6\": {}}, {\"udp\": {}}"

static void a_stamp_needs_room(void)
{
	static const struct {
		const char *text;
		bool fits;
	} cases[] = {
		{STREAM("64", IP4, ""), true},
		{STREAM("64", MPLS IP4, ""), true},
		{STREAM("64", MPLS MPLS IP4, ""), false},
		{STREAM("68", MPLS MPLS IP4, ""), true},
		{STREAM("79", IP6, ""), false},
		{STREAM("80", IP6, ""), true},
		{STREAM("64", IP4, ", \"signature\": false"), false},
	};

	for (unsigned i = 0; i < RTE_DIM(cases); i++) {
		unsigned mistakes;
		struct stream *stream = stream_of_text(cases[i].text, &mistakes);

		CHECK((stream != NULL) == cases[i].fits);
		CHECK_EQUAL(mistakes, cases[i].fits ? 0 : 1);
		stream_free(stream);
	}
}

/* Histograms wait until it is known that there are not too many of them. */
static void reading_takes_no_memory(void)
{
	unsigned mistakes;
	struct stream *stream = stream_of_text(STREAM("64", IP4, ""), &mistakes);

	CHECK(stream != NULL && stream->stamped);
	stream_free(stream);
}

/* 14 bytes of Ethernet, 20 of IPv4, 8 of UDP, and none: padded to 60. */
#define UDP_IN(total) \
	"020000000001020000000002" \
	"0800" \
	"450000" total "00000000" \
	"40110000" \
	"0a0000010a000002" \
	"c350003500000000"
#define TEMPLATE(total, checksums, more) \
	"{\"latency\": true, \"template\": \"" UDP_IN(total) "\", \"checksums\": [" checksums \
							     "]" more "}"
#define UDP_CHECKSUM "{\"l3_offset\": 14, \"l3_bytes\": 20, \"protocol\": \"udp\"}"

/* Stamp and signature are bytes 46 to 59: a packet that ends within the stamp is refused, one
 * that ends before, or behind, is not. */
static void no_packet_ends_within_a_stamp(void)
{
	static const struct {
		const char *text;
		bool fits;
	} cases[] = {
		{TEMPLATE("20", UDP_CHECKSUM, ""), true},
		{TEMPLATE("21", UDP_CHECKSUM, ""), false},
		{TEMPLATE("25", UDP_CHECKSUM, ""), false},
		{TEMPLATE("26", UDP_CHECKSUM, ""), true},
		{TEMPLATE("2e", UDP_CHECKSUM, ""), true},
		{TEMPLATE("23", "", ""), true},
		{"{\"latency\": false, \"signature\": true, \"template\": \"" UDP_IN(
			 "23") "\", \"checksums\": [" UDP_CHECKSUM "]}",
			true},
	};

	for (unsigned i = 0; i < RTE_DIM(cases); i++) {
		unsigned mistakes;
		struct stream *stream = stream_of_text(cases[i].text, &mistakes);

		CHECK((stream != NULL) == cases[i].fits);
		CHECK_EQUAL(mistakes, cases[i].fits ? 0 : 1);
		stream_free(stream);
	}
}

/* A UDP checksum that a receiver accepts: all from the pseudo header on sums to 0xffff. */
static uint16_t udp_sum(const uint8_t *frame, unsigned length)
{
	const uint8_t *ip = frame + 14, *udp = ip + 20;
	unsigned bytes = length - 34;
	uint32_t sum = sum_of(ip + 12, 8) + 17u + bytes + sum_of(udp, bytes & ~1u);

	sum += bytes % 2 != 0 ? (uint32_t)udp[bytes - 1] << 8 : 0;
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/* Stamped once or often, in buffers that held other frames: right, and clean when they change. */
static void stamped_frames_are_right(void)
{
	unsigned mistakes;
	struct stream *timed[] = {
		stream_of_text(STREAM("64", IP4, ""), &mistakes),
		stream_of_text(STREAM("131", IP4, ""), &mistakes),
		stream_of_text(
			STREAM("64", IP4,
				", \"modifiers\": [{\"field\": \"udp.src\", \"op\": \"random\"}]"),
			&mistakes),
	};
	struct stream *plain = stream_of_text(
		"{\"frame_bytes\": 80, \"layers\": [{\"ethernet\": {}}" IP4 "]}", &mistakes);
	struct rte_mbuf used, fresh, *one = &used, *other = &fresh;
	static uint8_t used_data[512], fresh_data[512];

	memset(&used, 0, sizeof(used));
	used.buf_addr = used_data;
	CHECK(plain != NULL && timed[0] != NULL && timed[1] != NULL && timed[2] != NULL);
	if (plain == NULL || timed[0] == NULL || timed[1] == NULL || timed[2] == NULL)
		return;
	for (unsigned i = 0; i < RTE_DIM(timed); i++)
		timed[i]->id = (uint16_t)(i + 1);
	srand(5);
	for (unsigned round = 0; round < 3000; round++) {
		struct stream *stream = timed[(unsigned)rand() % RTE_DIM(timed)];
		struct signature signature;
		const uint8_t *at;
		uint64_t clocks;

		stream_fill(stream, &one, 1);
		CHECK(stream_is_stamped(one));
		for (int again = rand() % 3; again >= 0; again--)
			stamp_write(used_data + signature_offset(used.data_len),
				(uint64_t)rand() << 20 | (uint64_t)rand());
		CHECK_EQUAL(udp_sum(used_data, used.data_len), 0xffff);
		at = signature_place(used_data, used.data_len);
		CHECK(at != NULL && signature_decode(signature_read(at), &signature));
		CHECK(at != NULL && stamp_read(at, 0, &clocks));
		if (rand() % 2)
			continue;
		memset(&fresh, 0, sizeof(fresh));
		memset(fresh_data, 0, sizeof(fresh_data));
		fresh.buf_addr = fresh_data;
		plain->next_sequence = round;
		stream_fill(plain, &one, 1);
		plain->next_sequence = round;
		stream_fill(plain, &other, 1);
		CHECK(!stream_is_stamped(one));
		CHECK(memcmp(used_data, fresh_data, used.data_len) == 0);
	}
	for (unsigned i = 0; i < RTE_DIM(timed); i++)
		stream_free(timed[i]);
	stream_free(plain);
}

static struct delay_fifo fifo;
static struct rte_mbuf mbufs[DELAY_FRAMES + 300];

/* At random moments some come and those whose time has come go: in order, none too early. */
static void delayed_frames_keep_order_and_time(void)
{
	struct rte_mbuf *in[256], *out[256];
	uint32_t put = 0, taken = 0;
	uint64_t now = 1000;
	static uint64_t due[DELAY_FRAMES + 300];

	memset(&fifo, 0, sizeof(fifo));
	srand(9);
	while (taken < DELAY_FRAMES + 300) {
		uint16_t count =
			(uint16_t)RTE_MIN((uint32_t)rand() % 256, DELAY_FRAMES + 300 - put);

		for (uint16_t i = 0; i < count; i++)
			in[i] = &mbufs[put + i];
		count = delay_fifo_put(&fifo, in, count, now + 5000);
		for (uint16_t i = 0; i < count; i++)
			due[put++] = now + 5000;
		now += (uint64_t)rand() % 700;
		count = delay_fifo_take(&fifo, out, 256, now);
		for (uint16_t i = 0; i < count; i++, taken++) {
			CHECK(out[i] == &mbufs[taken]);
			CHECK(due[taken] <= now);
		}
		CHECK(taken == put || count == 256 || due[taken] > now);
		CHECK_EQUAL(delay_fifo_count(&fifo), put - taken);
	}
}

static void no_room_to_delay(void)
{
	struct rte_mbuf *in[256], *out[256];
	uint32_t put = 0;

	memset(&fifo, 0, sizeof(fifo));
	fifo.put = fifo.taken = UINT32_MAX - 100; /* counters wrap */
	for (unsigned i = 0; i < 256; i++)
		in[i] = &mbufs[i];
	for (unsigned round = 0; round < DELAY_FRAMES / 200 + 2; round++)
		put += delay_fifo_put(&fifo, in, 200, 10);
	CHECK_EQUAL(put, DELAY_FRAMES);
	CHECK_EQUAL(delay_fifo_put(&fifo, in, 1, 10), 0);
	CHECK_EQUAL(delay_fifo_take(&fifo, out, 256, 9), 0);
	CHECK_EQUAL(delay_fifo_take(&fifo, out, 7, 10), 7);
	CHECK_EQUAL(delay_fifo_put(&fifo, in, 10, 20), 7);
}

static const struct test_case cases[] = {
	{"buckets are HdrHistogram's", buckets_are_hdr_histograms},
	{"figures are those of the values", figures_are_those_of_the_values},
	{"disturbed frames are counted separately", disturbed_frames_are_counted_separately},
	{"longer than all buckets", longer_than_all_buckets},
	{"without room buckets are coarse", without_room_buckets_are_coarse},
	{"rooms stay ahead", rooms_stay_ahead},
	{"a period ends when it is read", a_period_ends_when_it_is_read},
	{"stamps change no checksum", stamps_change_no_checksum},
	{"a stamp needs room", a_stamp_needs_room},
	{"reading takes no memory", reading_takes_no_memory},
	{"no packet ends within a stamp", no_packet_ends_within_a_stamp},
	{"stamped frames are right", stamped_frames_are_right},
	{"delayed frames keep order and time", delayed_frames_keep_order_and_time},
	{"no room to delay", no_room_to_delay},
};
TEST_MAIN(cases)
