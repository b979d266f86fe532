/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures of a tester's ports. What matches is what libpcap's own interpreter lets pass, byte by
 * byte as it came, in order; what finds no room is counted; what the port did not take was not
 * sent.
 */
#include "capture/capture.h"
#include "core/rcu.h"
#include "tester/tester.h"
#include "tester_harness.h"

#include <pcap/pcap.h>
#include <rte_cycles.h>

#define FRAME_BYTES 1522
#define FRAMES_MAX 512

struct test_frame {
	unsigned length;
	uint8_t bytes[FRAME_BYTES];
};

static struct test_frame goes[FRAMES_MAX];
static unsigned nb_goes, nb_given;
/* Frames that the ports take of the next vectors, and those that they took. */
static unsigned room = UINT32_MAX, nb_taken;
static struct rte_mempool *pool;

static uint16_t test_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct port *port = queue;
	uint16_t got = 0;

	if (port->index != 0)
		return 0;
	for (; got < count && nb_given < nb_goes; got++, nb_given++) {
		mbufs[got] = rte_pktmbuf_alloc(pool);
		if (mbufs[got] == NULL)
			break;
		mbufs[got]->data_len = (uint16_t)goes[nb_given].length;
		mbufs[got]->pkt_len = goes[nb_given].length;
		mbufs[got]->port = port->index;
		memcpy(rte_pktmbuf_mtod(mbufs[got], void *), goes[nb_given].bytes,
			goes[nb_given].length);
	}
	return got;
}

/* Frames that it takes are overwritten: who reads them afterwards reads something else. */
static uint16_t test_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t taken = (uint16_t)RTE_MIN((unsigned)count, room);

	(void)queue;
	for (uint16_t i = 0; i < taken; i++) {
		memset(rte_pktmbuf_mtod(mbufs[i], void *), 0xee, mbufs[i]->data_len);
		mbufs[i]->pkt_len = mbufs[i]->data_len = 1;
	}
	rte_pktmbuf_free_bulk(mbufs, taken);
	nb_taken += taken;
	room -= room == UINT32_MAX ? 0 : taken;
	return taken;
}

const struct tester_device tester_device = {test_rx_burst, test_tx_burst, FRAME_BYTES};

static uint32_t next_random(void)
{
	static uint32_t state = 20261125;

	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static void put16(uint8_t *bytes, unsigned value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

/* Frames of few kinds, with few values each, so that filters match some and not others; and now
 * and then one that is cut. */
static void make_frame(struct test_frame *frame)
{
	static const uint16_t types[] = {0x0800, 0x0800, 0x86dd, 0x0806, 0x8847, 0x88cc};
	static const uint8_t protocols[] = {1, 6, 17, 58, 17};
	unsigned at = 12, tags = next_random() % 3, type = types[next_random() % RTE_DIM(types)];
	uint8_t *bytes = frame->bytes, protocol = protocols[next_random() % RTE_DIM(protocols)];

	for (unsigned i = 0; i < sizeof(frame->bytes); i++)
		bytes[i] = (uint8_t)next_random();
	for (unsigned i = 0; i < 12; i++)
		bytes[i] = (uint8_t)(i % 6 == 5 ? next_random() % 3 : 2);
	for (unsigned i = 0; i < tags; i++, at += 4) {
		put16(bytes + at, i == 0 && next_random() % 2 ? 0x88a8 : 0x8100);
		put16(bytes + at + 2, 100 + next_random() % 3);
	}
	put16(bytes + at, type);
	at += 2;
	if (type == 0x0800) {
		bytes[at] = next_random() % 4 == 0 ? 0x47 : 0x45;
		put16(bytes + at + 6, next_random() % 4 == 0 ? next_random() % 64 : 0);
		bytes[at + 9] = protocol;
		memcpy(bytes + at + 12, "\x0a\x00\x00", 3);
		memcpy(bytes + at + 16, "\x0a\x01\x00", 3);
		bytes[at + 15] = (uint8_t)(next_random() % 3);
		bytes[at + 19] = (uint8_t)(next_random() % 3);
		at += (bytes[at] & 15) * 4u;
	} else if (type == 0x86dd) {
		bytes[at] = 0x60;
		bytes[at + 6] = protocol;
		memset(bytes + at + 8, 0, 32);
		bytes[at + 23] = (uint8_t)(next_random() % 3);
		at += 40;
	} else if (type == 0x0806) {
		put16(bytes + at + 6, 1 + next_random() % 2);
		memcpy(bytes + at + 24, "\x0a\x01\x00\x01", 4);
	}
	put16(bytes + at, 53 + next_random() % 2);
	put16(bytes + at + 2, 80 + next_random() % 2);
	frame->length = next_random() % 8 == 0 ? 14 + next_random() % 40
					       : 60 + next_random() % (FRAME_BYTES - 64);
}

static void make_frames(unsigned count)
{
	nb_goes = count;
	nb_given = 0;
	for (unsigned i = 0; i < count; i++)
		make_frame(&goes[i]);
}

static void prepare(void)
{
	if (pool == NULL)
		pool = rte_pktmbuf_pool_create("frames", 2047, 0, 0, 2048, SOCKET_ID_ANY);
	CHECK(pool != NULL);
}

static unsigned start(const char *filter, bool rx, bool tx, unsigned ring, uint64_t limit)
{
	struct capture_order order = {.port = port_at(0),
		.rx = rx,
		.tx = tx,
		.snap = FRAME_BYTES,
		.ring = ring,
		.limit = limit,
		.filter = filter};
	char why[CAPTURE_WHY_BYTES] = "";
	unsigned id = capture_start(&order, why);

	if (id == 0)
		fprintf(stderr, "  %s: %s\n", filter, why);
	return id;
}

static const char *const filters[] = {"", "arp or icmp", "arp", "ip", "ip6", "icmp", "icmp6", "tcp",
	"udp port 53", "port 80", "src port 54 and dst port 81", "portrange 53-54", "host 10.0.0.1",
	"src net 10.0.0.0/24 and dst host 10.1.0.2", "ether host 02:02:02:02:02:01",
	"ether broadcast", "ether multicast", "vlan", "vlan 101", "vlan 100 and vlan 101",
	"vlan and arp", "vlan and icmp", "not vlan and ip", "mpls", "ether proto 0x88cc",
	"less 100", "greater 1000", "len > 700 and len < 900", "ip[6:2] & 0x1fff != 0",
	"ip[0] != 0x45", "ip[ip[9]] = 7", "ether[20:4] > 0x7fffffff", "ether[1000] = 3",
	"icmp[icmptype] = icmp-echo or tcp[tcpflags] & tcp-syn != 0", "ip proto 17", "ip6 host ::1",
	"len % 7 = 3", "(len * 3) / 2 > 1000", "ether[len - 1] & 1 = 1", "-ether[14] = -0x45",
	"ether[14] << 3 > 100 or ether[15] >> 2 = 5",
	"host 10.0.0.1 or host 10.0.0.2 or host 10.1.0.1 or port 53 or port 81 or arp or vlan 102"};

static bool passes(const char *filter, const struct test_frame *frame)
{
	struct pcap_pkthdr header = {.caplen = frame->length, .len = frame->length};
	pcap_t *dead = pcap_open_dead(DLT_EN10MB, 65535);
	struct bpf_program program;
	bool passed;

	if (dead == NULL || pcap_compile(dead, &program, filter, 1, PCAP_NETMASK_UNKNOWN) != 0)
		abort();
	passed = pcap_offline_filter(&program, &header, frame->bytes) != 0;
	pcap_freecode(&program);
	pcap_close(dead);
	return passed;
}

/* The capture has all frames of `goes` that pass, and no others. */
static void check_captured(struct capture *capture, const char *filter)
{
	uint64_t bytes = 0, before_tsc = 0;
	unsigned count = 0;

	for (unsigned i = 0; i < nb_goes; i++) {
		const struct capture_record *record;

		if (!passes(filter, &goes[i]))
			continue;
		count++;
		bytes += goes[i].length;
		record = capture_peek(capture);
		CHECK(record != NULL);
		if (record == NULL)
			return;
		CHECK(record->length == goes[i].length && record->captured == goes[i].length);
		CHECK(memcmp(record->bytes, goes[i].bytes, goes[i].length) == 0);
		CHECK(!record->sent && record->tsc >= before_tsc);
		before_tsc = record->tsc;
		capture_drop(capture);
	}
	CHECK(capture_peek(capture) == NULL);
	CHECK_EQUAL(capture_counters(capture).matched, count);
	CHECK_EQUAL(capture_counters(capture).captured, count);
	CHECK_EQUAL(capture_counters(capture).missed, 0);
	CHECK_EQUAL(capture_counters(capture).bytes, bytes);
}

static void filters_are_exact(void)
{
	prepare();
	for (unsigned i = 0; i < RTE_DIM(filters); i++) {
		unsigned before = test_failures, id;

		make_frames(FRAMES_MAX);
		id = start(filters[i], true, false, 1000, 0);
		CHECK(id != 0);
		while (nb_given < nb_goes)
			tester_walk();
		if (id != 0) {
			check_captured(capture_find(id), filters[i]);
			capture_remove(capture_find(id));
		}
		CHECK(port_at(0)->queues[0].taps == NULL);
		if (test_failures != before)
			fprintf(stderr, "  with filter '%s'\n", filters[i]);
	}
}

static const char *any(const char *const *words, unsigned count)
{
	return words[next_random() % count];
}

/* A comparison of what stands somewhere in the frame, by way of some arithmetic. */
static void add_random(char *text, size_t bytes)
{
	static const char *const at[] = {"ether[12:2]", "ether[14]", "ether[16:2]", "ether[20:4]",
		"ip[9]", "ip[6:2]", "ip[16:4]", "ip6[6]", "tcp[13]", "udp[0:2]", "icmp[0]", "len",
		"ether[len - 3]", "ip[ip[9]]", "arp[6:2]"};
	static const char *const operators[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"};
	static const char *const compares[] = {"=", "!=", ">", "<", ">=", "<="};
	static const uint32_t constants[] = {0, 1, 2, 7, 8, 31, 53, 80, 127, 128, 255, 256, 2048,
		32767, 32768, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff};
	const char *operator= any(operators, RTE_DIM(operators));
	bool shift = operator[0] == '<' || operator[0] == '>', whole = next_random() % 3 == 0;
	uint32_t operand = constants[next_random() % RTE_DIM(constants)];
	size_t used = strlen(text);

	/* Neither a division by nothing, which libpcap refuses, nor a shift by more than there is.
	 */
	operand = shift ? operand % 32 : operand == 0 ? 1 : operand;
	if (next_random() % 2 == 0)
		snprintf(text + used, bytes - used, "%s%s %s %u",
			next_random() % 3 == 0 ? "not " : "", any(at, RTE_DIM(at)),
			any(compares, RTE_DIM(compares)),
			constants[next_random() % RTE_DIM(constants)]);
	else if (whole && !shift && operator[0] != '/' && operator[0] != '%')
		snprintf(text + used, bytes - used, "%s%s %s %s %s %u",
			next_random() % 3 == 0 ? "not " : "", any(at, RTE_DIM(at)), operator,
			any(at, RTE_DIM(at)), any(compares, RTE_DIM(compares)),
			constants[next_random() % RTE_DIM(constants)]);
	else
		snprintf(text + used, bytes - used, "%s%s %s %u %s %u",
			next_random() % 3 == 0 ? "not " : "", any(at, RTE_DIM(at)), operator,
			operand, any(compares, RTE_DIM(compares)),
			constants[next_random() % RTE_DIM(constants)]);
}

static void random_filters_are_exact(void)
{
	unsigned taken = 0, compiled = 0;

	prepare();
	for (unsigned round = 0; round < 1000; round++) {
		char text[400] = "", why[CAPTURE_WHY_BYTES];
		unsigned before = test_failures, id, more = next_random() % 3;
		struct capture_order order = {.port = port_at(0),
			.rx = true,
			.snap = FRAME_BYTES,
			.ring = 100,
			.filter = text};

		add_random(text, sizeof(text));
		for (; more > 0; more--) {
			strcat(text, next_random() % 2 == 0 ? " and " : " or ");
			add_random(text, sizeof(text));
		}
		/* libpcap refuses some: those that it finds to match nothing. */
		id = capture_start(&order, why);
		if (id == 0)
			continue;
		taken++;
		compiled += capture_find(id)->filter.compiled != NULL;
		make_frames(64);
		tester_walk();
		check_captured(capture_find(id), text);
		capture_remove(capture_find(id));
		if (test_failures != before)
			fprintf(stderr, "  with filter '%s'\n", text);
	}
	CHECK(taken > 500 && compiled > 100);
}

/* As the engine's processors have it: no interpreter. */
static void filters_are_compiled(void)
{
	unsigned id = start("arp or icmp", true, false, 100, 0);

	CHECK(id != 0);
	CHECK(capture_find(id)->filter.compiled != NULL);
	capture_remove(capture_find(id));
}

static void interpreted_filters_are_exact(void)
{
	prepare();
	for (unsigned i = 0; i < RTE_DIM(filters); i++) {
		unsigned id = start(filters[i], true, false, 1000, 0);

		make_frames(64);
		capture_find(id)->filter.compiled = NULL;
		tester_walk();
		check_captured(capture_find(id), filters[i]);
		capture_remove(capture_find(id));
	}
}

static void wrong_filters_are_refused(void)
{
	static const char *const wrong[] = {
		"arp or", "host", "nonsense 7", "port 70000", "ip[", "ether[0:3] = 1", "\"", "and"};
	char why[CAPTURE_WHY_BYTES], longer[CAPTURE_FILTER_BYTES] = "port 1";
	struct capture_order order = {
		.port = port_at(0), .rx = true, .snap = 100, .ring = 8, .filter = longer};

	for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
		order.filter = wrong[i];
		why[0] = '\0';
		CHECK_EQUAL(capture_start(&order, why), 0);
		CHECK(strncmp(why, "filter: ", 8) == 0);
	}
	for (unsigned i = 2; strlen(longer) < sizeof(longer) - 16; i++)
		snprintf(longer + strlen(longer), 16, " or port %u", i);
	order.filter = longer;
	CHECK(capture_start(&order, why) != 0);
	for (unsigned i = 0; i < CAPTURES_MAX; i++)
		if (capture_at(i) != NULL)
			capture_remove(capture_at(i));
	CHECK(port_at(0)->queues[0].taps == NULL);
}

static void what_finds_no_room_is_counted(void)
{
	struct capture *capture;
	unsigned ring = 100;

	prepare();
	make_frames(FRAMES_MAX);
	capture = capture_find(start("", true, false, ring, 0));
	while (nb_given < nb_goes)
		tester_walk();
	CHECK_EQUAL(capture_counters(capture).matched, FRAMES_MAX);
	CHECK_EQUAL(capture_counters(capture).captured, ring);
	CHECK_EQUAL(capture_counters(capture).missed, FRAMES_MAX - ring);
	/* Those that are there are the first, and what is read makes room. */
	for (unsigned i = 0; i < 10; i++) {
		CHECK(memcmp(capture_peek(capture)->bytes, goes[i].bytes, goes[i].length) == 0);
		capture_drop(capture);
	}
	make_frames(20);
	tester_walk();
	CHECK_EQUAL(capture_counters(capture).captured, ring + 10);
	CHECK_EQUAL(capture_counters(capture).missed, FRAMES_MAX - ring + 10);
	capture_remove(capture);
}

static void it_ends_at_the_limit(void)
{
	struct capture *capture;
	unsigned left = 0;

	prepare();
	make_frames(FRAMES_MAX);
	capture = capture_find(start("", true, false, 1000, 300));
	CHECK(capture_state(capture) == CAPTURE_RUNNING);
	while (nb_given < nb_goes)
		tester_walk();
	CHECK(capture_state(capture) == CAPTURE_DONE);
	CHECK_EQUAL(capture_counters(capture).matched, 300);
	CHECK_EQUAL(capture_counters(capture).captured, 300);
	CHECK_EQUAL(capture_counters(capture).missed, 0);
	capture_stop(capture);
	CHECK(port_at(0)->queues[0].taps == NULL);
	for (; capture_peek(capture) != NULL; left++)
		capture_drop(capture);
	CHECK_EQUAL(left, 300);
	capture_remove(capture);
}

/* A stream's frames, of which the port takes some at a time: each is captured once, as it was. */
static void sent_frames_are_those_that_the_port_took(void)
{
	struct port_queue *queue = port_queue(port_at(0), 0);
	unsigned id, seen = 0, more = 0;

	prepare();
	id = start("ether[14] >= 0", false, true, 1000, 0);
	make_frames(200);
	nb_taken = 0;
	for (unsigned from = 0; from < nb_goes;) {
		struct rte_mbuf *mbufs[NODE_VECTOR_MAX];
		uint16_t count = test_rx_burst(port_at(0), mbufs, 50), sent = 0;

		while (sent < count) {
			room = 1 + more++ % 7;
			sent += capture_tx_burst(queue, mbufs + sent, (uint16_t)(count - sent));
		}
		from += count;
	}
	room = UINT32_MAX;
	CHECK_EQUAL(nb_taken, nb_goes);
	for (const struct capture_record *record;
		(record = capture_peek(capture_find(id))) != NULL && seen < nb_goes; seen++) {
		while (seen < nb_goes && !passes("ether[14] >= 0", &goes[seen]))
			seen++;
		CHECK(record->sent && record->length == goes[seen].length);
		CHECK(memcmp(record->bytes, goes[seen].bytes, goes[seen].length) == 0);
		capture_drop(capture_find(id));
	}
	CHECK(seen > 150);
	CHECK_EQUAL(capture_counters(capture_find(id)).matched,
		capture_counters(capture_find(id)).captured);
	capture_remove(capture_find(id));
}

/* Both directions, each with a filter of its own, all at once; and one more ends the oldest of
 * those that have ended. */
static void several_at_once(void)
{
	unsigned ids[CAPTURES_MAX], refused;

	prepare();
	for (unsigned i = 0; i < CAPTURES_MAX; i++)
		ids[i] = start(filters[i], true, i % 2 == 0, 600, 0);
	refused = start("arp", true, false, 10, 0);
	CHECK_EQUAL(refused, 0);
	make_frames(FRAMES_MAX);
	while (nb_given < nb_goes)
		tester_walk();
	for (unsigned i = 0; i < CAPTURES_MAX; i++)
		check_captured(capture_find(ids[i]), filters[i]);
	capture_stop(capture_find(ids[3]));
	capture_stop(capture_find(ids[2]));
	CHECK(start("arp", true, false, 10, 0) > ids[CAPTURES_MAX - 1]);
	CHECK(capture_find(ids[2]) == NULL && capture_find(ids[3]) != NULL);
	for (unsigned i = 0; i < CAPTURES_MAX; i++)
		if (capture_at(i) != NULL)
			capture_remove(capture_at(i));
	CHECK(port_at(0)->queues[0].taps == NULL);
}

static void only_the_first_bytes_are_kept(void)
{
	struct capture_order order = {
		.port = port_at(0), .rx = true, .snap = 61, .ring = 1000, .filter = ""};
	char why[CAPTURE_WHY_BYTES];
	struct capture *capture;

	prepare();
	capture = capture_find(capture_start(&order, why));
	make_frames(FRAMES_MAX);
	while (nb_given < nb_goes)
		tester_walk();
	for (unsigned i = 0; i < nb_goes; i++) {
		const struct capture_record *record = capture_peek(capture);

		CHECK_EQUAL(record->length, goes[i].length);
		CHECK_EQUAL(record->captured, RTE_MIN(goes[i].length, 61u));
		CHECK(memcmp(record->bytes, goes[i].bytes, record->captured) == 0);
		capture_drop(capture);
	}
	capture_remove(capture);
}

/* A frame of several segments, whose first ends within the headers. */
static void segments_are_joined(void)
{
	struct port_queue *queue = port_queue(port_at(0), 0);
	struct rte_mbuf *first, *second;
	const struct capture_record *record;
	struct capture *capture;

	prepare();
	make_frames(1);
	capture = capture_find(start("ether[40] = ether[40]", true, false, 10, 0));
	goes[0].length = 100;
	first = rte_pktmbuf_alloc(pool);
	second = rte_pktmbuf_alloc(pool);
	memcpy(rte_pktmbuf_append(first, 20), goes[0].bytes, 20);
	memcpy(rte_pktmbuf_append(second, 80), goes[0].bytes + 20, 80);
	CHECK(rte_pktmbuf_chain(first, second) == 0);
	capture_rx(queue, &first, 1);
	record = capture_peek(capture);
	CHECK(record != NULL && record->captured == 100);
	CHECK(record != NULL && memcmp(record->bytes, goes[0].bytes, 100) == 0);
	rte_pktmbuf_free(first);
	capture_remove(capture);
}

#define STREAMS \
	"\"streams\": [{\"port\": \"e0\", \"rx_port\": \"e1\", \"rate\": {\"pps\": 10000}, " \
	"\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {\"src\": \"16.0.0.1\", \"dst\": " \
	"\"48.0.0.1\"}}, {\"udp\": {\"src\": 1, \"dst\": 2}}]}]"

static const struct tester_case cases[] = {
	{"filters are exact", filters_are_exact, STREAMS},
	{"random filters are exact", random_filters_are_exact, STREAMS},
	{"filters are compiled", filters_are_compiled, STREAMS},
	{"interpreted filters are exact", interpreted_filters_are_exact, STREAMS},
	{"wrong filters are refused", wrong_filters_are_refused, STREAMS},
	{"what finds no room is counted", what_finds_no_room_is_counted, STREAMS},
	{"it ends at the limit", it_ends_at_the_limit, STREAMS},
	{"sent frames are those that the port took", sent_frames_are_those_that_the_port_took,
		STREAMS},
	{"several at once", several_at_once, STREAMS},
	{"only the first bytes are kept", only_the_first_bytes_are_kept, STREAMS},
	{"segments are joined", segments_are_joined, STREAMS},
};
TESTER_MAIN(cases)
