/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tester port with addresses: each request that comes in while a trial runs is answered as a host
 * would, byte by byte, or is an `other` frame. Frames are hexadecimal, as scapy makes them.
 */
#include "core/ledger.h"
#include "tester/ping.h"
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
		mbufs[got] = rte_pktmbuf_alloc(tester.ports[0].senders[0]->pool != NULL
						       ? tester.ports[0].senders[0]->pool
						       : responders[0]->pool);
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
		if (mbufs[i]->pool == tester.ports[0].senders[0]->pool) {
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
	CHECK(responders[0]->host->nb_addresses > 0);
	CHECK_EQUAL(responders[1]->host->nb_addresses, 0);
	CHECK(responders[1]->pool == NULL);
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
	const struct host_tags tags = {.outer = (uint16_t)asked->vlan};
	struct ip_address neighbor;

	address_read(asked->neighbor, asked->neighbor + strlen(asked->neighbor), &neighbor);
	asked->reason = resolve(port_at(0), &neighbor, asked->vlan < 0 ? NULL : &tags,
		&asked->resolved, asked->text);
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

static const char tagged_request[] =
	"ffffffffffff02aabbccdd0188a8000a810000140806000108000604000102aabbccdd01"
	"0a0014010000000000000a00140200000000000000000000";
static const char tagged_answer[] =
	"02aabbccdd01024c5200000088a8000a8100001408060001080006040002024c52000000"
	"0a00140202aabbccdd010a00140100000000000000000000";
static const char our_tagged_request[] =
	"ffffffffffff024c5200000088a8000a8100001408060001080006040001024c52000000"
	"0a0014020000000000000a00140100000000000000000000";
static const char its_tagged_reply[] =
	"024c5200000002aabbccdd0188a8000a810000140806000108000604000202aabbccdd01"
	"0a001401024c520000000a00140200000000000000000000";
static const char our_echo[] =
	"02aabbccdd01024c5200000088a8000a8100001408004500004e000100004001f9a30a00"
	"1402630000090800d4c10001000108090a0b0c0d0e0f101112131415161718191a1b1c1d"
	"1e1f202122232425262728292a2b2c2d2e2f30313233343536373839";
static const char echo_reply[] =
	"024c5200000002aabbccdd0188a8000a8100001408004500004e000900003901009c6300"
	"00090a0014020000dcc10001000108090a0b0c0d0e0f101112131415161718191a1b1c1d"
	"1e1f202122232425262728292a2b2c2d2e2f30313233343536373839";
static const char other_reply[] =
	"024c5200000002aabbccdd0188a8000a8100001408004500004e000900003901009c6300"
	"00090a0014020000dc75004d000108090a0b0c0d0e0f101112131415161718191a1b1c1d"
	"1e1f202122232425262728292a2b2c2d2e2f30313233343536373839";
static const char unreachable[] =
	"024c5200000002aabbccdd0188a8000a810000140800450000380009000040013eba0a00"
	"14010a0014020301203b000000004500004e000100004001f9a30a001402630000090800"
	"d4c100010001";
static const char exceeded[] =
	"024c5200000002aabbccdd0188a8000a810000140800450000380009000040013eba0a00"
	"14010a0014020b00183c000000004500004e000100004001f9a30a001402630000090800"
	"d4c100010001";
static const char our_echo6[] =
	"02aabbccdd01024c5200000086dd60000000002e3a40fd00000000000000000000000000"
	"0002fd0000000000000000000000000000018000958d0001000108090a0b0c0d0e0f1011"
	"12131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d";
static const char echo_reply6[] =
	"024c5200000002aabbccdd0186dd60000000002e3a3ffd00000000000000000000000000"
	"0001fd0000000000000000000000000000028100948d0001000108090a0b0c0d0e0f1011"
	"12131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d";
static const char unreachable6[] =
	"024c5200000002aabbccdd0186dd60000000005e3a3ffd00000000000000000000000000"
	"0001fd00000000000000000000000000000201036a590000000060000000002e3a40fd00"
	"0000000000000000000000000002fd0000000000000000000000000000018000958d0001"
	"000108090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223242526272829"
	"2a2b2c2d";

static struct host_address own_of(const char *address, const char *gateway, struct host_tags tags)
{
	struct host_address own = {.tags = tags};

	address_read_prefix(address, address + strlen(address), &own.address, &own.length);
	if (gateway != NULL)
		address_read(gateway, gateway + strlen(gateway), &own.gateway);
	return own;
}

static unsigned answers_to(const char *request)
{
	forget();
	give(request);
	tester_walk();
	tester_walk();
	return nb_came;
}

/* Given, replaced and taken away while frames come: what is answered is what the port has now. */
static void addresses_change(void)
{
	struct responder *responder = responders[0];
	const struct host_tags two = {10, 20}, none = {0, 0};
	const struct host_address own = own_of("10.0.20.2/24", "10.0.20.1", two);
	struct host_address other = own_of("10.0.21.2/24", NULL, none);

	CHECK_EQUAL(answers_to(arp_request), 1);
	CHECK_EQUAL(answers_to(tagged_request), 0);
	CHECK(responder_add(responder, &own, 1) == NULL);
	CHECK_EQUAL(answers_to(tagged_request), 1);
	CHECK(same(&came[0], tagged_answer));
	CHECK_EQUAL(answers_to(arp_request), 1);
	CHECK(strstr(responder_add(responder, &own, 1), "given twice") != NULL);
	CHECK(responder_set(responder, &own, 1) == NULL);
	CHECK_EQUAL(answers_to(arp_request), 0);
	CHECK_EQUAL(answers_to(tagged_request), 1);
	/* A mistake changes nothing. */
	other.gateway = other.address;
	CHECK(responder_set(responder, &other, 1) != NULL);
	other.gateway.family = ADDRESS_NONE;
	CHECK(responder_remove(responder, &other) != NULL);
	CHECK_EQUAL(responder_host(responder).nb_addresses, 1);
	CHECK(responder_remove(responder, &own) == NULL);
	CHECK_EQUAL(answers_to(tagged_request), 0);
	CHECK_EQUAL(responder_host(responder).nb_addresses, 0);
}

/* A port that had none, with a link-local one that comes and goes with its IPv6 address. */
static void the_other_port_gets_addresses(void)
{
	const struct host_address own = own_of("fd00::2/64", NULL, (struct host_tags){7, 0});
	struct responder *responder = responders[1];

	CHECK(responder_set(responder, &own, 1) == NULL);
	CHECK_EQUAL(responder_host(responder).nb_addresses, 2);
	CHECK(responder->pool != NULL);
	CHECK(responder_remove(responder, &own) == NULL);
	CHECK_EQUAL(responder_host(responder).nb_addresses, 0);
	for (unsigned i = 0; i < 16; i++) {
		struct host_address many =
			own_of("10.0.0.1/24", NULL, (struct host_tags){(uint16_t)(i + 1), 0});

		CHECK(responder_add(responder, &many, 1) == NULL);
	}
	CHECK(strstr(responder_add(responder, &own, 1), "16 addresses") != NULL);
	CHECK(responder_remove(responder, NULL) == NULL);
	CHECK_EQUAL(responder_host(responder).nb_addresses, 0);
}

struct pinged {
	const char *destination;
	const char *resolution; /* the answer to the request that goes first */
	const char *request, *answer;
	enum ping_result result;
	const char *why; /* part of it; NULL: pinged */
	bool done;
	const char *reason;
	struct ping_reply reply;
	char text[RESOLVE_WHY_BYTES];
};

static void *ping_it(void *argument)
{
	struct pinged *pinged = argument;
	const char *end = pinged->destination + strlen(pinged->destination);
	struct ping_order order = {
		.port = port_at(0), .bytes = 100, .ttl = 64, .count = 1, .timeout_ms = 100};
	struct resolved hop;

	address_read(pinged->destination, end, &order.destination);
	pinged->reason = ping(&order, &pinged->reply, &hop, pinged->text);
	__atomic_store_n(&pinged->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void run_ping(struct pinged *pinged)
{
	pthread_t thread;

	forget();
	CHECK(pthread_create(&thread, NULL, ping_it, pinged) == 0);
	while (!__atomic_load_n(&pinged->done, __ATOMIC_ACQUIRE)) {
		tester_walk();
		if (pinged->resolution != NULL && nb_came == 1 && nb_goes == 0)
			give(pinged->resolution);
		if (pinged->answer != NULL && nb_came == 2 && nb_goes == 1)
			give(pinged->answer);
	}
	pthread_join(thread, NULL);
	CHECK((pinged->why == NULL) == (pinged->reason == NULL));
	if (pinged->why != NULL) {
		CHECK(pinged->reason != NULL && strstr(pinged->reason, pinged->why) != NULL);
		return;
	}
	CHECK_EQUAL(nb_came, 2);
	/* The identifier counts up with each ping: the first one's is that of the frames. */
	CHECK(came[1].length == frame_of(pinged->request).length);
	CHECK_EQUAL(pinged->reply.result, pinged->result);
	CHECK((pinged->reply.rtt_ns > 0) == (pinged->result != PING_NO_ANSWER));
}

/* One case, one process: identifiers begin with 1. */
static void ping_case(struct pinged pinged, bool exact)
{
	const struct host_address own =
		own_of("10.0.20.2/24", "10.0.20.1", (struct host_tags){10, 20});

	CHECK(responder_add(responders[0], &own, 1) == NULL);
	run_ping(&pinged);
	CHECK(!exact || same(&came[1], pinged.request));
	CHECK(pinged.resolution != its_tagged_reply || same(&came[0], our_tagged_request));
}

static void a_ping_is_answered(void)
{
	uint64_t other = tester_other();

	ping_case((struct pinged){.destination = "99.0.0.9",
			  .resolution = its_tagged_reply,
			  .request = our_echo,
			  .answer = echo_reply,
			  .result = PING_ANSWERED},
		true);
	CHECK_EQUAL(tester_other(), other);
	CHECK_EQUAL(responders[0]->counters.heard[HOST_ECHO_REPLY], 1);
	/* It comes again: no one waits for it. */
	give(echo_reply);
	tester_walk();
	CHECK_EQUAL(tester_other(), other + 1);
}

static void another_ping_is_not(void)
{
	uint64_t other = tester_other();

	ping_case((struct pinged){.destination = "99.0.0.9",
			  .resolution = its_tagged_reply,
			  .request = our_echo,
			  .answer = other_reply,
			  .result = PING_NO_ANSWER},
		true);
	CHECK_EQUAL(tester_other(), other + 1);
}

static void a_ping_is_refused(void)
{
	ping_case((struct pinged){.destination = "99.0.0.9",
			  .resolution = its_tagged_reply,
			  .request = our_echo,
			  .answer = unreachable,
			  .result = PING_UNREACHABLE},
		true);
}

static void a_ping_exceeds_its_ttl(void)
{
	ping_case((struct pinged){.destination = "99.0.0.9",
			  .resolution = its_tagged_reply,
			  .request = our_echo,
			  .answer = exceeded,
			  .result = PING_EXCEEDED},
		true);
}

static void a_ping6_is_answered(void)
{
	ping_case((struct pinged){.destination = "fd00::1",
			  .resolution = box_advertisement,
			  .request = our_echo6,
			  .answer = echo_reply6,
			  .result = PING_ANSWERED},
		true);
}

static void a_ping6_is_refused(void)
{
	ping_case((struct pinged){.destination = "fd00::1",
			  .resolution = box_advertisement,
			  .request = our_echo6,
			  .answer = unreachable6,
			  .result = PING_UNREACHABLE},
		true);
}

static void a_ping_has_no_way(void)
{
	ping_case((struct pinged){.destination = "99.0.0.9", .why = "no answer to 3 ARP requests"},
		false);
	run_ping(&(struct pinged){.destination = "2001:db8::9", .why = "no gateway"});
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
		ADDRESSES(OF_E1("\"address\": \"10.0.9.1/24\", \"gateway\": \"10.0.9.254\"")),
		ADDRESSES(OF_E1("\"address\": \"10.0.0.1/24\", \"vlan\": 5, \"inner_vlan\": 7")),
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
		ADDRESSES(OF_E1("\"address\": \"10.0.0.3/24\", \"router\": \"10.0.0.1\"")),
		ADDRESSES(OF_E1("\"address\": \"10.0.0.3/24\", \"gateway\": \"10.0.0.\"")),
		ADDRESSES(OF_E1("\"address\": \"10.0.0.3/24\", \"gateway\": \"fe80::1\"")),
		ADDRESSES(OF_E1("\"address\": \"10.0.0.3/24\", \"gateway\": \"10.0.0.3\"")),
		ADDRESSES(OF_E1("\"address\": \"10.0.0.4/24\", \"inner_vlan\": 7")),
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
	{"addresses change", addresses_change, STREAMS},
	{"the other port gets addresses", the_other_port_gets_addresses, STREAMS},
	{"a ping is answered", a_ping_is_answered, STREAMS},
	{"another ping is not", another_ping_is_not, STREAMS},
	{"a ping is refused", a_ping_is_refused, STREAMS},
	{"a ping exceeds its TTL", a_ping_exceeds_its_ttl, STREAMS},
	{"an IPv6 ping is answered", a_ping6_is_answered, STREAMS},
	{"an IPv6 ping is refused", a_ping6_is_refused, STREAMS},
	{"a ping has no way", a_ping_has_no_way, STREAMS},
	{"none is asked in a trial", none_is_asked_in_a_trial, STREAMS},
};
TESTER_MAIN(cases)
