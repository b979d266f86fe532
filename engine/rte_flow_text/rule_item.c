/* SPDX-License-Identifier: BSD-3-Clause */
/* Items of a pattern: "ipv4 src is 10.0.0.1 dst spec 10.0.0.0 dst prefix 8". */
#include "rule_cause.h"
#include "rule_text.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define ADDRESS_BYTES 64
#define FIELDS_MAX 9
#define BYTE_BITS 8

enum value_kind {
	VALUE_NUMBER, /* most significant bit first */
	VALUE_HOST32,
	VALUE_IP4,
	VALUE_IP6,
	VALUE_MAC,
};

struct field {
	const char *name;
	enum value_kind kind;
	unsigned at, bits; /* in the item's struct */
};

struct item {
	const char *name;
	enum rte_flow_item_type type;
	struct field fields[FIELDS_MAX + 1];
};

/* Fields lie as in the header, which begins each item's struct. */
static const struct item items[] = {
	{"eth", RTE_FLOW_ITEM_TYPE_ETH,
		{{"dst", VALUE_MAC, 0, 48}, {"src", VALUE_MAC, 48, 48},
			{"type", VALUE_NUMBER, 96, 16}}},
	{"vlan", RTE_FLOW_ITEM_TYPE_VLAN,
		{{"tci", VALUE_NUMBER, 0, 16}, {"pcp", VALUE_NUMBER, 0, 3},
			{"dei", VALUE_NUMBER, 3, 1}, {"vid", VALUE_NUMBER, 4, 12},
			{"inner_type", VALUE_NUMBER, 16, 16}}},
	{"mpls", RTE_FLOW_ITEM_TYPE_MPLS,
		{{"label", VALUE_NUMBER, 0, 20}, {"tc", VALUE_NUMBER, 20, 3},
			{"s", VALUE_NUMBER, 23, 1}, {"ttl", VALUE_NUMBER, 24, 8}}},
	{"ipv4", RTE_FLOW_ITEM_TYPE_IPV4,
		{{"version_ihl", VALUE_NUMBER, 0, 8}, {"tos", VALUE_NUMBER, 8, 8},
			{"length", VALUE_NUMBER, 16, 16}, {"id", VALUE_NUMBER, 32, 16},
			{"fragment_offset", VALUE_NUMBER, 48, 16}, {"ttl", VALUE_NUMBER, 64, 8},
			{"proto", VALUE_NUMBER, 72, 8}, {"src", VALUE_IP4, 96, 32},
			{"dst", VALUE_IP4, 128, 32}}},
	{"ipv6", RTE_FLOW_ITEM_TYPE_IPV6,
		{{"tc", VALUE_NUMBER, 4, 8}, {"flow", VALUE_NUMBER, 12, 20},
			{"proto", VALUE_NUMBER, 48, 8}, {"hop", VALUE_NUMBER, 56, 8},
			{"src", VALUE_IP6, 64, 128}, {"dst", VALUE_IP6, 192, 128}}},
	{"udp", RTE_FLOW_ITEM_TYPE_UDP,
		{{"src", VALUE_NUMBER, 0, 16}, {"dst", VALUE_NUMBER, 16, 16}}},
	{"tcp", RTE_FLOW_ITEM_TYPE_TCP,
		{{"src", VALUE_NUMBER, 0, 16}, {"dst", VALUE_NUMBER, 16, 16},
			{"flags", VALUE_NUMBER, 104, 8}}},
	{"sctp", RTE_FLOW_ITEM_TYPE_SCTP,
		{{"src", VALUE_NUMBER, 0, 16}, {"dst", VALUE_NUMBER, 16, 16},
			{"tag", VALUE_NUMBER, 32, 32}, {"cksum", VALUE_NUMBER, 64, 32}}},
	{"icmp", RTE_FLOW_ITEM_TYPE_ICMP,
		{{"type", VALUE_NUMBER, 0, 8}, {"code", VALUE_NUMBER, 8, 8},
			{"ident", VALUE_NUMBER, 32, 16}, {"seq", VALUE_NUMBER, 48, 16}}},
	{"icmp6", RTE_FLOW_ITEM_TYPE_ICMP6,
		{{"type", VALUE_NUMBER, 0, 8}, {"code", VALUE_NUMBER, 8, 8}}},
	{"any", RTE_FLOW_ITEM_TYPE_ANY, {{"num", VALUE_HOST32, 0, 32}}},
	{"void", RTE_FLOW_ITEM_TYPE_VOID, {{0}}},
};

const char *rule_item_name(enum rte_flow_item_type type)
{
	for (unsigned i = 0; i < RTE_DIM(items); i++)
		if (items[i].type == type)
			return items[i].name;
	return type == RTE_FLOW_ITEM_TYPE_END ? "end" : "?";
}

/* Value given to a field, in the order of an item's three headers. */
enum field_part { PART_SPEC, PART_LAST, PART_MASK, PART_IS, PART_PREFIX, PARTS };
static const char *const part_words[PARTS] = {
	[PART_SPEC] = "spec",
	[PART_LAST] = "last",
	[PART_MASK] = "mask",
	[PART_IS] = "is",
	[PART_PREFIX] = "prefix",
};

static void set_bits(uint8_t *bytes, unsigned at, unsigned bits, uint64_t value)
{
	for (unsigned i = 0; i < bits; i++) {
		unsigned bit = at + bits - 1 - i;
		uint8_t one = (uint8_t)(0x80u >> bit % BYTE_BITS);

		if (value >> i & 1)
			bytes[bit / BYTE_BITS] |= one;
		else
			bytes[bit / BYTE_BITS] &= (uint8_t)~one;
	}
}

/* The first `ones` bits of the field are set, the others not. */
static void set_prefix(uint8_t *bytes, const struct field *field, unsigned ones)
{
	uint32_t word = UINT32_MAX;

	if (field->kind == VALUE_HOST32) {
		word = ones == 0 ? 0 : word << (field->bits - ones);
		memcpy(bytes, &word, sizeof(word));
		return;
	}
	for (unsigned i = 0; i < field->bits; i++)
		set_bits(bytes, field->at + i, 1, i < ones);
}

static bool scan_address(
	struct rule_scan *scan, const struct field *field, uint8_t *bytes, const char *expected)
{
	uint8_t *to = bytes + field->at / BYTE_BITS;
	struct rte_ether_addr mac;
	char text[ADDRESS_BYTES];
	bool good;

	snprintf(text, sizeof(text), "%.*s", (int)RTE_MIN(scan->length, sizeof(text) - 1),
		scan->word);
	if (field->kind == VALUE_MAC)
		good = rte_ether_unformat_addr(text, &mac) == 0;
	else
		good = inet_pton(field->kind == VALUE_IP4 ? AF_INET : AF_INET6, text, to) == 1;
	if (!good || scan->length >= sizeof(text))
		return rule_scan_wrong(scan, "expected %s", expected);
	if (field->kind == VALUE_MAC)
		memcpy(to, &mac, sizeof(mac));
	rule_scan_next(scan);
	return true;
}

static bool scan_value(struct rule_scan *scan, const struct field *field, uint8_t *bytes)
{
	uint64_t value;
	uint32_t word;

	switch (field->kind) {
	case VALUE_IP4:
		return scan_address(scan, field, bytes, "an IPv4 address");
	case VALUE_IP6:
		return scan_address(scan, field, bytes, "an IPv6 address");
	case VALUE_MAC:
		return scan_address(scan, field, bytes, "a MAC address, as 02:00:00:00:00:01");
	case VALUE_NUMBER:
	case VALUE_HOST32:
		break;
	}
	/* Values of 64 bits are none of the fields'. */
	if (!rule_scan_number(scan, ((uint64_t)1 << (field->bits & 63)) - 1, &value))
		return false;
	word = (uint32_t)value;
	if (field->kind == VALUE_HOST32)
		memcpy(bytes, &word, sizeof(word));
	else
		set_bits(bytes, field->at, field->bits, value);
	return true;
}

/* The item's header of that kind, which from now on counts. */
static uint8_t *header(struct rule_text *rule, enum field_part part)
{
	struct rte_flow_item *item = &rule->pattern[rule->nb_items];
	union rule_header *header = &rule->headers[rule->nb_items][part];
	const void **pointers[] = {&item->spec, &item->last, &item->mask};

	*pointers[part] = header;
	return (uint8_t *)header;
}

static bool scan_field(struct rule_scan *scan, struct rule_text *rule, const struct field *field)
{
	int part = rule_scan_choice(scan, part_words, PARTS, sizeof(part_words[0]), "");
	uint64_t ones;

	switch (part) {
	case PART_IS:
		set_prefix(header(rule, PART_MASK), field, field->bits);
		return scan_value(scan, field, header(rule, PART_SPEC));
	case PART_SPEC:
	case PART_LAST:
	case PART_MASK:
		return scan_value(scan, field, header(rule, (enum field_part)part));
	case PART_PREFIX:
		if (!rule_scan_number(scan, field->bits, &ones))
			return false;
		set_prefix(header(rule, PART_MASK), field, (unsigned)ones);
		return true;
	default:
		return false;
	}
}

bool rule_item_parse(struct rule_scan *scan, struct rule_text *rule)
{
	const struct item *item;
	unsigned count = 0;
	int chosen;

	if (rule->nb_items == RULE_ITEMS_MAX)
		return rule_scan_wrong(scan, "at most %d items", RULE_ITEMS_MAX);
	chosen = rule_scan_choice(scan, items, RTE_DIM(items), sizeof(items[0]), " or end");
	if (chosen < 0)
		return false;
	item = &items[chosen];
	while (item->fields[count].name != NULL)
		count++;
	rule->pattern[rule->nb_items].type = item->type;
	while (!rule_scan_take(scan, "/")) {
		int field = rule_scan_choice(scan, item->fields, count, sizeof(item->fields[0]),
			count == 0 ? "/" : " or /");

		if (field < 0 || !scan_field(scan, rule, &item->fields[field]))
			return false;
	}
	rule->nb_items++;
	return true;
}
