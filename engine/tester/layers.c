/* SPDX-License-Identifier: BSD-3-Clause */
/* From "layers" to the bytes of a template's headers. One function a layer. */
#include "stream.h"

#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_mpls.h>
#include <rte_tcp.h>
#include <rte_udp.h>
#include <string.h>

/* Fields that the layers so far leave to be filled in. */
struct layout {
	struct stream *stream;
	uint8_t *ethertype; /* of the layer before; NULL once an IP header closed it */
	uint8_t *last_label;
	uint8_t *ip_protocol;
	bool failed;
};

static uint8_t *grow(struct layout *layout, const struct config_node *node, unsigned bytes)
{
	struct stream *stream = layout->stream;
	uint8_t *at = stream->header + stream->header_bytes;

	if (stream->header_bytes + bytes > STREAM_HEADER_MAX) {
		config_mistake(node, "more than %d bytes of headers", STREAM_HEADER_MAX);
		layout->failed = true;
		return NULL;
	}
	stream->header_bytes = (uint16_t)(stream->header_bytes + bytes);
	return at;
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, (uint16_t)(value >> 16));
	put16(at + 2, (uint16_t)value);
}

static bool wants_ethertype(struct layout *layout, const struct config_node *node)
{
	if (layout->ethertype != NULL)
		return true;
	config_mistake(node, "must come after ethernet and before an IP header");
	layout->failed = true;
	return false;
}

static void layer_ethernet(struct layout *layout, const struct config_node *node)
{
	struct rte_ether_addr src = {{0x02, 'L', 'R', 0, 0, 1}}, dst = {{0x02, 'L', 'R', 0, 0, 2}};
	uint8_t *at;

	config_known(node, "src", "dst", "type");
	if (layout->stream->header_bytes != 0) {
		config_mistake(node, "must be the first layer");
		layout->failed = true;
		return;
	}
	at = grow(layout, node, RTE_ETHER_HDR_LEN);
	config_mac(node, "src", &src);
	config_mac(node, "dst", &dst);
	memcpy(at, &dst, 6);
	memcpy(at + 6, &src, 6);
	/* 0x88b5 is for local experiments; a network layer above replaces it. */
	put16(at + 12, (uint16_t)config_u64(node, "type", 0x88b5, 0, 0xffff));
	layout->ethertype = at + 12;
}

static void layer_vlan(struct layout *layout, const struct config_node *node)
{
	uint8_t *at;

	config_known(node, "id", "priority");
	if (!wants_ethertype(layout, node) || (at = grow(layout, node, 4)) == NULL)
		return;
	put16(layout->ethertype, RTE_ETHER_TYPE_VLAN);
	put16(at, (uint16_t)(config_u64(node, "priority", 0, 0, 7) << 13 |
			     config_u64(node, "id", 1, 0, 4095)));
	put16(at + 2, 0x88b5);
	layout->ethertype = at + 2;
}

static void layer_mpls(struct layout *layout, const struct config_node *node)
{
	uint8_t *at;

	config_known(node, "label", "ttl", "traffic_class");
	if (!wants_ethertype(layout, node) || (at = grow(layout, node, 4)) == NULL)
		return;
	if (layout->last_label == NULL)
		put16(layout->ethertype, RTE_ETHER_TYPE_MPLS);
	else
		layout->last_label[2] &= (uint8_t)~1u;
	put32(at, (uint32_t)(config_u64(node, "label", 16, 0, 0xfffff) << 12 |
			     config_u64(node, "traffic_class", 0, 0, 7) << 9 | 1u << 8 |
			     config_u64(node, "ttl", 64, 0, 255)));
	layout->last_label = at;
}

static void network_layer(struct layout *layout, uint8_t *at, uint16_t ethertype)
{
	if (layout->last_label == NULL)
		put16(layout->ethertype, ethertype);
	layout->ethertype = NULL;
	layout->stream->l3_offset = (uint16_t)(at - layout->stream->header);
}

static void layer_ipv4(struct layout *layout, const struct config_node *node)
{
	uint32_t src = RTE_IPV4(16, 0, 0, 1), dst = RTE_IPV4(48, 0, 0, 1);
	uint8_t *at;

	config_known(node, "src", "dst", "ttl", "dscp", "protocol", "id", "dont_fragment");
	if (!wants_ethertype(layout, node) ||
		(at = grow(layout, node, sizeof(struct rte_ipv4_hdr))) == NULL)
		return;
	config_ip4(node, "src", &src);
	config_ip4(node, "dst", &dst);
	at[0] = 0x45;
	at[1] = (uint8_t)(config_u64(node, "dscp", 0, 0, 63) << 2);
	put16(at + 4, (uint16_t)config_u64(node, "id", 0, 0, 0xffff));
	put16(at + 6, config_bool(node, "dont_fragment", false) ? 0x4000 : 0);
	at[8] = (uint8_t)config_u64(node, "ttl", 64, 0, 255);
	at[9] = (uint8_t)config_u64(node, "protocol", 253, 0, 255); /* experiments: RFC 3692 */
	put32(at + 12, src);
	put32(at + 16, dst);
	network_layer(layout, at, RTE_ETHER_TYPE_IPV4);
	layout->stream->l3_checksum_offset = (uint16_t)(layout->stream->l3_offset + 10);
	layout->ip_protocol = at + 9;
}

static void layer_ipv6(struct layout *layout, const struct config_node *node)
{
	struct in6_addr src = {.s6_addr = {0x20, 0x01, 0x0d, 0xb8, [15] = 1}};
	struct in6_addr dst = {.s6_addr = {0x20, 0x01, 0x0d, 0xb8, 0, 1, [15] = 1}};
	uint8_t *at;

	config_known(node, "src", "dst", "hop_limit", "traffic_class", "flow_label", "next_header");
	if (!wants_ethertype(layout, node) ||
		(at = grow(layout, node, sizeof(struct rte_ipv6_hdr))) == NULL)
		return;
	config_ip6(node, "src", &src);
	config_ip6(node, "dst", &dst);
	put32(at, (uint32_t)(6u << 28 | config_u64(node, "traffic_class", 0, 0, 255) << 20 |
			     config_u64(node, "flow_label", 0, 0, 0xfffff)));
	at[6] = (uint8_t)config_u64(node, "next_header", 253, 0, 255);
	at[7] = (uint8_t)config_u64(node, "hop_limit", 64, 0, 255);
	memcpy(at + 8, &src, 16);
	memcpy(at + 24, &dst, 16);
	network_layer(layout, at, RTE_ETHER_TYPE_IPV6);
	layout->ip_protocol = at + 6;
}

static bool wants_ip(struct layout *layout, const struct config_node *node)
{
	if (layout->ip_protocol != NULL && layout->stream->l4_offset == 0)
		return true;
	config_mistake(node, "must come right after an IP header");
	layout->failed = true;
	return false;
}

static void layer_udp(struct layout *layout, const struct config_node *node)
{
	uint8_t *at;

	config_known(node, "src", "dst");
	if (!wants_ip(layout, node) ||
		(at = grow(layout, node, sizeof(struct rte_udp_hdr))) == NULL)
		return;
	*layout->ip_protocol = IPPROTO_UDP;
	put16(at, (uint16_t)config_u64(node, "src", 1025, 0, 0xffff));
	put16(at + 2, (uint16_t)config_u64(node, "dst", 12, 0, 0xffff));
	layout->stream->l4_offset = (uint16_t)(at - layout->stream->header);
	layout->stream->l4_checksum_offset = (uint16_t)(layout->stream->l4_offset + 6);
}

static void layer_tcp(struct layout *layout, const struct config_node *node)
{
	uint8_t *at;

	config_known(node, "src", "dst", "flags", "seq", "ack", "window");
	if (!wants_ip(layout, node) ||
		(at = grow(layout, node, sizeof(struct rte_tcp_hdr))) == NULL)
		return;
	*layout->ip_protocol = IPPROTO_TCP;
	put16(at, (uint16_t)config_u64(node, "src", 1025, 0, 0xffff));
	put16(at + 2, (uint16_t)config_u64(node, "dst", 80, 0, 0xffff));
	put32(at + 4, (uint32_t)config_u64(node, "seq", 0, 0, UINT32_MAX));
	put32(at + 8, (uint32_t)config_u64(node, "ack", 0, 0, UINT32_MAX));
	at[12] = 5 << 4;
	at[13] = (uint8_t)config_u64(node, "flags", RTE_TCP_ACK_FLAG, 0, 255);
	put16(at + 14, (uint16_t)config_u64(node, "window", 8192, 0, 0xffff));
	layout->stream->l4_offset = (uint16_t)(at - layout->stream->header);
	layout->stream->l4_checksum_offset = (uint16_t)(layout->stream->l4_offset + 16);
}

static const struct {
	const char *name;
	void (*add)(struct layout *layout, const struct config_node *node);
} layers[] = {
	{"ethernet", layer_ethernet},
	{"vlan", layer_vlan},
	{"mpls", layer_mpls},
	{"ipv4", layer_ipv4},
	{"ipv6", layer_ipv6},
	{"udp", layer_udp},
	{"tcp", layer_tcp},
};

static void add_layer(struct layout *layout, const struct config_node *item)
{
	if (json_is_object(item->json) && json_object_size(item->json) == 1) {
		for (unsigned i = 0; i < RTE_DIM(layers); i++) {
			struct config_node node = config_child(item, layers[i].name);

			if (node.json == NULL)
				continue;
			if (config_is_object(&node))
				layers[i].add(layout, &node);
			return;
		}
	}
	config_mistake(item, "expected one layer such as {\"ipv4\": {…}}, of: "
			     "ethernet, vlan, mpls, ipv4, ipv6, udp, tcp");
	layout->failed = true;
}

bool stream_parse_layers(struct stream *stream, const struct config_node *array)
{
	struct layout layout = {.stream = stream};
	size_t count = config_items(array);

	if (count == 0) {
		config_mistake(array, "expected an array of layers, \"ethernet\" first");
		return false;
	}
	for (size_t i = 0; i < count && !layout.failed; i++) {
		struct config_node item = config_item(array, i);

		if (i == 0 && config_child(&item, "ethernet").json == NULL) {
			config_mistake(&item, "expected \"ethernet\" as the first layer");
			return false;
		}
		add_layer(&layout, &item);
	}
	return !layout.failed;
}
