/* SPDX-License-Identifier: BSD-3-Clause */
/* The card's flow table: what it refuses, what it finds, against a list; and rules that come and
 * go while frames are looked up. */
#include "card/card_flow_rules.h"
#include "core/rcu.h"
#include "test.h"
#include "eal.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#define FRAMES 256
#define FLOWS 600
#define ROUNDS 4000

/* A flow by number: every protocol, both versions. */
struct flow {
	uint8_t version, protocol;
	uint32_t source, destination;
	uint16_t ports[2];
};

static struct flow flow_of(unsigned number)
{
	static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, IPPROTO_ICMP};
	struct flow flow = {
		.version = number % 5 == 0 ? 6 : 4,
		.protocol = protocols[number % 4],
		.source = 0x0a000000 + number / 7,
		.destination = 0x0b000000 + number % 7,
		.ports = {(uint16_t)(1024 + number), 53},
	};

	if (flow.protocol == IPPROTO_ICMP) {
		flow.version = 4;
		flow.ports[0] = 8 << 8;
		flow.ports[1] = 0;
		flow.source = 0x0c000000 + number;
	}
	return flow;
}

static void address6(uint8_t out[16], uint32_t number)
{
	memset(out, 0, 16);
	out[0] = 0x20;
	for (unsigned i = 0; i < 4; i++)
		out[12 + i] = (uint8_t)(number >> (24 - 8 * i));
}

/* A rule in rte_flow's words. */
struct words {
	struct rte_flow_attr attr;
	struct rte_flow_item_vlan vlan;
	struct rte_flow_item_ipv4 ip4;
	struct rte_flow_item_ipv6 ip6;
	struct rte_flow_item_tcp tcp;
	struct rte_flow_item_udp udp;
	struct rte_flow_item_sctp sctp;
	struct rte_flow_item_icmp icmp;
	struct rte_flow_action_mark mark;
	struct rte_flow_action_queue queue;
	struct rte_flow_item pattern[6];
	struct rte_flow_action actions[5];
};

static void add_l4(struct words *words, const struct flow *flow, struct rte_flow_item *item)
{
	rte_be16_t source = rte_cpu_to_be_16(flow->ports[0]);
	rte_be16_t destination = rte_cpu_to_be_16(flow->ports[1]);

	switch (flow->protocol) {
	case IPPROTO_TCP:
		words->tcp.hdr.src_port = source;
		words->tcp.hdr.dst_port = destination;
		*item = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_TCP, .spec = &words->tcp};
		break;
	case IPPROTO_UDP:
		words->udp.hdr.src_port = source;
		words->udp.hdr.dst_port = destination;
		*item = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &words->udp};
		break;
	case IPPROTO_SCTP:
		words->sctp.hdr.src_port = source;
		words->sctp.hdr.dst_port = destination;
		*item = (struct rte_flow_item){
			.type = RTE_FLOW_ITEM_TYPE_SCTP, .spec = &words->sctp};
		break;
	default:
		words->icmp.hdr.icmp_type = (uint8_t)(flow->ports[0] >> 8);
		words->icmp.hdr.icmp_code = (uint8_t)flow->ports[0];
		*item = (struct rte_flow_item){
			.type = RTE_FLOW_ITEM_TYPE_ICMP, .spec = &words->icmp};
	}
}

static void say(struct words *words, const struct flow *flow, uint32_t mark)
{
	memset(words, 0, sizeof(*words));
	words->attr.ingress = 1;
	words->pattern[0].type = RTE_FLOW_ITEM_TYPE_ETH;
	if (flow->version == 4) {
		words->ip4.hdr.src_addr = rte_cpu_to_be_32(flow->source);
		words->ip4.hdr.dst_addr = rte_cpu_to_be_32(flow->destination);
		words->pattern[1] = (struct rte_flow_item){
			.type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &words->ip4};
	} else {
		address6((uint8_t *)&words->ip6.hdr.src_addr, flow->source);
		address6((uint8_t *)&words->ip6.hdr.dst_addr, flow->destination);
		words->pattern[1] = (struct rte_flow_item){
			.type = RTE_FLOW_ITEM_TYPE_IPV6, .spec = &words->ip6};
	}
	add_l4(words, flow, &words->pattern[2]);
	words->mark.id = mark;
	words->actions[0] =
		(struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &words->mark};
	words->actions[1] =
		(struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &words->queue};
}

/* The same with a VLAN item, as the pattern's second. */
static void say_vlan(struct words *words, const struct flow *flow, uint32_t mark)
{
	say(words, flow, mark);
	memmove(&words->pattern[2], &words->pattern[1], 2 * sizeof(words->pattern[0]));
	words->pattern[1] = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_VLAN};
}

/* Returns the frame's length. */
static unsigned build(uint8_t *frame, const struct flow *flow, int vlan)
{
	unsigned at = 12;

	memset(frame, 0, 128);
	if (vlan >= 0) {
		frame[at] = 0x81;
		frame[at + 2] = (uint8_t)(0x60 | vlan >> 8); /* with a priority */
		frame[at + 3] = (uint8_t)vlan;
		at += 4;
	}
	frame[at] = flow->version == 4 ? 0x08 : 0x86;
	frame[at + 1] = flow->version == 4 ? 0x00 : 0xdd;
	at += 2;
	if (flow->version == 4) {
		rte_be32_t addresses[] = {
			rte_cpu_to_be_32(flow->source), rte_cpu_to_be_32(flow->destination)};

		frame[at] = 0x46; /* with an option */
		frame[at + 9] = flow->protocol;
		memcpy(frame + at + 12, addresses, 8);
		at += 24;
	} else {
		frame[at] = 0x60;
		frame[at + 6] = flow->protocol;
		address6(frame + at + 8, flow->source);
		address6(frame + at + 24, flow->destination);
		at += 40;
	}
	frame[at] = (uint8_t)(flow->ports[0] >> 8);
	frame[at + 1] = (uint8_t)flow->ports[0];
	frame[at + 2] = (uint8_t)(flow->ports[1] >> 8);
	frame[at + 3] = (uint8_t)flow->ports[1];
	return RTE_MAX(at + 8, 60u);
}

static uint8_t frames[FRAMES][128];
static struct rte_mbuf mbufs[FRAMES], *vector[FRAMES];

static void put(unsigned at, const struct flow *flow, int vlan)
{
	mbufs[at] = (struct rte_mbuf){.buf_addr = frames[at]};
	mbufs[at].data_len = (uint16_t)build(frames[at], flow, vlan);
	vector[at] = &mbufs[at];
}

static struct card card = {.nb_queues = 4};
static struct card_port port = {.card = &card};

static void table(uint32_t capacity, uint32_t guaranteed)
{
	card.flow_limits = (struct card_flow_limits){
		.capacity = capacity, .guaranteed = guaranteed, .refuse = "none", .ignore = "none"};
	card_flow_table_free(port.flow_table);
	port.flow_table = card_flow_table_create(&card.flow_limits);
	CHECK(port.flow_table != NULL);
}

static int refused_as(struct words *words)
{
	struct rte_flow_error error = {0};
	int rc = card_flow_validate(&port, &words->attr, words->pattern, words->actions, &error);

	CHECK((rc == 0) == (error.message == NULL));
	return rc == 0 ? RTE_FLOW_ERROR_TYPE_NONE : (int)error.type;
}

#define CHECK_REFUSED(number, change, wanted) \
	do { \
		struct flow flow_ = flow_of(number); \
		struct words words; \
		say(&words, &flow_, 7); \
		change; \
		CHECK_EQUAL(refused_as(&words), wanted); \
	} while (0)

/* 1: UDP, 4: TCP, both over IPv4; 5: IPv6; 3: ICMP. */
static void refuses_by_type(void)
{
	struct rte_flow_item_ipv4 some = {.hdr.src_addr = RTE_BE32(0xffffff00)};
	struct rte_flow_item_ipv4 tos = rte_flow_item_ipv4_mask;
	struct rte_flow_item_eth mac = {0};
	uint16_t queues[] = {0, 9};
	struct rte_flow_action_rss rss = {.queue_num = 2, .queue = queues};

	table(64, 64);
	tos.hdr.type_of_service = 0xff;
	for (unsigned i = 1; i < 9; i++)
		CHECK_REFUSED(i, (void)0, RTE_FLOW_ERROR_TYPE_NONE);
	CHECK_REFUSED(1, words.attr.egress = 1, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS);
	CHECK_REFUSED(1, words.attr.transfer = 1, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER);
	CHECK_REFUSED(1, words.attr.ingress = 0, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS);
	CHECK_REFUSED(1, words.attr.group = 1, RTE_FLOW_ERROR_TYPE_ATTR_GROUP);
	CHECK_REFUSED(1, words.attr.priority = 1, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY);
	CHECK_REFUSED(1, words.pattern[0].spec = &mac, RTE_FLOW_ERROR_TYPE_ITEM_MASK);
	CHECK_REFUSED(1, words.pattern[1].mask = &some, RTE_FLOW_ERROR_TYPE_ITEM_MASK);
	CHECK_REFUSED(1, words.pattern[1].mask = &tos, RTE_FLOW_ERROR_TYPE_ITEM_MASK);
	CHECK_REFUSED(1, words.pattern[1].last = &some, RTE_FLOW_ERROR_TYPE_ITEM_LAST);
	CHECK_REFUSED(1, words.pattern[1].spec = NULL, RTE_FLOW_ERROR_TYPE_ITEM);
	CHECK_REFUSED(1, words.pattern[2].spec = NULL, RTE_FLOW_ERROR_TYPE_ITEM);
	CHECK_REFUSED(1, words.pattern[2].type = RTE_FLOW_ITEM_TYPE_END, RTE_FLOW_ERROR_TYPE_ITEM);
	CHECK_REFUSED(1, words.pattern[0].type = RTE_FLOW_ITEM_TYPE_MPLS, RTE_FLOW_ERROR_TYPE_ITEM);
	CHECK_REFUSED(1, words.pattern[0].type = RTE_FLOW_ITEM_TYPE_VOID, RTE_FLOW_ERROR_TYPE_NONE);
	CHECK_REFUSED(1, words.queue.index = 4, RTE_FLOW_ERROR_TYPE_ACTION_CONF);
	CHECK_REFUSED(1, words.actions[0].conf = NULL, RTE_FLOW_ERROR_TYPE_ACTION_CONF);
	CHECK_REFUSED(
		1, words.actions[0].type = RTE_FLOW_ACTION_TYPE_JUMP, RTE_FLOW_ERROR_TYPE_ACTION);
	CHECK_REFUSED(
		1, words.actions[2].type = RTE_FLOW_ACTION_TYPE_DROP, RTE_FLOW_ERROR_TYPE_ACTION);
	CHECK_REFUSED(1, words.actions[0].type = RTE_FLOW_ACTION_TYPE_END,
		RTE_FLOW_ERROR_TYPE_ACTION_NUM);
	CHECK_REFUSED(1,
		words.actions[1] =
			((struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss}),
		RTE_FLOW_ERROR_TYPE_ACTION_CONF);
	snprintf(card.flow_limits.refuse, sizeof(card.flow_limits.refuse), "tcp");
	CHECK_REFUSED(4, (void)0, RTE_FLOW_ERROR_TYPE_ITEM);
	CHECK_REFUSED(1, (void)0, RTE_FLOW_ERROR_TYPE_NONE);
	snprintf(card.flow_limits.refuse, sizeof(card.flow_limits.refuse), "mark");
	CHECK_REFUSED(1, (void)0, RTE_FLOW_ERROR_TYPE_ACTION);
	snprintf(card.flow_limits.refuse, sizeof(card.flow_limits.refuse), "all");
	CHECK_REFUSED(1, (void)0, RTE_FLOW_ERROR_TYPE_UNSPECIFIED);
}

static struct rte_flow *create(const struct flow *flow, uint32_t mark)
{
	struct words words;
	struct rte_flow_error error;

	say(&words, flow, mark);
	return card_flow_create(&port, &words.attr, words.pattern, words.actions, &error);
}

static struct card_rule *matched_one(const struct flow *flow, int vlan)
{
	struct card_rule *matched;

	put(0, flow, vlan);
	card_flow_match(port.flow_table, vector, &matched, 1);
	return matched;
}

/* Rules come and go as chance wills; a vector of frames finds those that stand. */
static void agrees_with_a_list(void)
{
	static struct rte_flow *standing[FLOWS];
	struct card_rule *matched[FRAMES];
	unsigned asked[FRAMES];
	struct rte_flow_error error;

	srandom(6);
	table(FLOWS, FLOWS);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned number = (unsigned)random() % FLOWS;
		struct flow flow = flow_of(number);

		if (standing[number] == NULL) {
			standing[number] = create(&flow, number);
			CHECK(standing[number] != NULL);
			CHECK(create(&flow, number) == NULL && rte_errno == EEXIST);
		} else {
			CHECK_EQUAL(card_flow_destroy(&port, standing[number], &error), 0);
			CHECK_EQUAL(card_flow_destroy(&port, standing[number], &error), -ENOENT);
			standing[number] = NULL;
		}
		if (round % 16 != 0)
			continue;
		for (unsigned i = 0; i < FRAMES; i++) {
			asked[i] = (unsigned)random() % FLOWS;
			flow = flow_of(asked[i]);
			put(i, &flow, i % 3 == 0 ? (int)i : -1);
		}
		card_flow_match(port.flow_table, vector, matched, FRAMES);
		for (unsigned i = 0; i < FRAMES; i++) {
			CHECK_EQUAL(matched[i] != NULL, standing[asked[i]] != NULL);
			if (matched[i] != NULL)
				CHECK_EQUAL(matched[i]->mark, asked[i]);
		}
	}
}

static void distinguishes_frames(void)
{
	struct flow flow = flow_of(1), other = flow;

	table(8, 8);
	CHECK(create(&flow, 1) != NULL);
	CHECK(matched_one(&flow, -1) != NULL);
	other.protocol = IPPROTO_TCP;
	CHECK(matched_one(&other, -1) == NULL);
	other = flow;
	other.ports[1]++;
	CHECK(matched_one(&other, -1) == NULL);
	other = flow;
	other.source = flow.destination;
	other.destination = flow.source;
	CHECK(matched_one(&other, -1) == NULL);
	/* Fragments have no ports; what is cut short has none either. */
	put(0, &flow, -1);
	frames[0][14 + 6] = 0x20;
	{
		struct card_rule *matched;

		card_flow_match(port.flow_table, vector, &matched, 1);
		CHECK(matched == NULL);
		put(0, &flow, -1);
		for (uint16_t length = 0; length < 14 + 24 + 4; length++) {
			mbufs[0].data_len = length;
			card_flow_match(port.flow_table, vector, &matched, 1);
			CHECK(matched == NULL);
		}
	}
}

static uint16_t flags_of(const struct flow *flow)
{
	const struct card_rule *rule = matched_one(flow, -1);

	CHECK(rule != NULL);
	return rule == NULL ? UINT16_MAX : rule->flags;
}

/* A card that takes a part of a rule and ignores it. */
static void ignores_what_it_takes(void)
{
	struct flow flow = flow_of(1), other = flow;

	table(8, 8);
	CHECK(create(&flow, 1) != NULL);
	CHECK_EQUAL(flags_of(&flow), CARD_RULE_MARK);
	CHECK_EQUAL(matched_one(&flow, -1)->nb_queues, 1);
	table(8, 8);
	snprintf(card.flow_limits.ignore, sizeof(card.flow_limits.ignore), "mark");
	CHECK(create(&flow, 1) != NULL);
	CHECK_EQUAL(flags_of(&flow), 0);
	CHECK_EQUAL(matched_one(&flow, -1)->nb_queues, 1);
	table(8, 8);
	snprintf(card.flow_limits.ignore, sizeof(card.flow_limits.ignore), "queue");
	CHECK(create(&flow, 1) != NULL);
	CHECK_EQUAL(flags_of(&flow), CARD_RULE_MARK);
	CHECK_EQUAL(matched_one(&flow, -1)->nb_queues, 0);

	other.ports[1]++;
	snprintf(card.flow_limits.ignore, sizeof(card.flow_limits.ignore), "ports");
	card_flow_table_free(port.flow_table);
	port.flow_table = card_flow_table_create(&card.flow_limits);
	CHECK(create(&flow, 1) != NULL);
	CHECK_EQUAL(flags_of(&other), CARD_RULE_MARK);
	other.protocol = IPPROTO_TCP;
	CHECK(matched_one(&other, -1) == NULL);
}

static void vlans_go_first(void)
{
	struct flow flow = flow_of(4);
	struct rte_flow_error error;
	struct words words;

	table(8, 8);
	CHECK(create(&flow, 1) != NULL);
	CHECK_EQUAL(matched_one(&flow, 100)->mark, 1);
	say_vlan(&words, &flow, 2);
	CHECK(card_flow_create(&port, &words.attr, words.pattern, words.actions, &error) != NULL);
	words.vlan.tci = RTE_BE16(100);
	words.pattern[1].spec = &words.vlan;
	words.mark.id = 3;
	CHECK(card_flow_create(&port, &words.attr, words.pattern, words.actions, &error) != NULL);
	CHECK_EQUAL(matched_one(&flow, 100)->mark, 3);
	CHECK_EQUAL(matched_one(&flow, 101)->mark, 2);
	CHECK_EQUAL(matched_one(&flow, 0)->mark, 2);
	CHECK_EQUAL(matched_one(&flow, -1)->mark, 1);
}

static void fills_up(void)
{
	struct rte_flow *first = NULL, *flow;
	unsigned fit = 0, refused = 0;
	struct rte_flow_error error;
	struct flow wanted;

	table(512 + 2048, 512);
	for (unsigned i = 0; i < 512; i++) {
		wanted = flow_of(4 * i);
		flow = create(&wanted, i);
		CHECK(flow != NULL);
		first = i == 0 ? flow : first;
	}
	for (unsigned i = 512; i < 20000 && fit < 2048; i++) {
		wanted = flow_of(4 * i);
		flow = create(&wanted, i);
		fit += flow != NULL;
		refused += flow == NULL;
		if (flow == NULL)
			CHECK_EQUAL(rte_errno, ENOSPC);
		/* Collisions begin long before it is full, but not at once. */
		if (refused == 1 && flow == NULL)
			CHECK(fit > 2048 / 8 && fit < 2048 * 3 / 4);
	}
	CHECK_EQUAL(fit, 2048);
	wanted = flow_of(1);
	CHECK(create(&wanted, 0) == NULL && rte_errno == ENOSPC);
	CHECK_EQUAL(card_flow_destroy(&port, first, &error), 0);
	CHECK(create(&wanted, 0) != NULL);
}

static void reset_takes_all(void)
{
	struct flow flow = flow_of(1);
	struct rte_flow_error error;
	struct rte_flow *old, *again;

	table(8, 0);
	old = create(&flow, 1);
	card_flow_reset(&port);
	CHECK(!card_flow_rules_stand(&port));
	CHECK(matched_one(&flow, -1) == NULL);
	again = create(&flow, 2);
	CHECK(again != NULL && again != old);
	/* The handle from before the reset does no harm. */
	CHECK_EQUAL(card_flow_destroy(&port, old, &error), -ENOENT);
	CHECK_EQUAL(matched_one(&flow, -1)->mark, 2);
	CHECK_EQUAL(card_flow_flush(&port, &error), 0);
	CHECK_EQUAL(card_flow_destroy(&port, again, &error), -ENOENT);
	CHECK_EQUAL(port.flow_table->nb_standing, 0);
	port.flow_table->limits.silent = true;
	CHECK(create(&flow, 3) != NULL);
	CHECK(matched_one(&flow, -1) == NULL);
}

static bool stop;
static uint64_t looked_up, wrong;

/* The worker: what it finds is the rule of that very flow, until it is quiescent. */
static void *look_up(void *argument)
{
	struct card_rule *matched[FRAMES];

	(void)argument;
	rcu_reader_start(0);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		card_flow_match(port.flow_table, vector, matched, FRAMES);
		for (unsigned i = 0; i < FRAMES; i++)
			wrong += matched[i] != NULL && matched[i]->mark != i;
		__atomic_fetch_add(&looked_up, FRAMES, __ATOMIC_RELAXED);
		rcu_quiescent(0);
	}
	rcu_reader_stop(0);
	return NULL;
}

static void publishes_safely(void)
{
	static struct rte_flow *standing[FRAMES];
	struct rte_flow_error error;
	pthread_t worker;

	table(FRAMES, FRAMES);
	for (unsigned i = 0; i < FRAMES; i++) {
		struct flow flow = flow_of(i);

		put(i, &flow, -1);
	}
	CHECK_EQUAL(rcu_start(1), 0);
	CHECK_EQUAL(pthread_create(&worker, NULL, look_up, NULL), 0);
	/* On a busy machine until the worker has looked up a while, too. */
	for (unsigned round = 0;
		round < 20 * ROUNDS || __atomic_load_n(&looked_up, __ATOMIC_RELAXED) < 20 * ROUNDS;
		round++) {
		unsigned i = (unsigned)random() % FRAMES;
		struct flow flow = flow_of(i);

		if (standing[i] == NULL) {
			standing[i] = create(&flow, i);
			CHECK(standing[i] != NULL);
		} else {
			CHECK_EQUAL(card_flow_destroy(&port, standing[i], &error), 0);
			standing[i] = NULL;
		}
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(worker, NULL);
	CHECK_EQUAL(wrong, 0);
}

int main(void)
{
	static const struct test_case cases[] = {
		{"refuses with the type of what it stumbled over", refuses_by_type},
		{"finds what a list finds", agrees_with_a_list},
		{"distinguishes frames", distinguishes_frames},
		{"ignores what it takes", ignores_what_it_takes},
		{"a rule for a VLAN goes first", vlans_go_first},
		{"guaranteed rules fit, others collide", fills_up},
		{"a reset takes all rules", reset_takes_all},
		{"rules come and go while frames are looked up", publishes_safely},
	};

	int code;

	if (!eal_start("64", "--lcores=0@0"))
		return EXIT_FAILURE;
	code = TEST_RUN(cases);
	card_flow_table_free(port.flow_table);
	free(rcu);
	return code;
}
