/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tester port with addresses: each request that comes in while a trial runs is answered as a host
 * would, byte by byte, or is an `other` frame. Frames are hexadecimal, as scapy makes them.
 */
#include "core/ledger.h"
#include "tester/resolve.h"
#include "tester/responder.h"
#include "tester/tester.h"
#include "tester/trial.h"
#include "config_mistakes.h"
#include "tester_harness.h"

#include <pthread.h>
#include <rte_cycles.h>

#define FRAME_BYTES 1522
#define FRAMES_MAX 256

struct test_frame {
	unsigned length;
	uint8_t bytes[FRAME_BYTES];
};

/* Frames to e0 that were not fetched yet, and those that it sent which are none of a stream. */
static struct test_frame goes[FRAMES_MAX], came[FRAMES_MAX];
static unsigned nb_goes, nb_given, nb_came, nb_streamed;
static bool full;

static uint16_t test_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct port *port = queue;
	uint16_t got = 0;

	if (port->index != 0)
		return 0;
	for (; got < count && nb_given < nb_goes; got++, nb_given++) {
		/* A port without streams has no buffers but the responder's. */
		mbufs[got] = rte_pktmbuf_alloc(
			tester.ports[0].pool != NULL ? tester.ports[0].pool : responders[0]->pool);
		if (mbufs[got] == NULL)
			break;
		mbufs[got]->hash.fdir.hi = 0;
		mbufs[got]->data_len = (uint16_t)goes[nb_given].length;
		mbufs[got]->pkt_len = goes[nb_given].length;
		mbufs[got]->port = port->index;
		memcpy(rte_pktmbuf_mtod(mbufs[got], void *), goes[nb_given].bytes,
			goes[nb_given].length);
	}
	return got;
}

static uint16_t test_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	(void)queue;
	if (full)
		return 0;
	for (uint16_t i = 0; i < count; i++) {
		if (mbufs[i]->pool == tester.ports[0].pool) {
			nb_streamed++;
			continue;
		}
		came[nb_came].length = mbufs[i]->data_len;
		memcpy(came[nb_came++ % FRAMES_MAX].bytes, rte_pktmbuf_mtod(mbufs[i], const void *),
			mbufs[i]->data_len);
	}
	rte_pktmbuf_free_bulk(mbufs, count);
	return count;
}

const struct tester_device tester_device = {test_rx_burst, test_tx_burst, FRAME_BYTES};

static struct test_frame frame_of(const char *hex)
{
	struct test_frame frame = {.length = (unsigned)strlen(hex) / 2};

	for (unsigned i = 0; i < frame.length; i++)
		sscanf(hex + 2 * (size_t)i, "%2hhx", &frame.bytes[i]);
	return frame;
}

static void give(const char *hex)
{
	goes[nb_goes++ % FRAMES_MAX] = frame_of(hex);
}

static bool same(const struct test_frame *frame, const char *hex)
{
	struct test_frame wanted = frame_of(hex);

	return frame->length == wanted.length &&
	       memcmp(frame->bytes, wanted.bytes, wanted.length) == 0;
}

static void forget(void)
{
	nb_goes = nb_given = nb_came = 0;
}

struct requests {
	const char *name, *request;
	const char *answer; /* NULL: none */
};

static const struct requests requests[] = {
	{"an ARP request",
		"ffffffffffff02aabbccdd010806000108000604000102aabbccdd016440010100000000"
		"000064400102000000000000000000000000000000000000",
		"02aabbccdd01024c5200000008060001080006040002024c520000006440010202aabbcc"
		"dd0164400101000000000000000000000000000000000000"},
	{"one in a VLAN",
		"ffffffffffff02aabbccdd018100a00a0806000108000604000102aabbccdd010a000a01"
		"0000000000000a000a020000000000000000000000000000",
		"02aabbccdd01024c520000008100a00a08060001080006040002024c520000000a000a02"
		"02aabbccdd010a000a010000000000000000000000000000"},
	{"an ARP probe",
		"ffffffffffff02aabbccdd010806000108000604000102aabbccdd010000000000000000"
		"000064400102000000000000000000000000000000000000",
		"02aabbccdd01024c5200000008060001080006040002024c520000006440010202aabbcc"
		"dd0100000000000000000000000000000000000000000000"},
	{"a request for another's address",
		"ffffffffffff02aabbccdd010806000108000604000102aabbccdd016440010100000000"
		"000064400103000000000000000000000000000000000000",
		NULL},
	{"one in another VLAN",
		"ffffffffffff02aabbccdd018100a00b0806000108000604000102aabbccdd010a000a01"
		"0000000000000a000a020000000000000000000000000000",
		NULL},
	{"one to another's MAC address",
		"02000000009902aabbccdd010806000108000604000102aabbccdd016440010100000000"
		"000064400102000000000000000000000000000000000000",
		NULL},
	{"an echo request through a router",
		"024c5200000002aabbccdd01080045100031004d000003013f1c0a090909644001020800"
		"b9d312340007616263646566676831323334353637384142434445",
		"02aabbccdd01024c52000000080045100031004d00004001021c644001020a0909090000"
		"c1d312340007616263646566676831323334353637384142434445"},
	{"one with a wrong checksum",
		"024c5200000002aabbccdd0108004500001f004d00004001023e0a090909644001020800"
		"111100000000616263000000000000000000000000000000",
		NULL},
	{"a fragment of one",
		"024c5200000002aabbccdd01080045000031004d20004001e22b0a090909644001020800"
		"b9d312340007616263646566676831323334353637384142434445",
		NULL},
	{"one to all stations",
		"ffffffffffff02aabbccdd0108004500003100010000400102780a090909644001020800"
		"b9d312340007616263646566676831323334353637384142434445",
		NULL},
	{"an echo reply",
		"024c5200000002aabbccdd0108004500003100010000400102780a090909644001020000"
		"c1d312340007616263646566676831323334353637384142434445",
		NULL},
	{"any other protocol",
		"024c5200000002aabbccdd0108004500001d000100004011027c0a090909644001020001"
		"000700090f80780000000000000000000000000000000000",
		NULL},
	{"a neighbour solicitation",
		"3333ff00000202aabbccdd0186dd6000000000203afffd00000000000000000000000000"
		"0001ff0200000000000000000001ff0000028700e41f00000000fd000000000000000000"
		"000000000002010102aabbccdd01",
		"02aabbccdd01024c5200000086dd6000000000203afffd00000000000000000000000000"
		"0002fd0000000000000000000000000000018800ca4f60000000fd000000000000000000"
		"0000000000020201024c52000000"},
	{"a solicitation in a VLAN",
		"3333ff00000202aabbccdd018100a00a86dd6000000000203afffd000010000000000000"
		"000000000001ff0200000000000000000001ff0000028700e3ff00000000fd0000100000"
		"00000000000000000002010102aabbccdd01",
		"02aabbccdd01024c520000008100a00a86dd6000000000203afffd000010000000000000"
		"000000000002fd0000100000000000000000000000018800ca1f60000000fd0000100000"
		"000000000000000000020201024c52000000"},
	{"duplicate address detection",
		"3333ff00000202aabbccdd0186dd6000000000183aff0000000000000000000000000000"
		"0000ff0200000000000000000001ff00000287007da300000000fd000000000000000000"
		"000000000002",
		"333300000001024c5200000086dd6000000000203afffd00000000000000000000000000"
		"0002ff0200000000000000000000000000018800084e20000000fd000000000000000000"
		"0000000000020201024c52000000"},
	{"a solicitation of the link-local address",
		"024c5200000002aabbccdd0186dd6000000000183afffe80000000000000000000000000"
		"0001fe80000000000000004c52fffe0000008700da9000000000fe80000000000000004c"
		"52fffe000000",
		"02aabbccdd01024c5200000086dd6000000000203afffe80000000000000004c52fffe00"
		"0000fe8000000000000000000000000000018800233b60000000fe80000000000000004c"
		"52fffe0000000201024c52000000"},
	{"a solicitation from beyond the link",
		"3333ff00000202aabbccdd0186dd6000000000203afefd00000000000000000000000000"
		"0001ff0200000000000000000001ff0000028700e41f00000000fd000000000000000000"
		"000000000002010102aabbccdd01",
		NULL},
	{"one whose option has no length",
		"3333ff00000202aabbccdd0186dd6000000000203afffd00000000000000000000000000"
		"0001ff0200000000000000000001ff0000028700e42000000000fd000000000000000000"
		"000000000002010002aabbccdd01",
		NULL},
	{"an ICMPv6 echo request",
		"024c5200000002aabbccdd0186dd6000000000123a09fd00000900000000000000000000"
		"0009fd000000000000000000000000000002800080850005000930313233343536373839",
		"02aabbccdd01024c5200000086dd6000000000123a40fd00000000000000000000000000"
		"0002fd00000900000000000000000000000981007f850005000930313233343536373839"},
	{"one to a group",
		"33330000000102aabbccdd0186dd6000000000083a40fd00000900000000000000000000"
		"0009ff0200000000000000000000000000018000839800050009",
		NULL},
	{"an ARP reply that was not asked for",
		"024c5200000002aabbccdd010806000108000604000202aabbccdd0164400101024c5200"
		"000064400102000000000000000000000000000000000000",
		NULL},
	{"an advertisement that was not asked for",
		"024c5200000002aabbccdd0186dd6000000000203afffd00000000000000000000000000"
		"0001fd00000000000000000000000000000288000324e0000000fd000000000000000000"
		"000000000001020102aabbccdd01",
		NULL},
};

static void check_requests(void)
{
	for (unsigned i = 0; i < RTE_DIM(requests); i++) {
		uint64_t other = tester_other();
		unsigned before = test_failures;

		forget();
		give(requests[i].request);
		device_clock += rte_get_tsc_hz() / 1000;
		tester_walk();
		tester_walk();
		if (requests[i].answer == NULL) {
			CHECK_EQUAL(nb_came, 0);
			CHECK_EQUAL(tester_other(), other + 1);
		} else {
			CHECK_EQUAL(nb_came, 1);
			CHECK(same(&came[0], requests[i].answer));
			CHECK_EQUAL(tester_other(), other);
		}
		if (test_failures != before)
			fprintf(stderr, "  with %s\n", requests[i].name);
	}
}

static uint64_t kind_sum(enum ledger_kind kind)
{
	struct ledger ledger;
	uint64_t sum;

	ledger_read(&ledger);
	sum = ledger_sum(&ledger, kind);
	ledger_free(&ledger);
	return sum;
}

static void requests_while_no_trial_runs(void)
{
	check_requests();
}

/* Neither requests nor answers are in the ledger, but for what is not answered. */
static void requests_while_a_trial_runs(void)
{
	CHECK(trial_start(&(struct trial_plan){.duration_us = 10000000, .scale = 1.0}) > 0);
	check_requests();
	CHECK(trial_active() && nb_streamed > 0);
	CHECK_EQUAL(kind_sum(LEDGER_SENT), nb_streamed);
	CHECK_EQUAL(kind_sum(LEDGER_OTHER), tester_other());
	for (unsigned kind = 0; kind < LEDGER_KINDS; kind++)
		if (kind != LEDGER_SENT && kind != LEDGER_OTHER)
			CHECK_EQUAL(kind_sum((enum ledger_kind)kind), 0);
}

/* Any part of any frame: it is answered, or other. */
static void cut_requests(void)
{
	for (unsigned i = 0; i < RTE_DIM(requests); i++)
		for (unsigned length = 1; length < strlen(requests[i].request) / 2; length++) {
			uint64_t other = tester_other();

			forget();
			give(requests[i].request);
			goes[0].length = length;
			tester_walk();
			tester_walk();
			CHECK_EQUAL(nb_came + (tester_other() - other), 1);
		}
}

static const char arp_request[] =
	"ffffffffffff02aabbccdd010806000108000604000102aabbccdd016440010100000000"
	"000064400102000000000000000000000000000000000000";

/* They are sent as soon as there is room; what is too much is no more than not answered. */
static void answers_wait_for_room(void)
{
	const struct responder *responder = responders[0];
	unsigned extra = 10;

	full = true;
	forget();
	for (unsigned i = 0; i < RESPONDER_WAITING_MAX + extra; i++)
		give(arp_request);
	tester_walk();
	tester_walk();
	CHECK_EQUAL(nb_came, 0);
	CHECK_EQUAL(responder->nb_waiting, RESPONDER_WAITING_MAX);
	CHECK_EQUAL(responder->counters.unanswered, extra);
	CHECK_EQUAL(tester_other(), extra);
	full = false;
	tester_walk();
	CHECK_EQUAL(nb_came, RESPONDER_WAITING_MAX);
	CHECK_EQUAL(responder->counters.heard[HOST_ARP_REQUEST], RESPONDER_WAITING_MAX);
	give(arp_request);
	tester_walk();
	tester_walk();
	CHECK_EQUAL(nb_came, RESPONDER_WAITING_MAX + 1);
}

/* A port without addresses keeps quiet. */
static void other_port_is_none(void)
{
	CHECK(responders[0] != NULL);
	CHECK(responders[1] == NULL);
}

struct asked {
	const char *neighbor;
	int vlan;
	const char *request; /* that goes out, or NULL */
	const char *answer;  /* that comes, or NULL */
	unsigned after;      /* requests */
	const char *why;     /* part of it; NULL: resolved */
	bool done;
	const char *reason;
	struct resolved resolved;
	char text[RESOLVE_WHY_BYTES];
};

static void *ask(void *argument)
{
	struct asked *asked = argument;
	struct ip_address neighbor;

	address_read(asked->neighbor, asked->neighbor + strlen(asked->neighbor), &neighbor);
	asked->reason = resolve(port_at(0), &neighbor, asked->vlan, &asked->resolved, asked->text);
	__atomic_store_n(&asked->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void run_question(struct asked *asked)
{
	static const struct rte_ether_addr box = {{2, 0xaa, 0xbb, 0xcc, 0xdd, 1}};
	pthread_t thread;

	forget();
	CHECK(pthread_create(&thread, NULL, ask, asked) == 0);
	while (!__atomic_load_n(&asked->done, __ATOMIC_ACQUIRE)) {
		tester_walk();
		if (asked->answer != NULL && nb_came >= asked->after && nb_goes == 0)
			give(asked->answer);
	}
	pthread_join(thread, NULL);
	if (asked->request != NULL)
		CHECK(same(&came[0], asked->request));
	else
		CHECK_EQUAL(nb_came, 0);
	if (asked->why == NULL) {
		CHECK(asked->reason == NULL);
		CHECK_EQUAL(asked->resolved.requests, asked->after);
		CHECK(rte_is_same_ether_addr(&asked->resolved.mac, &box));
	} else {
		CHECK(asked->reason != NULL && strstr(asked->reason, asked->why) != NULL);
	}
}

static const char our_arp[] =
	"ffffffffffff024c5200000008060001080006040001024c520000006440010200000000"
	"000064400101000000000000000000000000000000000000";
static const char our_solicitation[] =
	"3333ff000001024c5200000086dd6000000000203afffd00000000000000000000000000"
	"0002ff0200000000000000000001ff00000187002b4d00000000fd000000000000000000"
	"0000000000010101024c52000000";
static const char box_arp_reply[] =
	"024c5200000002aabbccdd010806000108000604000202aabbccdd0164400101024c5200"
	"000064400102000000000000000000000000000000000000";
static const char box_advertisement[] =
	"024c5200000002aabbccdd0186dd6000000000203afffd00000000000000000000000000"
	"0001fd00000000000000000000000000000288000324e0000000fd000000000000000000"
	"000000000001020102aabbccdd01";

static struct asked questions[] = {
	{.neighbor = "100.64.1.1",
		.vlan = -1,
		.request = our_arp,
		.answer = box_arp_reply,
		.after = 1},
	{.neighbor = "100.64.1.1",
		.vlan = -1,
		.request = our_arp,
		.answer = box_arp_reply,
		.after = 2},
	{.neighbor = "fd00::1",
		.request = our_solicitation,
		.answer = box_advertisement,
		.after = 1},
	{.neighbor = "100.64.1.1",
		.vlan = -1,
		.request = our_arp,
		.why = "no answer to 3 ARP requests from 100.64.1.2"},
	{.neighbor = "fd00::1",
		.vlan = -1,
		.request = our_solicitation,
		.answer = box_arp_reply,
		.why = "no answer to 3 neighbour solicitations from fd00::2"},
	{.neighbor = "16.0.0.1", .vlan = -1, .why = "next hop"},
	{.neighbor = "100.64.1.2", .vlan = -1, .why = "own address"},
	{.neighbor = "100.64.1.1", .vlan = 11, .why = "on no subnet"},
};

static void neighbors_are_asked(void)
{
	for (unsigned i = 0; i < RTE_DIM(questions); i++)
		run_question(&questions[i]);
	CHECK_EQUAL(responders[0]->counters.heard[HOST_ARP_REPLY], 2);
	CHECK_EQUAL(responders[0]->counters.heard[HOST_ADVERTISEMENT], 1);
}

static void none_is_asked_in_a_trial(void)
{
	struct asked asked = {.neighbor = "100.64.1.1", .vlan = -1, .why = "a trial runs"};

	CHECK(trial_start(&(struct trial_plan){.duration_us = 10000000, .scale = 1.0}) > 0);
	run_question(&asked);
}

#define ADDRESSES(list) "{\"addresses\": [" list "]}"
#define OF_E1(keys) "{\"port\": \"e1\", " keys "}"

static void parse_addresses(const struct config_node *root)
{
	struct config_node addresses = config_child(root, "addresses");

	responders_parse(&addresses);
}

static void mistakes_are_found(void)
{
	static const char *const good[] = {
		ADDRESSES(OF_E1("\"address\": \"10.0.0.1/24\"")),
		ADDRESSES(OF_E1("\"address\": \"10.0.0.1/24\", \"vlan\": 4094")),
		ADDRESSES(OF_E1("\"address\": \"fe80::1/64\"")),
	};
	static const char *const bad[] = {
		ADDRESSES(OF_E1("\"address\": \"10.0.0.1/24\"")), /* given twice by now */
		ADDRESSES(OF_E1("\"address\": \"10.0.0.1\"")),
		ADDRESSES(OF_E1("\"address\": \"10.0.0.1/33\"")),
		ADDRESSES(OF_E1("\"address\": \"224.0.0.1/24\"")),
		ADDRESSES(OF_E1("\"address\": \"127.0.0.1/8\"")),
		ADDRESSES(OF_E1("\"address\": \"ff02::1/64\"")),
		ADDRESSES(OF_E1("\"address\": \"::/64\"")),
		ADDRESSES(OF_E1("\"address\": \"10.0.0.2/24\", \"vlan\": 4095")),
		ADDRESSES(OF_E1("\"address\": \"10.0.0.3/24\", \"gateway\": \"10.0.0.1\"")),
		ADDRESSES(OF_E1("\"vlan\": 10")),
		ADDRESSES("{\"port\": \"e2\", \"address\": \"10.0.0.1/24\"}"),
		ADDRESSES("\"10.0.0.1/24\""),
		"{\"addresses\": 1}",
	};

	for (unsigned i = 0; i < RTE_DIM(good); i++)
		CHECK_EQUAL(config_mistakes_in(good[i], parse_addresses), 0);
	for (unsigned i = 0; i < RTE_DIM(bad); i++)
		CHECK_EQUAL(config_mistakes_in(bad[i], parse_addresses), 1);
}

#define TEXT \
	"\"addresses\": [{\"port\": \"e0\", \"address\": \"100.64.1.2/30\"}, " \
	"{\"port\": \"e0\", \"address\": \"fd00::2/64\"}, " \
	"{\"port\": \"e0\", \"address\": \"10.0.10.2/24\", \"vlan\": 10}, " \
	"{\"port\": \"e0\", \"address\": \"fd00:10::2/64\", \"vlan\": 10}], "
#define STREAMS \
	TEXT "\"streams\": [{\"port\": \"e0\", \"rx_port\": \"e1\", \"rate\": {\"pps\": 10000}, " \
	     "\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {\"src\": \"16.0.0.1\", \"dst\": " \
	     "\"48.0.0.1\"}}, {\"udp\": {\"src\": 1, \"dst\": 2}}]}]"

#define CONNECTIONS \
	TEXT "\"connections\": {\"client_port\": \"e0\", \"server_port\": \"e1\", " \
	     "\"client_macs\": " \
	     "{\"dst\": \"02:00:00:00:0e:00\"}, \"server_macs\": {\"dst\": " \
	     "\"02:00:00:00:0e:01\"}, \"clients\": {\"min\": \"16.0.0.1\", \"max\": " \
	     "\"16.0.0.9\"}, \"servers\": {\"min\": \"48.0.0.1\", \"max\": \"48.0.0.9\"}, " \
	     "\"templates\": [{\"name\": \"a\", \"cps\": 5, \"packets\": [{\"frame\": " \
	     "\"02000000000102000000000208004500001c00010000400100000a0000010a0000020800000000010" \
	     "001\"}]}]}"

static const struct tester_case cases[] = {
	{"requests while no trial runs", requests_while_no_trial_runs, STREAMS},
	{"requests while a trial runs", requests_while_a_trial_runs, STREAMS},
	{"requests beside connections", requests_while_no_trial_runs, CONNECTIONS},
	{"cut requests", cut_requests, STREAMS},
	{"answers wait for room", answers_wait_for_room, STREAMS},
	{"the other port is none", other_port_is_none, STREAMS},
	{"neighbours are asked", neighbors_are_asked, STREAMS},
	{"mistakes are found", mistakes_are_found, STREAMS},
	{"none is asked in a trial", none_is_asked_in_a_trial, STREAMS},
};
TESTER_MAIN(cases)
