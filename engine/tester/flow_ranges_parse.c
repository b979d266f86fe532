/* SPDX-License-Identifier: BSD-3-Clause */
/* From "flows" to ranges. */
#include "stream.h"

#include <math.h>
#include <rte_byteorder.h>
#include <stdlib.h>
#include <string.h>

#define EXPONENT_MAX 4.0
/* As many as a router that knows a /24 can reach. */
#define USUAL_ADDRESSES 254u

static const char *const names[FLOW_RANGES] = {
	[FLOW_SRC] = "src",
	[FLOW_DST] = "dst",
	[FLOW_SRC_PORT] = "src_port",
	[FLOW_DST_PORT] = "dst_port",
};

static const char *const range_keys[] = {"min", "max", NULL};

static uint32_t word_at(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return rte_be_to_cpu_32(word);
}

static struct flow_range range_of(const struct config_node *node, uint32_t min, uint32_t max)
{
	if (min > max || max - min >= INT32_MAX) {
		config_mistake(node, "min is above max, or further than 2^31 below it");
		max = min;
	}
	return (struct flow_range){.min = min, .values = max - min + 1};
}

/* Default ranges start with the template's value. */
static struct flow_range usual_range(uint32_t min, uint32_t values, uint32_t max)
{
	return (struct flow_range){.min = min, .values = RTE_MIN(values - 1, max - min) + 1};
}

static struct flow_range range_ip4(const struct config_node *node, const uint8_t *address)
{
	uint32_t min = word_at(address), max = min;

	if (!config_is_object(node))
		return usual_range(min, USUAL_ADDRESSES, UINT32_MAX);
	config_known_keys(node, range_keys);
	config_ip4(node, "min", &min);
	config_ip4(node, "max", &max);
	return range_of(node, min, max);
}

/* The last 32 bits vary, the others are the template's. */
static struct flow_range range_ip6(const struct config_node *node, const uint8_t *address)
{
	uint32_t values[2] = {word_at(address + 12), word_at(address + 12)};

	if (!config_is_object(node))
		return usual_range(values[0], USUAL_ADDRESSES, UINT32_MAX);
	config_known_keys(node, range_keys);
	for (unsigned i = 0; i < 2; i++) {
		struct config_node end = config_child(node, range_keys[i]);
		struct in6_addr given;

		if (!config_ip6(node, range_keys[i], &given))
			continue;
		values[i] = word_at(&given.s6_addr[12]);
		if (memcmp(given.s6_addr, address, 12) != 0)
			config_mistake(
				&end, "may differ from the template's address in its last 32 bits");
	}
	return range_of(node, values[0], values[1]);
}

static struct flow_range range_port(
	const struct config_node *node, uint16_t port, uint32_t usual_values)
{
	if (!config_is_object(node))
		return usual_range(port, usual_values, UINT16_MAX);
	config_known_keys(node, range_keys);
	return range_of(node, (uint32_t)config_u64(node, "min", port, 0, UINT16_MAX),
		(uint32_t)config_u64(node, "max", port, 0, UINT16_MAX));
}

static void swap_bytes(uint8_t *one, uint8_t *other, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++) {
		uint8_t byte = one[i];

		one[i] = other[i];
		other[i] = byte;
	}
}

/* Ranges and offsets; the template of a mirror is turned round. */
static void parse_ranges(struct flows *flows, struct stream *stream, const struct config_node *node)
{
	uint8_t *ip = stream->header + stream->l3_offset, *l4 = stream->header + stream->l4_offset;
	struct config_node given[FLOW_RANGES];
	bool ip4 = ip[0] >> 4 == 4;
	unsigned bytes = ip4 ? 4 : 16;
	uint8_t *src = ip + (ip4 ? 12 : 8), *dst = src + bytes;
	uint16_t first = (uint16_t)(src + bytes - 4 - stream->header);

	for (unsigned i = 0; i < FLOW_RANGES; i++) {
		given[i] = config_child(node, names[i]);
		flows->ranges[i] = (struct flow_range){.min = 0, .values = 1};
	}
	flows->ranges[FLOW_SRC] =
		ip4 ? range_ip4(&given[FLOW_SRC], src) : range_ip6(&given[FLOW_SRC], src);
	flows->ranges[FLOW_DST] =
		ip4 ? range_ip4(&given[FLOW_DST], dst) : range_ip6(&given[FLOW_DST], dst);
	flows->src_at = (uint16_t)(first + (flows->mirror ? bytes : 0));
	flows->dst_at = (uint16_t)(first + (flows->mirror ? 0 : bytes));
	if (flows->mirror)
		swap_bytes(src, dst, bytes);
	if (stream->l4_offset == 0) {
		for (unsigned i = FLOW_SRC_PORT; i < FLOW_RANGES; i++)
			if (given[i].json != NULL)
				config_mistake(&given[i], "the template has no ports");
		return;
	}
	flows->ports = true;
	flows->ports_at = stream->l4_offset;
	flows->ranges[FLOW_SRC_PORT] =
		range_port(&given[FLOW_SRC_PORT], (uint16_t)(l4[0] << 8 | l4[1]), UINT16_MAX + 1u);
	flows->ranges[FLOW_DST_PORT] =
		range_port(&given[FLOW_DST_PORT], (uint16_t)(l4[2] << 8 | l4[3]), 1);
	if (flows->mirror)
		swap_bytes(l4, l4 + 2, 2);
}

/* Number of flows that the ranges hold, as far as numbers go. */
static uint32_t room(const struct flows *flows)
{
	uint64_t product = 1;

	for (unsigned i = 0; i < FLOW_RANGES; i++)
		product = RTE_MIN(product * flows->ranges[i].values, (uint64_t)INT32_MAX);
	return (uint32_t)product;
}

static void parse_count(struct flows *flows, const struct config_node *node)
{
	struct config_node count = config_child(node, "count");
	struct config_node renewal = config_child(node, "new_per_s");
	uint32_t most = room(flows);

	flows->count = (uint32_t)config_u64(node, "count", 1, 1,
		flows->order == FLOWS_INCREMENT ? FLOWS_IN_TURN_MAX : FLOWS_MAX);
	flows->set = flows->count;
	flows->stride = 1;
	if (flows->count > most)
		config_mistake(&count, "the ranges of addresses and ports hold %u flows", most);
	flows->renewal.new_per_s = config_number(node, "new_per_s", 0, 0, 1e9);
	flows->renewal.generations = most / flows->count;
	if (flows->renewal.new_per_s > 0 && flows->renewal.generations < 2)
		config_mistake(&renewal,
			"the ranges of addresses and ports hold %u flows: none is left to be new",
			most);
}

static void parse_order(struct flows *flows, const struct config_node *node)
{
	static const char *const orders[] = {"increment", "uniform", "zipf", NULL};
	struct config_node exponent = config_child(node, "zipf_exponent");

	flows->order = (enum flows_order)config_choice(node, "order", orders, FLOWS_INCREMENT);
	flows->exponent = config_number(node, "zipf_exponent", 1, 0, EXPONENT_MAX);
	if (exponent.json != NULL && flows->order != FLOWS_ZIPF)
		config_mistake(&exponent, "is of \"order\": \"zipf\"");
}

static bool overlaps(const struct modifier *modifier, unsigned at)
{
	unsigned bytes = modifier->kind == MODIFIER_U32 ? 4 : 2;

	return modifier->offset < at + 4 && at < modifier->offset + bytes;
}

static void check_modifiers(
	const struct flows *flows, const struct stream *stream, const struct config_node *node)
{
	for (unsigned i = 0; i < stream->nb_modifiers; i++) {
		const struct modifier *modifier = &stream->modifiers[i];

		if (overlaps(modifier, flows->src_at) || overlaps(modifier, flows->dst_at) ||
			(flows->ports && overlaps(modifier, flows->ports_at)))
			config_mistake(node, "modifiers.%u varies a field of the flows", i);
	}
}

struct flows *stream_parse_flows(struct stream *stream, const struct config_node *node)
{
	struct flows *flows;

	if (!config_object(node, "count", "order", "zipf_exponent", "new_per_s", "mirror", "seed",
		    "src", "dst", "src_port", "dst_port"))
		return NULL;
	if (stream->l3_offset == 0) {
		config_mistake(node, "the template has no IP header for flows");
		return NULL;
	}
	flows = flows_new();
	if (flows == NULL)
		return NULL;
	flows->mirror = config_bool(node, "mirror", false);
	/* Multiplied, so that neighbouring seeds draw other numbers and not the same ones sooner.
	 */
	flows->seed = (uint32_t)config_u64(node, "seed", 1, 0, UINT32_MAX) * 0x9e3779b1u;
	flows->draw = flows_draw_select();
	parse_order(flows, node);
	parse_ranges(flows, stream, node);
	parse_count(flows, node);
	check_modifiers(flows, stream, node);
	for (unsigned i = 0; i < FLOW_RANGES; i++)
		flows->ranges[i].inverse = nextafter(1.0 / flows->ranges[i].values, 2);
	if (flows->order == FLOWS_ZIPF)
		popularity_create(&flows->popularity, flows->count, flows->exponent);
	return flows;
}
