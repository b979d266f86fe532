/* SPDX-License-Identifier: BSD-3-Clause */
/* testpmd's rule syntax: its translation, and the reported place of a mistake. */
#include "rte_flow_text/rule_text.h"
#include "test.h"

#include <arpa/inet.h>
#include <rte_ethdev.h>

static struct rule_text rule;
static struct rule_mistake mistake;

static void good(const char *text)
{
	if (rule_text_parse(text, &rule, &mistake) != 0)
		fprintf(stderr, "%s\ncolumn %u: %s, not \"%s\"\n", text, mistake.column,
			mistake.message, mistake.word);
	CHECK_EQUAL(mistake.column, 0);
}

static void the_manual_s_example(void)
{
	const struct rte_flow_item_ipv4 *ip4, *mask;
	const struct rte_flow_item_tcp *tcp;

	good("flow create 0 ingress pattern eth / ipv4 src is 10.10.10.30 dst is 10.10.10.10 / "
	     "tcp src is 50560 dst is 102 / end actions queue index 1 / mark id 1 / end");
	CHECK_EQUAL(rule.verb, RULE_CREATE);
	CHECK_EQUAL(rule.port, 0);
	CHECK(rule.attr.ingress && !rule.attr.egress && !rule.attr.transfer);
	CHECK_EQUAL(rule.nb_items, 3);
	CHECK_EQUAL(rule.pattern[0].type, RTE_FLOW_ITEM_TYPE_ETH);
	CHECK(rule.pattern[0].spec == NULL && rule.pattern[0].mask == NULL);
	CHECK_EQUAL(rule.pattern[1].type, RTE_FLOW_ITEM_TYPE_IPV4);
	ip4 = rule.pattern[1].spec;
	mask = rule.pattern[1].mask;
	CHECK_EQUAL(ip4->hdr.src_addr, inet_addr("10.10.10.30"));
	CHECK_EQUAL(ip4->hdr.dst_addr, inet_addr("10.10.10.10"));
	CHECK(memcmp(mask, &rte_flow_item_ipv4_mask, sizeof(*mask)) == 0);
	CHECK(rule.pattern[1].last == NULL);
	tcp = rule.pattern[2].spec;
	CHECK_EQUAL(ntohs(tcp->hdr.src_port), 50560);
	CHECK_EQUAL(ntohs(tcp->hdr.dst_port), 102);
	CHECK_EQUAL(rule.pattern[3].type, RTE_FLOW_ITEM_TYPE_END);
	CHECK_EQUAL(rule.nb_actions, 2);
	CHECK_EQUAL(rule.actions[0].type, RTE_FLOW_ACTION_TYPE_QUEUE);
	CHECK_EQUAL(((const struct rte_flow_action_queue *)rule.actions[0].conf)->index, 1);
	CHECK_EQUAL(((const struct rte_flow_action_mark *)rule.actions[1].conf)->id, 1);
	CHECK_EQUAL(rule.actions[2].type, RTE_FLOW_ACTION_TYPE_END);
}

static void attributes_and_words(void)
{
	good("flow validate 3 group 2 priority 7 egress transfer pattern end actions drop / end");
	CHECK_EQUAL(rule.verb, RULE_VALIDATE);
	CHECK_EQUAL(rule.port, 3);
	CHECK_EQUAL(rule.attr.group, 2);
	CHECK_EQUAL(rule.attr.priority, 7);
	CHECK(!rule.attr.ingress && rule.attr.egress && rule.attr.transfer);
	CHECK_EQUAL(rule.nb_items, 0);
	good("  ingress\tpattern any num is 2 / void / end actions void / flag / passthru / "
	     "jump group 5 / count / count identifier 9 / end \n");
	CHECK_EQUAL(rule.verb, RULE_NO_VERB);
	CHECK_EQUAL(((const struct rte_flow_item_any *)rule.pattern[0].spec)->num, 2);
	CHECK_EQUAL(((const struct rte_flow_item_any *)rule.pattern[0].mask)->num, UINT32_MAX);
	CHECK_EQUAL(rule.nb_actions, 6);
	CHECK(rule.actions[1].conf == NULL);
	CHECK_EQUAL(((const struct rte_flow_action_jump *)rule.actions[3].conf)->group, 5);
	CHECK_EQUAL(((const struct rte_flow_action_count *)rule.actions[5].conf)->id, 9);
}

static void fields_lie_where_they_do(void)
{
	const struct rte_flow_item_eth *eth;
	const struct rte_flow_item_vlan *vlan;
	const struct rte_flow_item_mpls *mpls;
	const struct rte_flow_item_ipv6 *ip6;
	const struct rte_flow_item_tcp *tcp;
	const struct rte_flow_item_icmp *icmp;
	struct in6_addr wanted;

	good("ingress pattern eth dst is 02:00:00:00:0e:01 src is 50:7c:6f:20:30:70 type is 0x8847 "
	     "/ vlan vid is 0x123 pcp is 5 / mpls label is 0xabcde tc is 6 s is 1 ttl is 64 / "
	     "ipv6 tc is 0xb8 flow is 0x12345 proto is 6 hop is 9 src is 2001:db8::1 / "
	     "tcp flags is 0x12 / icmp type is 8 code is 1 ident is 0x1234 seq is 7 / "
	     "icmp6 type is 128 / sctp tag is 1 / udp dst is 53 / end actions drop / end");
	eth = rule.pattern[0].spec;
	CHECK(eth->dst.addr_bytes[5] == 0x01 && eth->src.addr_bytes[0] == 0x50);
	CHECK_EQUAL(eth->type, RTE_BE16(0x8847));
	CHECK_EQUAL(((const struct rte_flow_item_eth *)rule.pattern[0].mask)->type, 0xffff);
	vlan = rule.pattern[1].spec;
	CHECK_EQUAL(vlan->tci, RTE_BE16(0xa123));
	CHECK_EQUAL(
		((const struct rte_flow_item_vlan *)rule.pattern[1].mask)->tci, RTE_BE16(0xefff));
	mpls = rule.pattern[2].spec;
	CHECK(mpls->label_tc_s[0] == 0xab && mpls->label_tc_s[1] == 0xcd &&
		mpls->label_tc_s[2] == 0xed && mpls->ttl == 64);
	ip6 = rule.pattern[3].spec;
	CHECK_EQUAL(ip6->hdr.vtc_flow, RTE_BE32(0x0b812345));
	CHECK(ip6->hdr.proto == 6 && ip6->hdr.hop_limits == 9);
	inet_pton(AF_INET6, "2001:db8::1", &wanted);
	CHECK(memcmp(&ip6->hdr.src_addr, &wanted, 16) == 0);
	tcp = rule.pattern[4].spec;
	CHECK_EQUAL(tcp->hdr.tcp_flags, 0x12);
	icmp = rule.pattern[5].spec;
	CHECK(icmp->hdr.icmp_type == 8 && icmp->hdr.icmp_code == 1);
	CHECK(icmp->hdr.icmp_ident == RTE_BE16(0x1234) && icmp->hdr.icmp_seq_nb == RTE_BE16(7));
	CHECK_EQUAL(((const struct rte_flow_item_icmp6 *)rule.pattern[6].spec)->type, 128);
	CHECK_EQUAL(
		((const struct rte_flow_item_sctp *)rule.pattern[7].spec)->hdr.tag, RTE_BE32(1));
	CHECK_EQUAL(((const struct rte_flow_item_udp *)rule.pattern[8].mask)->hdr.src_port, 0);
}

static void masks_and_ranges(void)
{
	const struct rte_flow_item_ipv4 *spec, *last, *mask;
	const struct rte_flow_item_udp *ports;

	good("ingress pattern ipv4 src spec 10.1.0.0 src prefix 16 dst spec 10.2.0.1 dst last "
	     "10.2.0.9 dst mask 255.0.0.255 / udp src spec 1 src last 0x10 / end actions drop / "
	     "end");
	spec = rule.pattern[0].spec;
	last = rule.pattern[0].last;
	mask = rule.pattern[0].mask;
	CHECK_EQUAL(spec->hdr.src_addr, inet_addr("10.1.0.0"));
	CHECK_EQUAL(mask->hdr.src_addr, inet_addr("255.255.0.0"));
	CHECK_EQUAL(last->hdr.dst_addr, inet_addr("10.2.0.9"));
	CHECK_EQUAL(mask->hdr.dst_addr, inet_addr("255.0.0.255"));
	/* Without a mask the driver uses rte_flow's default. */
	CHECK(rule.pattern[1].mask == NULL);
	ports = rule.pattern[1].last;
	CHECK_EQUAL(ports->hdr.src_port, RTE_BE16(16));
	good("ingress pattern ipv4 src spec 1.2.3.4 src prefix 0 / end actions drop / end");
	CHECK_EQUAL(((const struct rte_flow_item_ipv4 *)rule.pattern[0].mask)->hdr.src_addr, 0);
}

static void rss_lists(void)
{
	const struct rte_flow_action_rss *rss;

	good("ingress pattern eth / end actions rss func toeplitz level 1 types ipv4-tcp ipv6 end "
	     "queues 3 1 2 end / rss / rss queues 4 end / end");
	rss = rule.actions[0].conf;
	CHECK_EQUAL(rss->func, RTE_ETH_HASH_FUNCTION_TOEPLITZ);
	CHECK_EQUAL(rss->level, 1);
	CHECK_EQUAL(rss->types, RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_IPV6);
	CHECK(rss->queue_num == 3 && rss->queue[0] == 3 && rss->queue[2] == 2);
	rss = rule.actions[1].conf;
	CHECK(rss->queue_num == 0 && rss->queue == NULL);
	rss = rule.actions[2].conf;
	CHECK(rss->queue_num == 1 && rss->queue[0] == 4);
}

/* The mistake is where `marker` stands last in the text, and its message has `expected`. */
static void mistaken(const char *text, const char *marker, const char *expected)
{
	const char *at = text + strlen(text);

	while (marker[0] != '\0' && at > text && strncmp(at, marker, strlen(marker)) != 0)
		at--;

	CHECK_EQUAL(rule_text_parse(text, &rule, &mistake), -1);
	CHECK_EQUAL(mistake.column, (unsigned)(at - text) + 1);
	CHECK(strncmp(mistake.word, at, strlen(mistake.word)) == 0);
	if (strstr(mistake.message, expected) == NULL)
		fprintf(stderr, "%s: %s\n", text, mistake.message);
	CHECK(strstr(mistake.message, expected) != NULL);
}

#define BEGIN "ingress pattern eth / "
#define END " / end actions drop / end"

static void mistakes_have_a_place(void)
{
	mistaken("", "", "expected group, priority, ingress, egress, transfer, pattern");
	mistaken("flow destroy 0", "destroy", "expected create or validate");
	mistaken("flow create zero", "zero", "expected a number from 0 to 65535");
	mistaken("ingres pattern", "ingres", "ingress");
	mistaken("priority pattern", "pattern", "a number from 0 to 4294967295");
	mistaken(BEGIN "ipv5 / end", "ipv5", "expected eth, vlan, mpls, ipv4, ipv6");
	mistaken(BEGIN "ipv4 source is 1.2.3.4" END, "source", "src, dst or /");
	mistaken(BEGIN "ipv4 src 1.2.3.4" END, "1.2.3.4", "expected spec, last, mask, is, prefix");
	mistaken(BEGIN "ipv4 src is 10.10.10" END, "10.10.10", "expected an IPv4 address");
	mistaken(BEGIN "ipv6 src is 10.10.10.1" END, "10.10.10.1", "expected an IPv6 address");
	mistaken(BEGIN "ipv4 src prefix 33" END, "33", "expected a number from 0 to 32");
	mistaken("ingress pattern eth dst is 02:00:00:00:0e" END, "02:00", "a MAC address");
	mistaken(BEGIN "tcp src is 65536" END, "65536", "expected a number from 0 to 65535");
	mistaken(BEGIN "vlan vid is 4096" END, "4096", "expected a number from 0 to 4095");
	mistaken(BEGIN "void src is 1" END, "src", "expected /");
	mistaken(BEGIN "udp end actions drop / end", "end actions", "expected src, dst or /");
	mistaken(BEGIN "udp /", "", "or end");
	mistaken(BEGIN "end drop / end", "drop", "expected actions");
	mistaken(BEGIN "end actions mark / end", "/ end", "expected id");
	mistaken(
		BEGIN "end actions mark id x / end", "x", "expected a number from 0 to 4294967295");
	mistaken(BEGIN "end actions quue index 1 / end", "quue", "expected queue, mark, flag");
	mistaken(BEGIN "end actions drop end", "end", "expected");
	mistaken(BEGIN "end actions rss queues 1 / end", "/ end", "expected a number");
	mistaken(BEGIN "end actions drop / end again", "again", "nothing behind");
}

static void bounds(void)
{
	char text[4096];
	size_t length = (size_t)snprintf(text, sizeof(text), "ingress pattern");

	for (unsigned i = 0; i < RULE_ITEMS_MAX; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, " eth /");
	snprintf(text + length, sizeof(text) - length, " end actions drop / end");
	good(text);
	CHECK_EQUAL(rule.nb_items, RULE_ITEMS_MAX);
	snprintf(text + length, sizeof(text) - length, " udp / end actions drop / end");
	mistaken(text, "udp", "at most 16 items");
	length = (size_t)snprintf(text, sizeof(text), "ingress pattern end actions rss queues");
	for (unsigned i = 0; i < RULE_QUEUES_MAX; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, " 1");
	snprintf(text + length, sizeof(text) - length, " end / end");
	good(text);
	snprintf(text + length, sizeof(text) - length, " 2 end / end");
	mistaken(text, "2", "at most 64 queues");
}

static const struct test_case cases[] = {
	{"the example of testpmd's users", the_manual_s_example},
	{"attributes and actions", attributes_and_words},
	{"fields lie where they do in headers", fields_lie_where_they_do},
	{"masks, prefixes and ranges", masks_and_ranges},
	{"rss with its lists", rss_lists},
	{"a mistake has a place and says what was expected", mistakes_have_a_place},
	{"as many items and queues as there is room for", bounds},
};
TEST_MAIN(cases)
