/* SPDX-License-Identifier: BSD-3-Clause */
/* From "modifiers" to offsets and ranges. */
#include "stream.h"

#include <arpa/inet.h>
#include <rte_ip.h>
#include <stdlib.h>
#include <string.h>

enum value_form {
	VALUE_NUMBER,
	VALUE_IP4,
	VALUE_IP6,
	VALUE_MAC,
};

enum field_layer {
	LAYER_ETHERNET,
	LAYER_VLAN,
	LAYER_MPLS,
	LAYER_IPV4,
	LAYER_IPV6,
	LAYER_UDP,
	LAYER_TCP,
};

/* Offsets are from the start of the layer's header; a MAC's last 32 bits, an IPv6 address's
 * first. */
static const struct field {
	const char *name;
	enum field_layer layer;
	uint16_t offset;
	enum modifier_kind kind;
	enum value_form form;
	uint32_t max;
	bool in_l3_checksum, in_l4_checksum;
} fields[] = {
	{"ethernet.dst", LAYER_ETHERNET, 2, MODIFIER_U32, VALUE_MAC, UINT32_MAX, false, false},
	{"ethernet.src", LAYER_ETHERNET, 8, MODIFIER_U32, VALUE_MAC, UINT32_MAX, false, false},
	{"vlan.id", LAYER_VLAN, 0, MODIFIER_VLAN, VALUE_NUMBER, 0xfff, false, false},
	{"mpls.label", LAYER_MPLS, 0, MODIFIER_LABEL, VALUE_NUMBER, 0xfffff, false, false},
	{"ipv4.src", LAYER_IPV4, 12, MODIFIER_U32, VALUE_IP4, UINT32_MAX, true, true},
	{"ipv4.dst", LAYER_IPV4, 16, MODIFIER_U32, VALUE_IP4, UINT32_MAX, true, true},
	{"ipv6.src", LAYER_IPV6, 8, MODIFIER_U32, VALUE_IP6, UINT32_MAX, false, true},
	{"ipv6.dst", LAYER_IPV6, 24, MODIFIER_U32, VALUE_IP6, UINT32_MAX, false, true},
	{"udp.src", LAYER_UDP, 0, MODIFIER_U16, VALUE_NUMBER, 0xffff, false, true},
	{"udp.dst", LAYER_UDP, 2, MODIFIER_U16, VALUE_NUMBER, 0xffff, false, true},
	{"tcp.src", LAYER_TCP, 0, MODIFIER_U16, VALUE_NUMBER, 0xffff, false, true},
	{"tcp.dst", LAYER_TCP, 2, MODIFIER_U16, VALUE_NUMBER, 0xffff, false, true},
};

static uint16_t type_at(const struct stream *stream, unsigned offset)
{
	return (uint16_t)(stream->header[offset] << 8 | stream->header[offset + 1]);
}

/* Where the layer's header starts, or -1 when the template has none. */
static int layer_offset(const struct stream *stream, enum field_layer layer)
{
	unsigned network = 14;
	bool ip = stream->l3_offset != 0;

	if (layer == LAYER_ETHERNET)
		return 0;
	if (layer == LAYER_VLAN)
		return type_at(stream, 12) == RTE_ETHER_TYPE_VLAN ? 14 : -1;
	while (type_at(stream, network - 2) == RTE_ETHER_TYPE_VLAN)
		network += 4;
	if (layer == LAYER_MPLS)
		return type_at(stream, network - 2) == RTE_ETHER_TYPE_MPLS ? (int)network : -1;
	if (layer == LAYER_IPV4)
		return ip && stream->header[stream->l3_offset] >> 4 == 4 ? stream->l3_offset : -1;
	if (layer == LAYER_IPV6)
		return ip && stream->header[stream->l3_offset] >> 4 == 6 ? stream->l3_offset : -1;
	if (stream->l4_offset == 0)
		return -1;
	return (layer == LAYER_UDP) == (stream->l4_checksum_offset == stream->l4_offset + 6)
		       ? stream->l4_offset
		       : -1;
}

static uint32_t value_parse(const struct config_node *node, const char *key,
	const struct field *field, unsigned word, uint32_t fallback)
{
	struct rte_ether_addr mac;
	struct in6_addr ip6;
	uint32_t value = fallback;

	switch (field->form) {
	case VALUE_NUMBER:
		return (uint32_t)config_u64(node, key, fallback, 0, field->max);
	case VALUE_IP4:
		config_ip4(node, key, &value);
		return value;
	case VALUE_IP6:
		if (config_ip6(node, key, &ip6))
			value = ntohl(ip6.s6_addr32[word]);
		return value;
	case VALUE_MAC:
		if (config_mac(node, key, &mac))
			memcpy(&value, &mac.addr_bytes[2], 4), value = ntohl(value);
		return value;
	}
	return fallback;
}

/* The word of an IPv6 address in which min and max differ, the last when none does. */
static unsigned varied_word(const struct config_node *node, const struct field *field)
{
	struct in6_addr min, max;
	unsigned word = 3, differ = 0;

	if (field->form != VALUE_IP6)
		return 0;
	if (!config_ip6(node, "min", &min) || !config_ip6(node, "max", &max))
		return word;
	for (unsigned i = 0; i < 4; i++)
		if (min.s6_addr32[i] != max.s6_addr32[i]) {
			word = i;
			differ++;
		}
	if (differ > 1)
		config_mistake(node, "min and max may differ in 32 bits, aligned to 32 bits");
	return word;
}

/* Bits of the word in the frame that belong to no modifier. */
static uint32_t fixed_bits(const struct stream *stream, const struct modifier *modifier)
{
	const uint8_t *at = stream->header + modifier->offset;

	if (modifier->kind == MODIFIER_LABEL)
		return ((uint32_t)at[2] & 0x0f) << 8 | at[3];
	if (modifier->kind == MODIFIER_VLAN)
		return ((uint32_t)at[0] & 0xf0) << 8;
	return 0;
}

static const struct field *field_find(const struct config_node *node)
{
	const char *name = config_required(node, "field");
	struct config_node key = config_child(node, "field");

	for (unsigned i = 0; i < RTE_DIM(fields); i++)
		if (strcmp(fields[i].name, name) == 0)
			return &fields[i];
	if (name[0] != '\0')
		config_mistake(&key,
			"expected ethernet.src or .dst, vlan.id, mpls.label, ipv4.src or "
			".dst, ipv6.src or .dst, udp.src or .dst, tcp.src or .dst");
	return NULL;
}

static void parse_modifier(struct stream *stream, const struct config_node *node)
{
	static const char *const ops[] = {"increment", "decrement", "random", NULL};
	struct modifier *modifier = &stream->modifiers[stream->nb_modifiers];
	const struct field *field;
	unsigned word;
	int offset;

	if (!config_object(node, "field", "op", "min", "max", "step"))
		return;
	field = field_find(node);
	if (field == NULL)
		return;
	offset = layer_offset(stream, field->layer);
	if (offset < 0) {
		config_mistake(node, "%s: the template has no such layer", field->name);
		return;
	}
	word = varied_word(node, field);
	*modifier = (struct modifier){
		.offset = (uint16_t)(offset + field->offset + sizeof(uint32_t) * word),
		.kind = field->kind,
		.op = (enum modifier_op)config_choice(node, "op", ops, MODIFIER_INCREMENT),
		.in_l3_checksum = field->in_l3_checksum,
		.in_l4_checksum = field->in_l4_checksum && stream->l4_checksum_offset != 0,
		.min = value_parse(node, "min", field, word, 0),
		.max = value_parse(node, "max", field, word, field->max),
		.step = (uint32_t)config_u64(node, "step", 1, 1, UINT32_MAX),
		/* The same streams in every run. */
		.seed = 0x9e3779b9u * (stream->nb_modifiers + 1),
	};
	if (modifier->min > modifier->max)
		config_mistake(node, "min is above max");
	modifier->fixed = fixed_bits(stream, modifier);
	modifier->last = (modifier->max - modifier->min) / modifier->step;
	stream->nb_modifiers++;
}

bool stream_parse_modifiers(struct stream *stream, const struct config_node *array)
{
	size_t count = config_items(array);

	if (count > STREAM_MODIFIERS_MAX) {
		config_mistake(array, "more than %d modifiers", STREAM_MODIFIERS_MAX);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		struct config_node item = config_item(array, i);

		parse_modifier(stream, &item);
	}
	return true;
}
