/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_key.h"

#include "flow_hash.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <string.h>

#define LABELS_MAX 16
#define EXTENSIONS_MAX 16
#define IP4_HEADER_BYTES 20
#define IP6_HEADER_BYTES 40
#define TCP_FLAGS_OFFSET 13
#define TCP_HEADER_BYTES 20
/* Bytes of an upper header that hold the ports: both are in the first four. */
#define PORTS_HEADER_BYTES 8
#define IPPROTO_IPV6_FRAGMENT 44

/* The unread part of a frame. */
struct rest {
	const uint8_t *at;
	unsigned bytes;
};

static uint16_t read16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t read32(const uint8_t *at)
{
	return (uint32_t)read16(at) << 16 | read16(at + 2);
}

static void skip(struct rest *rest, unsigned bytes)
{
	rest->at += bytes;
	rest->bytes -= bytes;
}

uint64_t flow_key_addresses6(const uint8_t *low, const uint8_t *high)
{
	uint64_t words[4];

	memcpy(words, low, 16);
	memcpy(words + 2, high, 16);
	/* Colliding flows are distinguished by their addresses. */
	return flow_hash_fold(words[0] ^ 0xa0761d6478bd642full, words[1] ^ 0xe7037ed1a0b428dbull) ^
	       flow_hash_fold(words[2] ^ 0x8ebc6af09c88c6e3ull, words[3] ^ 0x589965cc75374cc3ull);
}

/* Skips tags and labels. Returns the version of the IP header at rest->at, or 0. */
static unsigned find_ip(struct rest *rest)
{
	uint16_t type;

	if (rest->bytes < RTE_ETHER_HDR_LEN)
		return 0;
	skip(rest, 12);
	while ((type = read16(rest->at)) == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ) {
		if (rest->bytes < 6)
			return 0;
		skip(rest, 4);
	}
	skip(rest, 2);
	if (type == RTE_ETHER_TYPE_IPV4)
		return 4;
	if (type == RTE_ETHER_TYPE_IPV6)
		return 6;
	for (unsigned labels = 0; type == RTE_ETHER_TYPE_MPLS && labels < LABELS_MAX; labels++) {
		bool bottom;

		/* Below the label stack only the first nibble identifies the protocol. */
		if (rest->bytes < 5)
			return 0;
		bottom = rest->at[2] & 1;
		skip(rest, 4);
		if (bottom)
			return rest->at[0] >> 4 == 4 ? 4 : rest->at[0] >> 4 == 6 ? 6 : 0;
	}
	return 0;
}

/* A request and its reply have one type: the request's. */
static uint8_t icmp_type(uint8_t protocol, uint8_t type, bool *query)
{
	static const uint8_t requests[] = {[ICMP_ECHOREPLY] = ICMP_ECHO,
		[ICMP_ECHO] = ICMP_ECHO,
		[ICMP_TIMESTAMP] = ICMP_TIMESTAMP,
		[ICMP_TIMESTAMPREPLY] = ICMP_TIMESTAMP,
		[ICMP_INFO_REQUEST] = ICMP_INFO_REQUEST,
		[ICMP_INFO_REPLY] = ICMP_INFO_REQUEST,
		[ICMP_ADDRESS] = ICMP_ADDRESS,
		[ICMP_ADDRESSREPLY] = ICMP_ADDRESS};

	if (protocol == IPPROTO_ICMP) {
		*query = type < sizeof(requests) && requests[type] != 0;
		return *query ? requests[type] : type;
	}
	*query = type == ICMP6_ECHO_REQUEST || type == ICMP6_ECHO_REPLY;
	return *query ? ICMP6_ECHO_REQUEST : type;
}

static bool read_icmp(const struct rest *rest, uint8_t protocol, struct flow_key *key)
{
	bool query;
	uint8_t type;

	if (rest->bytes < PORTS_HEADER_BYTES)
		return false;
	type = icmp_type(protocol, rest->at[0], &query);
	key->low_port = query ? read16(rest->at + 4) : 0;
	key->high_port = (uint16_t)(type << 8 | rest->at[1]);
	return true;
}

/* Reads the header above IP. Writes the sender's port and the receiver's; ICMP's words go into the
 * key, which has no ports then. Returns false when it is cut short. */
static bool read_upper(
	const struct rest *rest, uint8_t protocol, struct flow_parsed *parsed, uint16_t ports[2])
{
	switch (protocol) {
	case IPPROTO_TCP:
		if (rest->bytes < TCP_HEADER_BYTES)
			return false;
		parsed->tcp_flags = rest->at[TCP_FLAGS_OFFSET];
		break;
	case IPPROTO_UDP:
	case IPPROTO_SCTP:
		if (rest->bytes < PORTS_HEADER_BYTES)
			return false;
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return read_icmp(rest, protocol, &parsed->key);
	default:
		return true;
	}
	ports[0] = read16(rest->at);
	ports[1] = read16(rest->at + 2);
	return true;
}

static void sort_ports(struct flow_parsed *parsed, const uint16_t ports[2])
{
	/* ICMP's words belong to no endpoint. */
	if (parsed->key.protocol == IPPROTO_ICMP || parsed->key.protocol == IPPROTO_ICMPV6)
		return;
	parsed->key.low_port = ports[parsed->direction];
	parsed->key.high_port = ports[!parsed->direction];
}

static void sort4(struct flow_parsed *parsed, const uint8_t *ip, const uint16_t ports[2])
{
	uint64_t source = (uint64_t)read32(ip + 12) << 16 | ports[0];
	uint64_t destination = (uint64_t)read32(ip + 16) << 16 | ports[1];

	parsed->direction = source > destination ? FLOW_HIGH_TO_LOW : FLOW_LOW_TO_HIGH;
	parsed->key.low_address = (uint32_t)(RTE_MIN(source, destination) >> 16);
	parsed->key.high_address = (uint32_t)(RTE_MAX(source, destination) >> 16);
	sort_ports(parsed, ports);
}

static void sort6(struct flow_parsed *parsed, const uint8_t *addresses, const uint16_t ports[2])
{
	int order = memcmp(addresses, addresses + 16, 16);
	uint64_t hash;

	parsed->direction = order > 0 || (order == 0 && ports[0] > ports[1]) ? FLOW_HIGH_TO_LOW
									     : FLOW_LOW_TO_HIGH;
	hash = flow_key_addresses6(&addresses[(size_t)16 * parsed->direction],
		&addresses[(size_t)16 * !parsed->direction]);
	parsed->key.low_address = (uint32_t)hash;
	parsed->key.high_address = (uint32_t)(hash >> 32);
	parsed->addresses6 = addresses;
	sort_ports(parsed, ports);
}

static enum flow_kind parse4(struct rest *rest, struct flow_parsed *parsed)
{
	const uint8_t *ip = rest->at;
	uint16_t ports[2] = {0, 0}, total, fragment;
	unsigned header;

	if (rest->bytes < IP4_HEADER_BYTES || ip[0] >> 4 != 4)
		return FLOW_KIND_BROKEN;
	header = (ip[0] & 0xfu) * 4;
	total = read16(ip + 2);
	if (header < IP4_HEADER_BYTES || total < header || total > rest->bytes)
		return FLOW_KIND_BROKEN;
	rest->bytes = total;
	skip(rest, header);
	parsed->key.protocol = ip[9];
	parsed->key.version = 4;
	parsed->fragment_id = read16(ip + 4);
	fragment = read16(ip + 6);
	if ((fragment & 0x1fff) == 0) {
		if (!read_upper(rest, ip[9], parsed, ports))
			return FLOW_KIND_BROKEN;
		parsed->l3_byte = ip[0];
	}
	sort4(parsed, ip, ports);
	return (fragment & 0x1fff) != 0   ? FLOW_KIND_LATER_FRAGMENT
	       : (fragment & 0x2000) != 0 ? FLOW_KIND_FIRST_FRAGMENT
					  : FLOW_KIND_PACKET;
}

static bool is_extension(uint8_t protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
	       protocol == IPPROTO_DSTOPTS || protocol == IPPROTO_AH ||
	       protocol == IPPROTO_IPV6_FRAGMENT;
}

/* Skips IPv6's extension headers down to the upper one, or to the payload of a later fragment. */
static enum flow_kind skip_extensions(struct rest *rest, uint8_t *protocol, uint32_t *id)
{
	enum flow_kind kind = FLOW_KIND_PACKET;

	for (unsigned i = 0; is_extension(*protocol); i++) {
		uint8_t next;
		unsigned bytes;

		if (rest->bytes < 8 || i == EXTENSIONS_MAX)
			return FLOW_KIND_BROKEN;
		next = rest->at[0];
		bytes = *protocol == IPPROTO_AH ? (rest->at[1] + 2u) * 4 : (rest->at[1] + 1u) * 8;
		if (*protocol == IPPROTO_IPV6_FRAGMENT) {
			uint16_t word = read16(rest->at + 2);

			bytes = 8;
			*id = read32(rest->at + 4);
			/* An "atomic" fragment (RFC 6946) is the whole packet. */
			kind = word >> 3 != 0    ? FLOW_KIND_LATER_FRAGMENT
			       : (word & 1) != 0 ? FLOW_KIND_FIRST_FRAGMENT
						 : kind;
		}
		if (rest->bytes < bytes)
			return FLOW_KIND_BROKEN;
		skip(rest, bytes);
		*protocol = next;
		if (kind == FLOW_KIND_LATER_FRAGMENT)
			break;
	}
	return kind;
}

static enum flow_kind parse6(struct rest *rest, struct flow_parsed *parsed)
{
	const uint8_t *ip = rest->at;
	uint16_t ports[2] = {0, 0}, payload;
	enum flow_kind kind;
	uint8_t protocol;

	if (rest->bytes < IP6_HEADER_BYTES || ip[0] >> 4 != 6)
		return FLOW_KIND_BROKEN;
	payload = read16(ip + 4);
	if (payload > rest->bytes - IP6_HEADER_BYTES)
		return FLOW_KIND_BROKEN;
	protocol = ip[6];
	skip(rest, IP6_HEADER_BYTES);
	rest->bytes = payload;
	kind = skip_extensions(rest, &protocol, &parsed->fragment_id);
	if (kind == FLOW_KIND_BROKEN)
		return kind;
	parsed->key.protocol = protocol;
	parsed->key.version = 6;
	if (kind != FLOW_KIND_LATER_FRAGMENT && !read_upper(rest, protocol, parsed, ports))
		return FLOW_KIND_BROKEN;
	if (rest->at == ip + IP6_HEADER_BYTES)
		parsed->l3_byte = ip[0];
	sort6(parsed, ip + 8, ports);
	return kind;
}

/* Not below labels. */
static bool is_typed(const uint8_t *l3, unsigned version)
{
	return read16(l3 - 2) == (version == 4 ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6);
}

void flow_key_parse(const uint8_t *frame, unsigned bytes, struct flow_parsed *parsed)
{
	struct rest rest = {frame, bytes};
	unsigned version = find_ip(&rest);
	size_t l3_offset = (size_t)(rest.at - frame);

	memset(parsed, 0, sizeof(*parsed));
	parsed->kind = FLOW_KIND_NO_IP;
	parsed->l3_offset = l3_offset <= UINT8_MAX ? (uint8_t)l3_offset : 0;
	if (version == 4)
		parsed->kind = (uint8_t)parse4(&rest, parsed);
	else if (version == 6)
		parsed->kind = (uint8_t)parse6(&rest, parsed);
	if (parsed->l3_byte != 0 && !is_typed(frame + l3_offset, version))
		parsed->l3_byte = 0;
}
