/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that several senders send: together they are what was asked for, and evenly loaded. */
#include "tester/division.h"
#include "tester/stream_part.h"
#include "stream_text.h"
#include "test.h"

#include <math.h>

#define FRAMES_MAX 400000u
#define PPS 1e6
#define UDP \
	"\"signature\": false, \"layers\": [{\"ethernet\": {}}, {\"ipv4\": {\"src\": " \
	"\"16.0.0.1\", \"dst\": \"48.0.0.1\"}}, {\"udp\": {}}]"
#define TAGGED \
	"\"signature\": false, \"layers\": [{\"ethernet\": {}}, {\"vlan\": {}}, {\"ipv4\": {}}, " \
	"{\"udp\": {}}]"
#define FLOWS(more) "{\"flows\": {" more "}, " UDP "}"
#define MODIFIED(more) "{\"modifiers\": [" more "], " UDP "}"
#define PORTS(min, max, more) "{\"field\": \"udp.src\", \"min\": " min ", \"max\": " max more "}"
#define SOURCES(min, max, more) \
	"{\"field\": \"ipv4.src\", \"min\": \"" min "\", \"max\": \"" max "\"" more "}"

static struct stream *made(const char *text)
{
	unsigned mistakes;
	struct stream *stream = stream_of_text(text, &mistakes);

	if (stream == NULL) {
		fprintf(stderr, "%s: no stream\n", text);
		exit(EXIT_FAILURE);
	}
	stream->pps = PPS;
	return stream;
}

static uint64_t frames[2][FRAMES_MAX];

/* Makes the stream's next frames; each kind of frame has a number. */
static void make(struct stream *stream, uint64_t *numbers, unsigned count)
{
	static uint8_t data[512];
	struct rte_mbuf mbuf = {.buf_addr = data}, *one = &mbuf;

	memset(data, 0, sizeof(data));
	for (unsigned i = 0; i < count; i++) {
		uint64_t number = 0xcbf29ce484222325ull;

		stream_fill(stream, &one, 1);
		for (unsigned byte = 0; byte < mbuf.data_len; byte++)
			number = (number ^ data[byte]) * 0x100000001b3ull;
		numbers[i] = number;
	}
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort(uint64_t *numbers, unsigned count)
{
	qsort(numbers, count, sizeof(*numbers), by_number);
}

/* The count of different numbers among sorted ones. */
static unsigned kinds(const uint64_t *numbers, unsigned count)
{
	unsigned found = count > 0;

	for (unsigned i = 1; i < count; i++)
		found += numbers[i] != numbers[i - 1];
	return found;
}

/* Makes as many frames of all parts together, by their rates; returns the sum of each part's
 * kinds. */
static unsigned make_parts(struct stream *stream, uint64_t *numbers, unsigned count)
{
	unsigned found = 0, made_in_all = 0;

	for (struct stream *part = stream; part != NULL; part = part->next_part) {
		double exact = count * part->pps / PPS;
		unsigned own = (unsigned)lround(exact);

		CHECK(fabs(exact - own) < 1e-6 * count && made_in_all + own <= count);
		make(part, numbers + made_in_all, own);
		sort(numbers + made_in_all, own);
		found += kinds(numbers + made_in_all, own);
		made_in_all += own;
	}
	CHECK_EQUAL(made_in_all, count);
	sort(numbers, count);
	return found;
}

struct cut {
	const char *text;
	unsigned most, parts; /* asked for, and what it can be */
	unsigned round;       /* frames after which the whole begins anew */
	bool by_frames;       /* parts have flows in common */
};

/* Over whole rounds the parts send each flow as often as the stream does, and each is one's. */
static void parts_are_the_whole(void)
{
	static const struct cut cuts[] = {
		{"{" UDP "}", 3, 3, 1, true},
		{"{" UDP "}", 16, 16, 1, true},
		{FLOWS("\"count\": 1"), 2, 2, 1, true},
		{FLOWS("\"count\": 2"), 3, 2, 2, false},
		{FLOWS("\"count\": 1000"), 2, 2, 1000, false},
		{FLOWS("\"count\": 1000"), 3, 3, 1000, false},
		{FLOWS("\"count\": 1000, \"mirror\": true"), 7, 7, 1000, false},
		{FLOWS("\"count\": 10007"), 16, 16, 10007, false},
		{MODIFIED(PORTS("10", "19", "")), 3, 3, 10, false},
		{MODIFIED(PORTS("10", "19", ", \"op\": \"decrement\"")), 4, 4, 10, false},
		{MODIFIED(PORTS("10", "100", ", \"step\": 7")), 3, 3, 13, false},
		{MODIFIED(PORTS("10", "11", "")), 5, 2, 2, false},
		{MODIFIED(PORTS("7", "7", "")), 5, 5, 1, true},
		{MODIFIED(SOURCES("0.0.0.0", "255.255.255.255", ", \"step\": 2147483648")), 2, 2, 2,
			false},
		{MODIFIED(SOURCES("0.0.0.0", "255.255.255.255", ", \"step\": 1073741825")), 3, 3, 4,
			false},
		{MODIFIED(PORTS("1", "12", "") ", " SOURCES("1.0.0.1", "1.0.0.18", "")), 3, 3, 36,
			false},
		{MODIFIED(PORTS("1", "12", "") ", " SOURCES("1.0.0.1", "1.0.0.18", "")), 4, 3, 36,
			false},
		{MODIFIED(PORTS("1", "5", "") ", " SOURCES("1.0.0.1", "1.0.0.7", "")), 4, 1, 35,
			false},
		{"{\"flows\": {\"count\": 12}, \"modifiers\": [{\"field\": \"vlan.id\", \"min\": "
		 "5, \"max\": 8}], " TAGGED "}",
			4, 4, 12, false},
	};

	for (unsigned i = 0; i < RTE_DIM(cuts); i++) {
		const struct cut *cut = &cuts[i];
		struct stream *whole = made(cut->text), *stream = made(cut->text);
		unsigned parts = stream_parts(stream, cut->most), found;
		unsigned count = cut->round * RTE_MAX(parts, 1u) * 2;

		CHECK_EQUAL(parts, cut->parts);
		CHECK(count <= FRAMES_MAX);
		CHECK_EQUAL(stream_cut(stream, parts), 0);
		make(whole, frames[0], count);
		sort(frames[0], count);
		found = make_parts(stream, frames[1], count);
		CHECK(memcmp(frames[0], frames[1], count * sizeof(uint64_t)) == 0);
		CHECK_EQUAL(found, kinds(frames[0], count) * (cut->by_frames ? parts : 1));
		stream_free(whole);
		stream_parts_free(stream);
	}
}

/* Flows that are drawn: of equal chances each is one part's, of others any may send any. */
static void drawn_flows_are_shared(void)
{
	static const struct {
		const char *text;
		bool by_frames;
	} draws[] = {
		{FLOWS("\"count\": 100, \"order\": \"uniform\""), false},
		{FLOWS("\"count\": 100, \"order\": \"zipf\", \"zipf_exponent\": 0.2"), true},
	};
	const unsigned count = 30000, parts = 3;

	for (unsigned i = 0; i < RTE_DIM(draws); i++) {
		struct stream *stream = made(draws[i].text);
		unsigned found;

		CHECK_EQUAL(stream_parts(stream, parts), parts);
		CHECK_EQUAL(stream_cut(stream, parts), 0);
		found = make_parts(stream, frames[0], count);
		CHECK_EQUAL(kinds(frames[0], count), 100);
		CHECK_EQUAL(found, draws[i].by_frames ? 100 * parts : 100);
		/* And not the same draws. */
		make(stream, frames[0], 100);
		make(stream->next_part, frames[1], 100);
		CHECK(memcmp(frames[0], frames[1], 100 * sizeof(uint64_t)) != 0);
		stream_parts_free(stream);
	}
}

/* New flows come as often, and no part has one of another's. */
static void new_flows_are_shared(void)
{
	struct stream *stream = made(FLOWS("\"count\": 30, \"new_per_s\": 1e5"));
	const unsigned count = 30000, parts = 4;
	unsigned found;

	CHECK(flows_set_rate(stream->flows, stream->pps));
	CHECK_EQUAL(stream_parts(stream, parts), parts);
	CHECK_EQUAL(stream_cut(stream, parts), 0);
	found = make_parts(stream, frames[0], count);
	CHECK_EQUAL(kinds(frames[0], count), found);
	CHECK(abs((int)found - (30 + 3000)) <= (int)parts);
	stream_parts_free(stream);
}

static void some_stay_whole(void)
{
	static const char *const texts[] = {
		"{\"latency\": true, \"layers\": [{\"ethernet\": {}}, {\"ipv4\": {}}, {\"udp\": "
		"{}}]}",
		"{\"burst\": 100, " UDP "}",
		"{\"bursts\": {\"frames\": 5, \"count\": 0, \"gap_us\": 10}, " UDP "}",
		"{\"start_us\": 100, " UDP "}",
		"{\"unscaled\": true, " UDP "}",
		"{\"places\": [0, 2], " UDP "}",
		FLOWS("\"count\": 1000, \"order\": \"zipf\", \"new_per_s\": 10"),
		"{\"template\": \"ffffffffffff0000000000010800\", \"program\": {\"variables\": "
		"[{\"name\": \"x\", \"bytes\": 1, \"min\": 0, \"max\": 9}], \"steps\": "
		"[{\"write\": {\"variable\": \"x\", \"offset\": 12}}]}}",
	};

	for (unsigned i = 0; i < RTE_DIM(texts); i++) {
		struct stream *stream = made(texts[i]);

		CHECK_EQUAL(stream_parts(stream, 8), 1);
		stream_free(stream);
	}
}

#define STREAMS 40

struct loads {
	double least, most, sum;
};

/* Checks that each stream and each part has one sender. */
static struct loads check(const struct division *division, struct stream *const *streams,
	unsigned count, unsigned nb_senders)
{
	struct loads loads = {.least = INFINITY};
	unsigned wanted = 0, found = 0;

	for (unsigned i = 0; i < count; i++)
		for (struct stream *part = streams[i]; part != NULL; part = part->next_part) {
			unsigned times = 0;

			wanted++;
			for (unsigned s = 0; s < nb_senders; s++)
				for (unsigned k = 0; k < division->senders[s].count; k++)
					times += division->senders[s].streams[k] == part;
			CHECK_EQUAL(times, 1);
		}
	for (unsigned s = 0; s < nb_senders; s++) {
		double load = 0;

		for (unsigned k = 0; k < division->senders[s].count; k++)
			load += division->senders[s].streams[k]->pps;
		found += division->senders[s].count;
		loads.least = RTE_MIN(loads.least, load);
		loads.most = RTE_MAX(loads.most, load);
		loads.sum += load;
	}
	CHECK_EQUAL(found, wanted);
	return loads;
}

static void loads_are_even(void)
{
	srand(7);
	for (unsigned run = 0; run < 200; run++) {
		unsigned nb_senders = 1 + run % PORT_QUEUES_MAX,
			 count = 1 + (unsigned)rand() % STREAMS;
		struct stream *streams[STREAMS];
		struct division division;
		struct loads loads;
		double total = 0;

		for (unsigned i = 0; i < count; i++) {
			streams[i] = made(i % 2 ? "{" UDP "}" : FLOWS("\"count\": 100000"));
			streams[i]->pps = pow(10, rand() % 1000 / 250.0);
			total += streams[i]->pps;
		}
		CHECK_EQUAL(
			division_make(&division, streams, count, nb_senders, STREAMS_MAX, NULL), 0);
		loads = check(&division, streams, count, nb_senders);
		CHECK(fabs(loads.sum - total) < 1e-9 * total);
		/* Each part is off by one flow of 100,000 at most. */
		CHECK(loads.most - loads.least <= (DIVISION_GRAIN + 1e-3) * total / nb_senders);
		division_free(&division);
		for (unsigned i = 0; i < count; i++)
			stream_parts_free(streams[i]);
	}
}

/* Frame sizes 7 : 4 : 1: each sender has the mix. */
static void a_mix_is_every_senders(void)
{
	static const double pps[] = {7e6, 4e6, 1e6};
	struct stream *streams[3];
	struct division division;

	for (unsigned i = 0; i < 3; i++) {
		streams[i] = made("{" UDP "}");
		streams[i]->pps = pps[i];
	}
	CHECK_EQUAL(division_make(&division, streams, 3, 2, STREAMS_MAX, NULL), 0);
	for (unsigned s = 0; s < 2; s++) {
		CHECK_EQUAL(division.senders[s].count, 3);
		for (unsigned i = 0; i < 3; i++)
			CHECK(division.senders[s].streams[i]->pps == pps[i] / 2);
	}
	division_free(&division);
	for (unsigned i = 0; i < 3; i++)
		stream_parts_free(streams[i]);
}

/* Without room for parts, and where one sender is all there is, streams stay as they are. */
static void no_parts_without_need(void)
{
	for (unsigned nb_senders = 1; nb_senders <= 3; nb_senders++) {
		struct stream *stream = made("{" UDP "}");
		struct division division;

		CHECK_EQUAL(division_make(&division, &stream, 1, nb_senders, 0, NULL), 0);
		CHECK(stream->next_part == NULL && stream->pps == PPS);
		CHECK_EQUAL(division.senders[0].count, 1);
		division_free(&division);
		stream_free(stream);
	}
}

/* Weights without rates: as far as streams can be cut, each sender has all of them. */
static void endless_rates_keep_their_weights(void)
{
	static const unsigned weights[] = {5, 1};
	struct stream *streams[2];
	struct division division;

	for (unsigned i = 0; i < 2; i++) {
		streams[i] = made("{" UDP "}");
		streams[i]->pps = INFINITY;
		streams[i]->weight = weights[i];
	}
	CHECK_EQUAL(division_make(&division, streams, 2, 3, STREAMS_MAX, NULL), 0);
	for (unsigned s = 0; s < 3; s++) {
		CHECK_EQUAL(division.senders[s].count, 2);
		for (unsigned i = 0; i < RTE_MIN(division.senders[s].count, 2u); i++) {
			CHECK(isinf(division.senders[s].streams[i]->pps));
			CHECK_EQUAL(division.senders[s].streams[i]->weight, weights[i]);
		}
	}
	division_free(&division);
	for (unsigned i = 0; i < 2; i++)
		stream_parts_free(streams[i]);
}

/* A round in places is one sender's; a burst beside it may be another's. Where some say no places,
 * none keeps them. */
static void places_stay_together(void)
{
	static const char *const texts[] = {
		"{\"places\": [0, 1], " UDP "}",
		"{\"places\": [2], " UDP "}",
		"{\"burst\": 10, " UDP "}",
		"{" UDP "}",
	};

	for (unsigned count = 3; count <= 4; count++) {
		struct stream *streams[4];
		struct division division;
		bool in_places = count == 3;

		for (unsigned i = 0; i < count; i++)
			streams[i] = made(texts[i]);
		CHECK_EQUAL(division_make(&division, streams, count, 2, STREAMS_MAX, NULL), 0);
		(void)check(&division, streams, count, 2);
		CHECK_EQUAL(division.senders[0].streams[1] == streams[1] &&
				    division.senders[0].count == 2,
			in_places);
		CHECK_EQUAL(streams[0]->next_part == NULL, in_places);
		CHECK_EQUAL(streams[0]->nb_places, in_places ? 2 : 0);
		division_free(&division);
		for (unsigned i = 0; i < count; i++)
			stream_parts_free(streams[i]);
	}
}

static const struct test_case cases[] = {
	{"parts_are_the_whole", parts_are_the_whole},
	{"drawn_flows_are_shared", drawn_flows_are_shared},
	{"new_flows_are_shared", new_flows_are_shared},
	{"some_stay_whole", some_stay_whole},
	{"loads_are_even", loads_are_even},
	{"a_mix_is_every_senders", a_mix_is_every_senders},
	{"no_parts_without_need", no_parts_without_need},
	{"endless_rates_keep_their_weights", endless_rates_keep_their_weights},
	{"places_stay_together", places_stay_together},
};

int main(void)
{
	return test_run(cases, RTE_DIM(cases));
}
