/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vlan-input: takes the tags off a frame that ethernet-input found to be for the port, and
 * gives it back as one that came in on the sub-interface with those tags. The tags' priority
 * is not looked at.
 */
#include "core/vector.h"
#include "router/packet.h"
#include "router/vlan.h"

enum next {
	NEXT_DROP,
	NEXT_ETHERNET,
};

enum reason {
	TRUNCATED,
	UNKNOWN_VLAN,
};

static __rte_always_inline rte_be16_t type_at(const uint8_t *at)
{
	rte_be16_t type;

	memcpy(&type, at, sizeof(type));
	return type;
}

/* Moves the MAC addresses up to the ethertype behind `bytes` of tags. */
static __rte_always_inline void take_off(struct rte_mbuf *mbuf, uint8_t *frame, uint16_t bytes)
{
	uint64_t first;
	uint32_t second;

	memcpy(&first, frame, sizeof(first));
	memcpy(&second, frame + 8, sizeof(second));
	memcpy(frame + bytes, &first, sizeof(first));
	memcpy(frame + bytes + 8, &second, sizeof(second));
	mbuf->data_off += bytes;
	mbuf->data_len -= bytes;
	mbuf->pkt_len = mbuf->data_len;
}

static rte_edge_t two_tags(struct rte_node *node, struct rte_mbuf *mbuf, uint8_t *frame)
{
	const struct vlan_tags tags = {
		.dot1ad = vlan_is_dot1ad(type_at(frame + 12)),
		.outer = vlan_id(frame + 14),
		.inner = vlan_id(frame + 18),
	};
	uint16_t interface;

	if (mbuf->data_len < RTE_ETHER_HDR_LEN + 2 * VLAN_TAG_BYTES)
		return node_drop_as(node, TRUNCATED);
	if (vlan_is_dot1ad(type_at(frame + 16)) || tags.inner == 0 ||
		vlan_is_tag(type_at(frame + 20)))
		return node_drop_as(node, UNKNOWN_VLAN);
	interface = vlan_find(mbuf->port, &tags);
	if (interface == VLAN_NONE)
		return node_drop_as(node, UNKNOWN_VLAN);
	take_off(mbuf, frame, 2 * VLAN_TAG_BYTES);
	mbuf->port = interface;
	return NEXT_ETHERNET;
}

static __rte_noinline rte_edge_t input_other(
	struct rte_node *node, struct rte_mbuf *mbuf, uint8_t *frame)
{
	if (mbuf->data_len < RTE_ETHER_HDR_LEN + VLAN_TAG_BYTES)
		return node_drop_as(node, TRUNCATED);
	if (vlan_is_tag(type_at(frame + 16)))
		return two_tags(node, mbuf, frame);
	/* IEEE 802.1Q 6.9: with a priority alone the frame is the port's own. */
	if (vlan_is_dot1ad(type_at(frame + 12)) || vlan_id(frame + 14) != VLAN_PRIORITY)
		return node_drop_as(node, UNKNOWN_VLAN);
	take_off(mbuf, frame, VLAN_TAG_BYTES);
	return NEXT_ETHERNET;
}

static __rte_always_inline rte_edge_t input_one(struct rte_node *node, struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint16_t interface =
		vlan_single[mbuf->port][vlan_is_dot1ad(type_at(frame + 12))][vlan_id(frame + 14)];

	if (unlikely(interface == VLAN_NONE || vlan_is_tag(type_at(frame + 16)) ||
		     mbuf->data_len < RTE_ETHER_HDR_LEN + VLAN_TAG_BYTES))
		return input_other(node, mbuf, frame);
	take_off(mbuf, frame, VLAN_TAG_BYTES);
	mbuf->port = interface;
	return NEXT_ETHERNET;
}

VECTOR_EACH(vlan_input, input_one, 0)
VECTOR_PROCESS(vlan_input)

static struct node_type vlan_input = {
	.name = "vlan-input",
	.process = vlan_input_process,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_ETHERNET] = "ethernet-input"},
	.reasons = {[TRUNCATED] = "shorter than its vlan tags", [UNKNOWN_VLAN] = "unknown vlan"},
};
NODE_REGISTER(vlan_input)
