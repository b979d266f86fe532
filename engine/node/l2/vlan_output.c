/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vlan-output: puts the tags of a sub-interface on, and hands the frames to the port's
 * port-tx. One clone a sub-interface, which stands where a port's port-tx does.
 */
#include "core/vector.h"
#include "router/interface.h"
#include "router/packet.h"

enum next {
	NEXT_DROP,
	NEXT_TX,
};

enum reason {
	NO_HEADROOM,
};

/* The outer tag and the inner one; with one tag it is the last `bytes` of them. */
struct vlan_output {
	uint8_t tags[2 * VLAN_TAG_BYTES];
	uint16_t bytes;
};
_Static_assert(sizeof(struct vlan_output) <= RTE_CACHE_LINE_SIZE, "one line");

static __rte_always_inline rte_edge_t output_one(
	struct rte_node *node, struct rte_mbuf *mbuf, const uint8_t *tags, uint16_t bytes)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint64_t first;
	uint32_t second;

	if (unlikely(mbuf->data_off < bytes))
		return node_drop_as(node, NO_HEADROOM);
	memcpy(&first, frame, sizeof(first));
	memcpy(&second, frame + 8, sizeof(second));
	memcpy(frame - bytes, &first, sizeof(first));
	memcpy(frame - bytes + 8, &second, sizeof(second));
	memcpy(frame - bytes + 12, tags, bytes);
	mbuf->data_off -= bytes;
	mbuf->data_len += bytes;
	mbuf->pkt_len = mbuf->data_len;
	return NEXT_TX;
}

/* `bytes` is known when this is compiled. */
static __rte_always_inline bool output_all(struct rte_node *node, struct rte_mbuf **mbufs,
	const uint8_t *tags, uint16_t bytes, rte_edge_t *nexts, uint16_t count)
{
	rte_edge_t differ = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (likely(i + VECTOR_AHEAD < count))
			vector_prefetch_data(mbufs[i + VECTOR_AHEAD]);
		nexts[i] = output_one(node, mbufs[i], tags, bytes);
		differ |= nexts[i] ^ nexts[0];
	}
	return differ == 0;
}

static bool vlan_output_vector(
	struct rte_node *node, struct rte_mbuf **mbufs, rte_edge_t *nexts, uint16_t count)
{
	const struct vlan_output *own = node_private(node);

	if (own->bytes == VLAN_TAG_BYTES)
		return output_all(
			node, mbufs, own->tags + VLAN_TAG_BYTES, VLAN_TAG_BYTES, nexts, count);
	return output_all(node, mbufs, own->tags, 2 * VLAN_TAG_BYTES, nexts, count);
}

VECTOR_PROCESS(vlan_output)

static void write_tag(uint8_t *tag, uint16_t type, uint16_t id)
{
	const rte_be16_t words[] = {rte_cpu_to_be_16(type), rte_cpu_to_be_16(id)};

	memcpy(tag, words, sizeof(words));
}

/* The clone was made for the sub-interface. Priority 0, as VPP has it. */
static int vlan_output_init(struct node_state *state, __rte_unused struct rte_node *node)
{
	const struct interface *interface = state->object;
	const struct vlan_tags *vlan = &interface->vlan;
	uint16_t outer_type = vlan->dot1ad ? RTE_ETHER_TYPE_QINQ : RTE_ETHER_TYPE_VLAN;
	struct vlan_output *own = (struct vlan_output *)state->private_data;

	own->bytes = vlan->inner == 0 ? VLAN_TAG_BYTES : 2 * VLAN_TAG_BYTES;
	write_tag(own->tags + sizeof(own->tags) - own->bytes, outer_type, vlan->outer);
	if (vlan->inner != 0)
		write_tag(own->tags + VLAN_TAG_BYTES, RTE_ETHER_TYPE_VLAN, vlan->inner);
	return 0;
}

static struct node_type vlan_output = {
	.name = "vlan-output",
	.process = vlan_output_process,
	.init = vlan_output_init,
	.private_bytes = sizeof(struct vlan_output),
	.nexts = {[NEXT_DROP] = "drop"},
	.reasons = {[NO_HEADROOM] = "no headroom in the buffer"},
	.template = true,
};
NODE_REGISTER(vlan_output)
