/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ethernet-input: takes frames that are meant for the interface that they came in on and
 * parts them by ethertype.
 *
 * Most vectors are all IPv4 with plain headers to the interface's own address, or all MPLS.
 * That is found out in one pass without a branch a packet, which has the checks of ip4-input
 * or mpls-input in it, since they look at the same cache line: such a vector goes to the
 * lookup as it is. One that is all tagged goes to vlan-input, and comes back untagged. Any
 * other vector is parted packet by packet.
 */
#include "core/vector.h"
#include "core/worker.h"
#include "router/interface6.h"
#include "router/packet6.h"

#include <stdio.h>
#include <errno.h>

enum next {
	NEXT_DROP,
	NEXT_IP4,
	NEXT_ARP,
	NEXT_MPLS,
	NEXT_VLAN,
	NEXT_IP4_CHECKED,
	NEXT_MPLS_CHECKED,
	NEXT_IP6,
	NEXT_IP6_CHECKED,
};

enum reason {
	TRUNCATED,
	INTERFACE_DOWN,
	L3_MAC_MISMATCH,
	UNKNOWN_ETHERTYPE,
	IP4_TO_GROUP,
	MPLS_TO_GROUP,
	IP6_DISABLED,
	IP6_TO_GROUP,
};

#define MAC_MASK 0xffffffffffffull

static inline uint16_t ethertype_of(const uint8_t *frame)
{
	uint16_t type;

	memcpy(&type, frame + 12, sizeof(type));
	return type;
}

/* RFC 2464 7: an IPv6 group's frames go to 33:33 and four bytes of it. */
static bool is_ip6_group(const struct rte_ether_addr *mac)
{
	return mac->addr_bytes[0] == 0x33 && mac->addr_bytes[1] == 0x33;
}

static rte_edge_t ip6_edge(struct rte_node *node, const struct rte_mbuf *mbuf)
{
	const struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, const void *);

	if (!interface6_enabled[mbuf->port])
		return node_drop_as(node, IP6_DISABLED);
	if (rte_is_multicast_ether_addr(&ethernet->dst_addr) && !is_ip6_group(&ethernet->dst_addr))
		return node_drop_as(node, IP6_TO_GROUP);
	return NEXT_IP6;
}

static rte_edge_t by_ethertype(struct rte_node *node, const struct rte_mbuf *mbuf)
{
	const struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, const void *);
	bool group = rte_is_multicast_ether_addr(&ethernet->dst_addr);

	switch (rte_be_to_cpu_16(ethernet->ether_type)) {
	case RTE_ETHER_TYPE_IPV4:
		/* RFC 1812 5.3.4: what came as a link layer broadcast is not forwarded. */
		return group ? node_drop_as(node, IP4_TO_GROUP) : NEXT_IP4;
	case RTE_ETHER_TYPE_ARP:
		return NEXT_ARP;
	case RTE_ETHER_TYPE_MPLS:
		return group ? node_drop_as(node, MPLS_TO_GROUP) : NEXT_MPLS;
	case RTE_ETHER_TYPE_IPV6:
		return ip6_edge(node, mbuf);
	case RTE_ETHER_TYPE_VLAN:
	case RTE_ETHER_TYPE_QINQ:
		return NEXT_VLAN;
	default:
		return node_drop_as(node, UNKNOWN_ETHERTYPE);
	}
}

static __rte_noinline rte_edge_t classify_other(struct rte_node *node, const struct rte_mbuf *mbuf)
{
	const struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, const void *);

	if (mbuf->data_len < RTE_ETHER_HDR_LEN)
		return node_drop_as(node, TRUNCATED);
	if (interface_mac[mbuf->port] == INTERFACE_MAC_DOWN)
		return node_drop_as(node, INTERFACE_DOWN);
	if (!rte_is_multicast_ether_addr(&ethernet->dst_addr) &&
		!rte_is_same_ether_addr(&ethernet->dst_addr, &interfaces[mbuf->port].port->mac))
		return node_drop_as(node, L3_MAC_MISMATCH);
	return by_ethertype(node, mbuf);
}

static __rte_always_inline rte_edge_t classify_one(struct rte_node *node, struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint16_t ethertype;
	uint64_t mac;

	memcpy(&mac, frame, sizeof(mac));
	memcpy(&ethertype, frame + 12, sizeof(ethertype));
	if (likely((mac & MAC_MASK) == interface_mac[mbuf->port] &&
		    mbuf->data_len >= RTE_ETHER_HDR_LEN)) {
		if (likely(ethertype == RTE_BE16(RTE_ETHER_TYPE_IPV4)))
			return NEXT_IP4;
		if (ethertype == RTE_BE16(RTE_ETHER_TYPE_MPLS))
			return NEXT_MPLS;
		if (ethertype == RTE_BE16(RTE_ETHER_TYPE_VLAN))
			return NEXT_VLAN;
	}
	return classify_other(node, mbuf);
}

struct ethernet_input {
	struct node_stats *ip4_input, *ip6_input, *mpls_input; /* whose packets are checked here */
};

/* Ethertype IPv4 and version 4 with a header of 20 bytes, as a load at offset 12 gives them. */
#define IP4_PLAIN_MASK 0x00ffffffu
#define IP4_PLAIN_WORD RTE_BE32(0x08004500u)

/* data_off, refcnt, nb_segs and port of an mbuf, which a driver writes in one go. */
static __rte_always_inline uint64_t rearm_word(const struct rte_mbuf *mbuf)
{
	uint64_t word;

	memcpy(&word, RTE_PTR_ADD(mbuf, offsetof(struct rte_mbuf, rearm_data)), sizeof(word));
	return word;
}

/*
 * Not 0 when something about the frame is not as it is with a plain, right IPv4 packet. Reads
 * 34 bytes whatever the frame's length: buffers have them.
 */
static __rte_always_inline uint64_t ip4_odd(const uint8_t *frame, uint16_t length)
{
	uint32_t type;
	uint16_t total;

	memcpy(&type, frame + 12, sizeof(type));
	memcpy(&total, frame + RTE_ETHER_HDR_LEN + 2, sizeof(total));
	return ((type ^ IP4_PLAIN_WORD) & IP4_PLAIN_MASK) |
	       (uint32_t)((rte_be_to_cpu_16(total) + RTE_ETHER_HDR_LEN) ^ length) |
	       (length < RTE_ETHER_HDR_LEN + IP4_HEADER_BYTES) |
	       !ip4_plain_checksum_ok(frame + RTE_ETHER_HDR_LEN);
}

/* Part of the rearm word that the vector's packets must share: all but the port. */
#define REARM_SHARED_MASK rte_cpu_to_le_64(0x0000ffffffffffffull)

/* One bit at least is set when the interface is down: no address matches it. */
static __rte_always_inline uint64_t mac_odd(const uint8_t *frame, uint64_t mac)
{
	uint64_t destination;

	memcpy(&destination, frame, sizeof(destination));
	return ((destination ^ mac) & MAC_MASK) | (mac & ~MAC_MASK);
}

/* Conditions of mpls-input: MPLS is enabled, there is a label, its TTL is not 0. */
static __rte_always_inline uint64_t mpls_odd(
	const uint8_t *frame, uint16_t length, const struct interface *interface)
{
	return (ethertype_of(frame) ^ RTE_BE16(RTE_ETHER_TYPE_MPLS)) |
	       (frame[RTE_ETHER_HDR_LEN + 3] == 0) |
	       (length < RTE_ETHER_HDR_LEN + MPLS_LABEL_BYTES) | !interface->mpls;
}

static __rte_always_inline uint64_t vlan_odd(const uint8_t *frame, uint16_t length)
{
	return (ethertype_of(frame) ^ RTE_BE16(RTE_ETHER_TYPE_VLAN)) | (length < RTE_ETHER_HDR_LEN);
}

/*
 * Conditions of ip6-input: IPv6 is enabled, version 6, the payload length that the frame has.
 * Sources without global scope go to it: ::, ::1 and others that begin with 16 bits of 0, and
 * link-local and multicast, which begin with fe80 and more. Reads 42 bytes whatever the frame's
 * length.
 */
static __rte_always_inline uint64_t ip6_odd(const uint8_t *frame, uint16_t length, bool enabled)
{
	const uint8_t *ip = frame + RTE_ETHER_HDR_LEN;
	uint16_t payload, source;

	memcpy(&payload, ip + IP6_AT_PAYLOAD_BYTES, sizeof(payload));
	memcpy(&source, ip + IP6_AT_SOURCE, sizeof(source));
	return (ethertype_of(frame) ^ RTE_BE16(RTE_ETHER_TYPE_IPV6)) |
	       (uint32_t)((ip[0] & 0xf0) ^ 0x60) |
	       (uint32_t)((rte_be_to_cpu_16(payload) + RTE_ETHER_HDR_LEN + IP6_HEADER_BYTES) ^
			  length) |
	       ((uint16_t)(rte_be_to_cpu_16(source) - 1) >= 0xfe7f) | !enabled;
}

/* Nothing is odd about any of the frames. `type` is known when this is compiled. */
static __rte_always_inline bool all_plain(struct rte_mbuf **mbufs, uint16_t count, uint16_t type)
{
	uint64_t rearm = rearm_word(mbufs[0]), odd = 0;
	uint16_t offset = mbufs[0]->data_off;

	for (uint16_t i = 0; i < count; i++) {
		const struct rte_mbuf *mbuf = mbufs[i];
		const uint8_t *frame = RTE_PTR_ADD(mbuf->buf_addr, offset);

		if (likely(i + 2 * VECTOR_AHEAD < count))
			rte_prefetch0(RTE_PTR_ADD(mbufs[i + 2 * VECTOR_AHEAD]->buf_addr, offset));
		odd |= mac_odd(frame, interface_mac[mbuf->port]) |
		       ((rearm_word(mbuf) ^ rearm) & REARM_SHARED_MASK);
		if (type == RTE_ETHER_TYPE_IPV4)
			odd |= ip4_odd(frame, mbuf->data_len);
		else if (type == RTE_ETHER_TYPE_VLAN)
			odd |= vlan_odd(frame, mbuf->data_len);
		else if (type == RTE_ETHER_TYPE_IPV6)
			odd |= ip6_odd(frame, mbuf->data_len, interface6_enabled[mbuf->port]);
		else
			odd |= mpls_odd(frame, mbuf->data_len, &interfaces[mbuf->port]);
	}
	return odd == 0;
}

/* The edge of a vector that is all of one kind; NEXT_DROP when it may not be. */
static rte_edge_t edge_of_all(
	const struct ethernet_input *own, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t type = ethertype_of(rte_pktmbuf_mtod(mbufs[0], const uint8_t *));

	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && all_plain(mbufs, count, RTE_ETHER_TYPE_IPV4)) {
		own->ip4_input->fused_calls++;
		own->ip4_input->fused_vectors += count;
		return NEXT_IP4_CHECKED;
	}
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6) && all_plain(mbufs, count, RTE_ETHER_TYPE_IPV6)) {
		own->ip6_input->fused_calls++;
		own->ip6_input->fused_vectors += count;
		return NEXT_IP6_CHECKED;
	}
	if (type == RTE_BE16(RTE_ETHER_TYPE_MPLS) && all_plain(mbufs, count, RTE_ETHER_TYPE_MPLS)) {
		own->mpls_input->fused_calls++;
		own->mpls_input->fused_vectors += count;
		return NEXT_MPLS_CHECKED;
	}
	if (type == RTE_BE16(RTE_ETHER_TYPE_VLAN) && all_plain(mbufs, count, RTE_ETHER_TYPE_VLAN))
		return NEXT_VLAN;
	return NEXT_DROP;
}

VECTOR_EACH(ethernet_input, classify_one, 0)

static uint16_t ethernet_input_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	rte_edge_t edge = edge_of_all(node_private(node), (struct rte_mbuf **)objs, count);

	if (likely(edge != NEXT_DROP)) {
		rte_node_next_stream_move(graph, node, edge);
		return count;
	}
	return vector_walk(graph, node, objs, count, ethernet_input_vector);
}

static int ethernet_input_init(struct node_state *state, struct rte_node *node)
{
	struct ethernet_input *own = node_private(node);

	own->ip4_input = worker_node_stats(state->worker, "ip4-input");
	own->ip6_input = worker_node_stats(state->worker, "ip6-input");
	own->mpls_input = worker_node_stats(state->worker, "mpls-input");
	return own->ip4_input == NULL || own->ip6_input == NULL || own->mpls_input == NULL ? -ENOENT
											   : 0;
}

static void ethernet_input_trace(
	__rte_unused struct rte_node *node, const struct rte_mbuf *mbuf, char *text, size_t bytes)
{
	snprintf(text, bytes, "interface %s, ethertype 0x%04x", interfaces[mbuf->port].name,
		rte_be_to_cpu_16(ethertype_of(rte_pktmbuf_mtod(mbuf, const uint8_t *))));
}

static struct node_type ethernet_input = {
	.name = "ethernet-input",
	.process = ethernet_input_process,
	.trace = ethernet_input_trace,
	.init = ethernet_input_init,
	.private_bytes = sizeof(struct ethernet_input),
	.fused = {"ip4-input", "ip6-input", "mpls-input"},
	.nexts = {[NEXT_DROP] = "drop",
		[NEXT_IP4] = "ip4-input",
		[NEXT_ARP] = "arp-input",
		[NEXT_MPLS] = "mpls-input",
		[NEXT_VLAN] = "vlan-input",
		[NEXT_IP4_CHECKED] = "ip4-lookup",
		[NEXT_MPLS_CHECKED] = "mpls-lookup",
		[NEXT_IP6] = "ip6-input",
		[NEXT_IP6_CHECKED] = "ip6-lookup"},
	.reasons = {[TRUNCATED] = "shorter than an Ethernet header",
		[INTERFACE_DOWN] = "interface down",
		[L3_MAC_MISMATCH] = "l3 mac mismatch",
		[UNKNOWN_ETHERTYPE] = "unknown ethertype",
		[IP4_TO_GROUP] = "ip4 to a group mac address",
		[MPLS_TO_GROUP] = "mpls to a group mac address",
		[IP6_DISABLED] = "ip6 disabled on the interface",
		[IP6_TO_GROUP] = "ip6 to a group mac address"},
};
NODE_REGISTER(ethernet_input)
