/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * icmp6-nd-input: neighbour solicitations and advertisements. Answers those for the interface's
 * own addresses and learns neighbours (RFC 4861 7.2): whoever asks for the router is added,
 * whoever is known already is updated. Only senders on the interface's own subnets are believed.
 */
#include "core/vector.h"
#include "router/nd.h"
#include "router/neighbor.h"

enum next {
	NEXT_DROP,
	NEXT_OUTPUT,
};

enum reason {
	ANSWERED,
	LEARNT,
	NOT_FOR_US,
	BAD_HOP_LIMIT,
	BAD_CODE,
	TRUNCATED,
	TARGET_MULTICAST,
	BAD_OPTION,
	BAD_UNSPECIFIED,
	BAD_SOLICITED,
	BAD_MAC,
	ADDRESS_CONFLICT,
	NOT_ON_LINK,
};

/* A message that has been found well-formed. */
struct message {
	uint8_t *ip, *icmp;
	const struct rte_ether_addr *mac; /* of the option that it may have, or NULL */
};

static bool is_station(const struct rte_ether_addr *mac)
{
	return !rte_is_multicast_ether_addr(mac) && !rte_is_zero_ether_addr(mac);
}

/* It is the answer that makes the asker know us: to all when it has no address yet. */
static rte_edge_t reply(struct rte_node *node, struct rte_mbuf *mbuf, const struct message *message)
{
	static const uint8_t all_nodes[IP6_BYTES] = {0xff, 2, [15] = 1};
	const struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, const void *);
	struct rte_ether_addr asker = message->mac != NULL ? *message->mac : ethernet->src_addr;
	bool probe = ip6_is_unspecified(ip6_source(message->ip));
	uint8_t target[IP6_BYTES], destination[IP6_BYTES];
	struct nd_message answer = {
		.type = ND_NEIGHBOR_ADVERT,
		.option = ND_OPT_TARGET_LINKADDR,
		.flags = ND_FLAG_ROUTER | ND_FLAG_OVERRIDE | (probe ? 0 : ND_FLAG_SOLICITED),
		.source = target,
		.destination = destination,
		.target = target,
		.mac = probe ? NULL : &asker,
	};

	memcpy(target, message->icmp + ND_AT_TARGET, IP6_BYTES);
	memcpy(destination, probe ? all_nodes : ip6_source(message->ip), IP6_BYTES);
	nd_fill(mbuf, &interfaces[mbuf->port], &answer);
	node_state(node)->drops[ANSWERED]++;
	node_state(node)->originated++;
	return NEXT_OUTPUT;
}

/* RFC 4861 7.1.1 and 7.2.3. */
static rte_edge_t take_solicitation(
	struct rte_node *node, struct rte_mbuf *mbuf, const struct message *message)
{
	const struct interface *interface = &interfaces[mbuf->port];
	const uint8_t *source = ip6_source(message->ip), *target = message->icmp + ND_AT_TARGET;
	bool for_us = interface6_owns(interface, target), known = false;
	uint8_t group[IP6_BYTES];

	if (ip6_is_unspecified(source)) {
		ip6_solicited_node(target, group);
		if (message->mac != NULL || !ip6_same(ip6_destination(message->ip), group))
			return node_drop_as(node, BAD_UNSPECIFIED);
		return for_us ? reply(node, mbuf, message) : node_drop_as(node, NOT_FOR_US);
	}
	if (interfaces6_own(source))
		return node_drop_as(node, ADDRESS_CONFLICT);
	if (!interface6_on_link(interface, source))
		return node_drop_as(node, NOT_ON_LINK);
	if (message->mac != NULL)
		known = neighbor_learn(interface, address_ip6(source), message->mac, for_us);
	if (for_us)
		return reply(node, mbuf, message);
	return node_drop_as(node, known ? LEARNT : NOT_FOR_US);
}

/* RFC 4861 7.1.2 and 7.2.5. */
static rte_edge_t take_advertisement(
	struct rte_node *node, struct rte_mbuf *mbuf, const struct message *message)
{
	const struct interface *interface = &interfaces[mbuf->port];
	const uint8_t *target = message->icmp + ND_AT_TARGET;
	uint8_t flags = message->icmp[ND_AT_FLAGS];
	bool known;

	if ((flags & ND_FLAG_SOLICITED) && ip6_is_multicast(ip6_destination(message->ip)))
		return node_drop_as(node, BAD_SOLICITED);
	if (interfaces6_own(target))
		return node_drop_as(node, ADDRESS_CONFLICT);
	known = neighbor_advertised(interface, address_ip6(target), message->mac,
		flags & ND_FLAG_SOLICITED, flags & ND_FLAG_OVERRIDE);
	return node_drop_as(node, known ? LEARNT : NOT_FOR_US);
}

static rte_edge_t classify_one(struct rte_node *node, struct rte_mbuf *mbuf)
{
	struct message message = {.ip = packet_l3(mbuf)};
	uint16_t upper = packet_upper(mbuf), bytes = packet_l3_bytes(mbuf) - upper;
	bool solicitation;

	message.icmp = message.ip + upper;
	solicitation = message.icmp[0] == ND_NEIGHBOR_SOLICIT;
	if (message.ip[IP6_AT_HOP_LIMIT] != ND_HOP_LIMIT)
		return node_drop_as(node, BAD_HOP_LIMIT);
	if (message.icmp[1] != 0)
		return node_drop_as(node, BAD_CODE);
	if (bytes < ND_AT_OPTIONS)
		return node_drop_as(node, TRUNCATED);
	if (ip6_is_multicast(message.icmp + ND_AT_TARGET))
		return node_drop_as(node, TARGET_MULTICAST);
	if (!nd_read_options(message.icmp + ND_AT_OPTIONS, message.icmp + bytes,
		    solicitation ? ND_OPT_SOURCE_LINKADDR : ND_OPT_TARGET_LINKADDR, &message.mac))
		return node_drop_as(node, BAD_OPTION);
	if (message.mac != NULL && !is_station(message.mac))
		return node_drop_as(node, BAD_MAC);
	return solicitation ? take_solicitation(node, mbuf, &message)
			    : take_advertisement(node, mbuf, &message);
}

VECTOR_EACH(icmp6_nd_input, classify_one, 0)
VECTOR_PROCESS(icmp6_nd_input)

static struct node_type icmp6_nd_input = {
	.name = "icmp6-nd-input",
	.process = icmp6_nd_input_process,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_OUTPUT] = "interface-output"},
	.reasons = {[ANSWERED] = "solicitation answered",
		[LEARNT] = "neighbor learnt",
		[NOT_FOR_US] = "not for the router",
		[BAD_HOP_LIMIT] = "hop limit is not 255",
		[BAD_CODE] = "code is not 0",
		[TRUNCATED] = "shorter than a neighbor message",
		[TARGET_MULTICAST] = "target is multicast",
		[BAD_OPTION] = "malformed options",
		[BAD_UNSPECIFIED] = "malformed duplicate address detection",
		[BAD_SOLICITED] = "solicited advertisement to a group",
		[BAD_MAC] = "mac is no station's",
		[ADDRESS_CONFLICT] = "sender has an address of the router",
		[NOT_ON_LINK] = "sender not on the interface's subnet"},
	.consumed = 1u << ANSWERED | 1u << LEARNT | 1u << NOT_FOR_US,
};
NODE_REGISTER(icmp6_nd_input)
