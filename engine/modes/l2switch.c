/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * l2switch: a bridge. It learns on which port a station is, in which VLAN, sends a frame there
 * and nowhere else, and floods what it does not know to all other ports of the VLAN. Frames
 * keep their tag; without one, or with VLAN id 0, they are of VLAN 0. Each copy that flooding
 * makes is originated here. MACs learnt on one worker are known on all. With "steer" each frame
 * is worked on by the worker that owns its destination: what a station's neighbours need to know
 * of it stays in one core's cache.
 */
#include "core/vector.h"
#include "forwarder.h"
#include "mac_table.h"

#include <errno.h>
#include <rte_ether.h>
#include <stdio.h>
#include <string.h>

enum next {
	NEXT_DROP,
};

enum reason {
	RUNT,
	TRUNCATED_TAG,
	RESERVED_VLAN,
	BAD_SOURCE,
	NOT_IN_VLAN,
	LINK_LOCAL_GROUP,
	SAME_PORT,
	NO_OTHER_PORT,
	NO_BUFFER,
};

#define STATIONS_DEFAULT 16384
#define STATIONS_MAX (1u << 22)
#define AGEING_DEFAULT 300.0
#define AGEING_MAX 1e6
#define VLANS 4096
#define VLAN_RESERVED 4095
/* An address is loaded with its first byte lowest: the group bit is bit 0. */
#define GROUP_BIT 1ull
/* 01:80:c2:00:00:00 to 0f, which no bridge forwards (IEEE 802.1Q 8.6.3). */
#define LINK_LOCAL 0x0000c28001ull
#define LINK_LOCAL_MASK 0xf0ffffffffffull

static unsigned stations = STATIONS_DEFAULT;
static double ageing_seconds = AGEING_DEFAULT;
static bool steer;
static uint64_t ports_of_vlan[VLANS]; /* bit: port->index */
static bool restricted[VLANS];
static rte_edge_t edge_of_port[PORTS_MAX];
_Static_assert(PORTS_MAX <= 64, "a bit a port");

/* Result of the first pass for a frame. source 0: dropped, destination is the reason. */
struct stations {
	uint64_t source, destination;
};

static struct stations invalid(enum reason reason)
{
	return (struct stations){.source = 0, .destination = reason};
}

static __rte_noinline struct stations read_tagged(
	const struct rte_mbuf *mbuf, uint64_t source, uint64_t destination)
{
	uint16_t vlan;

	if (mbuf->data_len < RTE_ETHER_HDR_LEN + sizeof(struct rte_vlan_hdr))
		return invalid(TRUNCATED_TAG);
	vlan = rte_be_to_cpu_16(rte_pktmbuf_mtod_offset(
		       mbuf, const struct rte_vlan_hdr *, sizeof(struct rte_ether_hdr))
					->vlan_tci) &
	       (VLANS - 1);
	if (vlan == VLAN_RESERVED)
		return invalid(RESERVED_VLAN);
	return (struct stations){
		MAC_TABLE_KEY(source, vlan),
		MAC_TABLE_KEY(destination, vlan),
	};
}

static __rte_always_inline struct stations read_stations(const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint64_t source, destination;
	uint16_t type;

	if (unlikely(mbuf->data_len < RTE_ETHER_HDR_LEN))
		return invalid(RUNT);
	memcpy(&destination, frame, sizeof(destination));
	memcpy(&source, frame + RTE_ETHER_ADDR_LEN, sizeof(source));
	memcpy(&type, frame + 2 * (size_t)RTE_ETHER_ADDR_LEN, sizeof(type));
	source &= MAC_TABLE_ADDRESS_MASK;
	destination &= MAC_TABLE_ADDRESS_MASK;
	if (unlikely((source & GROUP_BIT) != 0 || source == 0))
		return invalid(BAD_SOURCE);
	if (unlikely(type == RTE_BE16(RTE_ETHER_TYPE_VLAN)))
		return read_tagged(mbuf, source, destination);
	return (struct stations){source, destination};
}

static void send_copy(
	struct rte_graph *graph, struct rte_node *node, struct rte_mbuf *mbuf, unsigned port)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(mbuf, mbuf->pool, 0, UINT32_MAX);

	node_state(node)->originated++;
	if (copy == NULL) {
		node_state(node)->drops[NO_BUFFER]++;
		return;
	}
	rte_node_enqueue_x1(graph, node, edge_of_port[port], copy);
}

/* To all other ports of the VLAN: copies at once, the frame itself with its vector. */
static rte_edge_t flood(
	struct rte_graph *graph, struct rte_node *node, struct rte_mbuf *mbuf, uint64_t destination)
{
	uint64_t ports = ports_of_vlan[destination >> 48] & ~(1ull << mbuf->port);

	if (unlikely((destination & LINK_LOCAL_MASK) == LINK_LOCAL))
		return node_drop_as(node, LINK_LOCAL_GROUP);
	if (unlikely(ports == 0))
		return node_drop_as(node, NO_OTHER_PORT);
	while ((ports & (ports - 1)) != 0) {
		send_copy(graph, node, mbuf, (unsigned)__builtin_ctzll(ports));
		ports &= ports - 1;
	}
	return edge_of_port[__builtin_ctzll(ports)];
}

static __rte_always_inline rte_edge_t switch_one(struct rte_graph *graph, struct rte_node *node,
	struct rte_mbuf *mbuf, const struct stations *of, uint32_t now)
{
	uint32_t out;

	if (unlikely(of->source == 0))
		return node_drop_as(node, (enum reason)of->destination);
	if (unlikely((ports_of_vlan[of->source >> 48] & 1ull << mbuf->port) == 0))
		return node_drop_as(node, NOT_IN_VLAN);
	if (unlikely(!mac_table_seen(of->source, mbuf->port, now)))
		mac_table_learn(of->source, mbuf->port);
	/* 0 is no station's, and marks free entries. */
	if (unlikely((of->destination & GROUP_BIT) != 0 || of->destination == 0))
		return flood(graph, node, mbuf, of->destination);
	out = mac_table_lookup(of->destination, now);
	if (unlikely(out == MAC_TABLE_UNKNOWN))
		return flood(graph, node, mbuf, of->destination);
	if (unlikely(out == mbuf->port))
		return node_drop_as(node, SAME_PORT);
	return edge_of_port[out];
}

/* First pass: whose frames they are, and their buckets fetched. */
static __rte_always_inline void read_vector(
	struct rte_mbuf **mbufs, struct stations *of, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		if (likely(i + 2 * VECTOR_AHEAD < count))
			rte_prefetch0(mbufs[i + 2 * VECTOR_AHEAD]);
		if (likely(i + VECTOR_AHEAD < count))
			vector_prefetch_data(mbufs[i + VECTOR_AHEAD]);
		of[i] = read_stations(mbufs[i]);
		mac_table_prefetch(of[i].source);
		mac_table_prefetch(of[i].destination);
	}
}

static uint16_t switch_vector(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	struct rte_mbuf **mbufs = (struct rte_mbuf **)objs;
	uint32_t now = __atomic_load_n(&mac_table.now, __ATOMIC_RELAXED);
	struct stations of[NODE_VECTOR_MAX];
	rte_edge_t nexts[NODE_VECTOR_MAX], differ = 0;
	const struct stations *known = NULL; /* the last that were looked up, and found */
	uint16_t known_port = 0;
	rte_edge_t known_next = NEXT_DROP;

	read_vector(mbufs, of, count);
	for (uint16_t i = 0; i < count; i++) {
		uint64_t originated = node_state(node)->originated;

		if (known != NULL && of[i].source == known->source &&
			of[i].destination == known->destination && mbufs[i]->port == known_port) {
			nexts[i] = known_next;
		} else {
			nexts[i] = switch_one(graph, node, mbufs[i], &of[i], now);
			/* Frames that are dropped or copied are looked up each time. */
			known = nexts[i] != NEXT_DROP && originated == node_state(node)->originated
					? &of[i]
					: NULL;
			known_port = mbufs[i]->port;
			known_next = nexts[i];
		}
		differ |= nexts[i] ^ nexts[0];
	}
	vector_send(graph, node, objs, nexts, count, differ == 0);
	return count;
}

/* As vector_walk(), but flooding needs the graph. */
static uint16_t l2switch_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	for (uint16_t done = 0; done < count; done += NODE_VECTOR_MAX)
		switch_vector(graph, node, objs + done,
			RTE_MIN((uint16_t)(count - done), (uint16_t)NODE_VECTOR_MAX));
	return count;
}

/* The ports' edges are added when they are known. */
static struct node_type l2switch = {
	.name = "l2switch",
	.process = l2switch_process,
	.nexts = {[NEXT_DROP] = "drop"},
	.reasons = {[RUNT] = "shorter than an Ethernet header",
		[TRUNCATED_TAG] = "shorter than its vlan tag",
		[RESERVED_VLAN] = "reserved vlan id",
		[BAD_SOURCE] = "source mac is no station's",
		[NOT_IN_VLAN] = "port is not in the vlan",
		[LINK_LOCAL_GROUP] = "link-local group address",
		[SAME_PORT] = "destination is where it came from",
		[NO_OTHER_PORT] = "no other port in the vlan",
		[NO_BUFFER] = "no buffer for a copy"},
};
NODE_REGISTER(l2switch)

static void parse_vlan_ports(const struct config_node *vlan, uint64_t id)
{
	struct config_node array = config_child(vlan, "ports");

	if (json_array_size(array.json) == 0)
		config_mistake(&array, "expected the names of ports");
	restricted[id] = true;
	CONFIG_EACH (item, &array) {
		struct port *port = port_find(json_string_value(item.json));

		if (port == NULL || !forwarder_has_port(port))
			config_mistake(&item, "expected the name of one of the forwarder's ports");
		else
			ports_of_vlan[id] |= 1ull << port->index;
	}
}

static void parse_vlan(const struct config_node *vlan)
{
	struct config_node key = config_child(vlan, "id");
	uint64_t id;

	if (!config_object(vlan, "id", "ports"))
		return;
	id = config_u64(vlan, "id", VLAN_RESERVED, 0, VLAN_RESERVED - 1);
	if (key.json == NULL)
		config_mistake(&key, "required, but missing");
	else if (restricted[id])
		config_mistake(&key, "named twice");
	else
		parse_vlan_ports(vlan, id);
}

static void l2switch_parse(const struct config_node *node)
{
	struct config_node array = config_child(node, "vlans");

	if (!config_object(node, "ageing_seconds", "stations", "steer", "vlans"))
		return;
	ageing_seconds = config_number(node, "ageing_seconds", AGEING_DEFAULT, 0.1, AGEING_MAX);
	stations = (unsigned)config_u64(node, "stations", STATIONS_DEFAULT, 16, STATIONS_MAX);
	steer = config_bool(node, "steer", false);
	CONFIG_EACH (vlan, &array)
		parse_vlan(&vlan);
}

static int l2switch_create(void)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < forwarder_ports(); i++) {
		struct port *port = forwarder_port(i);
		char tx[RTE_NODE_NAMESIZE];

		snprintf(tx, sizeof(tx), "port-tx-%s", port->name);
		edge_of_port[port->index] = node_add_next(&l2switch, tx);
		if (edge_of_port[port->index] == RTE_EDGE_ID_INVALID)
			return -EINVAL;
		all |= 1ull << port->index;
	}
	for (unsigned vlan = 0; vlan < VLANS; vlan++)
		if (!restricted[vlan])
			ports_of_vlan[vlan] = all;
	return mac_table_create(stations, (uint32_t)(ageing_seconds * 1e3));
}

static int l2switch_entry(__rte_unused struct port *port, __rte_unused struct port *peer,
	char name[RTE_NODE_NAMESIZE])
{
	snprintf(name, RTE_NODE_NAMESIZE, "l2switch");
	return 0;
}

/* A hash of the destination names the worker; a group is a destination as any. */
static void owners(struct rte_mbuf **mbufs, uint32_t *hashes, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		uint64_t destination = 0;

		if (likely(i + 2 * VECTOR_AHEAD < count))
			rte_prefetch0(mbufs[i + 2 * VECTOR_AHEAD]);
		if (likely(i + VECTOR_AHEAD < count))
			vector_prefetch_data(mbufs[i + VECTOR_AHEAD]);
		if (likely(mbufs[i]->data_len >= sizeof(destination)))
			memcpy(&destination, rte_pktmbuf_mtod(mbufs[i], const void *),
				sizeof(destination));
		hashes[i] = (uint32_t)mac_table_hash(destination & MAC_TABLE_ADDRESS_MASK);
	}
}

static handoff_hash_t l2switch_steer(void)
{
	return steer ? owners : NULL;
}

static struct forwarding_mode l2switch_mode = {
	.name = "l2switch",
	.key = "l2switch",
	.parse = l2switch_parse,
	.create = l2switch_create,
	.entry = l2switch_entry,
	.steer = l2switch_steer,
	.tick = mac_table_tick,
};
FORWARDING_MODE_REGISTER(l2switch_mode)
