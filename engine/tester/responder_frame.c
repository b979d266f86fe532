/* SPDX-License-Identifier: BSD-3-Clause */
#include "responder_frame.h"

#include "core/checksum.h"
#include "router/packet6.h"

#include <rte_arp.h>
#include <rte_icmp.h>

/* RFC 792, RFC 4443. */
#define ICMP4_UNREACHABLE 3
#define ICMP4_TIME_EXCEEDED 11
#define ICMP6_ERROR_LAST 4
#define ECHO_TTL 64
#define ECHO_HEADER_BYTES 8
#define VLAN_ID_MASK 0xfff
#define TAGS_MAX 2

static bool is_station(const struct rte_ether_addr *mac)
{
	return !rte_is_multicast_ether_addr(mac) && !rte_is_zero_ether_addr(mac);
}

static const struct rte_ether_addr *destination(const uint8_t *frame)
{
	return (const struct rte_ether_addr *)frame;
}

static const struct rte_ether_addr *source(const uint8_t *frame)
{
	return (const struct rte_ether_addr *)(frame + RTE_ETHER_ADDR_LEN);
}

static uint16_t read16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void write16(uint8_t *bytes, uint16_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

static struct ip_address read_ip4(const uint8_t *bytes)
{
	rte_be32_t address;

	memcpy(&address, bytes, sizeof(address));
	return address_ip4(rte_be_to_cpu_32(address));
}

static void write_ip4(uint8_t *bytes, const struct ip_address *address)
{
	rte_be32_t word = rte_cpu_to_be_32(address->ip4);

	memcpy(bytes, &word, sizeof(word));
}

/* The sum of a message with its checksum in it is right. */
static bool sums_up(const uint8_t *bytes, unsigned count)
{
	return csum_fold(csum_sum(bytes, count)) == 0;
}

const struct host_address *host_owns(
	const struct host *host, const struct ip_address *address, struct host_tags tags)
{
	for (unsigned i = 0; i < host->nb_addresses; i++)
		if (host_tags_same(host->addresses[i].tags, tags) &&
			address_same(&host->addresses[i].address, address))
			return &host->addresses[i];
	return NULL;
}

static bool on_subnet(const struct host_address *own, const struct ip_address *address)
{
	if (own->address.family != address->family)
		return false;
	if (address->family == ADDRESS_IP6)
		return ip6_prefix_covers(own->address.ip6, own->length, address->ip6);
	return own->length == 0 || (own->address.ip4 ^ address->ip4) >> (32 - own->length) == 0;
}

static bool in_vlan(const struct host_address *own, const struct host_tags *tags)
{
	return tags == NULL || host_tags_same(own->tags, *tags);
}

const struct host_address *host_towards(
	const struct host *host, const struct ip_address *neighbor, const struct host_tags *tags)
{
	for (unsigned i = 0; i < host->nb_addresses; i++)
		if (in_vlan(&host->addresses[i], tags) &&
			(on_subnet(&host->addresses[i], neighbor) ||
				address_same(&host->addresses[i].gateway, neighbor)))
			return &host->addresses[i];
	return NULL;
}

const struct host_address *host_route(const struct host *host, const struct ip_address *destination,
	const struct host_tags *tags, struct ip_address *hop)
{
	const struct host_address *from = host_towards(host, destination, tags);

	*hop = *destination;
	if (from != NULL)
		return from;
	for (unsigned i = 0; i < host->nb_addresses; i++) {
		from = &host->addresses[i];
		if (in_vlan(from, tags) && from->gateway.family == destination->family) {
			*hop = from->gateway;
			return from;
		}
	}
	return NULL;
}

static bool is_tag(uint16_t type)
{
	return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ ||
	       type == RTE_ETHER_TYPE_QINQ1;
}

/* Where the header after Ethernet and its tags starts, and what it is; 0: in no frame. */
static uint16_t read_l2(struct host_heard *heard, const uint8_t *frame, unsigned bytes)
{
	uint16_t type;

	if (bytes < RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN || !is_station(source(frame)))
		return 0;
	heard->l3 = RTE_ETHER_HDR_LEN;
	type = read16(frame + offsetof(struct rte_ether_hdr, ether_type));
	for (unsigned tags = 0; tags < TAGS_MAX && is_tag(type); tags++) {
		uint16_t *id = tags == 0 ? &heard->tags.outer : &heard->tags.inner;

		if (bytes < (unsigned)heard->l3 + RTE_VLAN_HLEN)
			return 0;
		*id = read16(frame + heard->l3) & VLAN_ID_MASK;
		type = read16(frame + heard->l3 + 2);
		heard->l3 += RTE_VLAN_HLEN;
	}
	return type;
}

static enum host_message read_arp(
	struct host_heard *heard, const struct host *host, const uint8_t *l3, unsigned bytes)
{
	const struct rte_arp_hdr *arp = (const struct rte_arp_hdr *)l3;
	struct ip_address target;

	if (bytes < sizeof(*arp) || arp->arp_hardware != RTE_BE16(RTE_ARP_HRD_ETHER) ||
		arp->arp_protocol != RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
		arp->arp_hlen != RTE_ETHER_ADDR_LEN || arp->arp_plen != sizeof(rte_be32_t) ||
		!is_station(&arp->arp_data.arp_sha))
		return HOST_NOTHING;
	heard->neighbor = read_ip4(l3 + offsetof(struct rte_arp_hdr, arp_data.arp_sip));
	heard->mac = arp->arp_data.arp_sha;
	target = read_ip4(l3 + offsetof(struct rte_arp_hdr, arp_data.arp_tip));
	heard->own = host_owns(host, &target, heard->tags);
	if (heard->own == NULL)
		return HOST_NOTHING;
	if (arp->arp_opcode == RTE_BE16(RTE_ARP_OP_REQUEST))
		return HOST_ARP_REQUEST;
	return arp->arp_opcode == RTE_BE16(RTE_ARP_OP_REPLY) ? HOST_ARP_REPLY : HOST_NOTHING;
}

static void read_echo(struct host_heard *heard, const uint8_t *icmp)
{
	heard->identifier = read16(icmp + offsetof(struct rte_icmp_hdr, icmp_ident));
	heard->sequence = read16(icmp + offsetof(struct rte_icmp_hdr, icmp_seq_nb));
}

/* The packet that an ICMP error quotes, which the host must have sent. */
static enum host_message read_error4(struct host_heard *heard, const uint8_t *icmp)
{
	const uint8_t *quoted = icmp + ECHO_HEADER_BYTES;
	unsigned bytes = heard->upper_bytes - ECHO_HEADER_BYTES, header = (quoted[0] & 15u) * 4;
	struct ip_address from;

	if (bytes < sizeof(struct rte_ipv4_hdr) || quoted[0] >> 4 != 4 ||
		header < sizeof(struct rte_ipv4_hdr) || bytes < header + ECHO_HEADER_BYTES)
		return HOST_NOTHING;
	from = read_ip4(quoted + offsetof(struct rte_ipv4_hdr, src_addr));
	if (!address_same(&from, &heard->own->address) ||
		quoted[offsetof(struct rte_ipv4_hdr, next_proto_id)] != IPPROTO_ICMP ||
		quoted[header] != RTE_IP_ICMP_ECHO_REQUEST)
		return HOST_NOTHING;
	heard->type = icmp[0];
	heard->code = icmp[1];
	read_echo(heard, quoted + header);
	return HOST_ERROR;
}

static enum host_message read_icmp4(struct host_heard *heard, const uint8_t *icmp)
{
	if (icmp[0] == ICMP4_UNREACHABLE || icmp[0] == ICMP4_TIME_EXCEEDED)
		return read_error4(heard, icmp);
	if (icmp[1] != 0)
		return HOST_NOTHING;
	read_echo(heard, icmp);
	if (icmp[0] == RTE_IP_ICMP_ECHO_REPLY)
		return HOST_ECHO_REPLY;
	return icmp[0] == RTE_IP_ICMP_ECHO_REQUEST ? HOST_ECHO : HOST_NOTHING;
}

/* Options and fragments are not for so small a host. */
static enum host_message read_ip4_packet(
	struct host_heard *heard, const struct host *host, const uint8_t *l3, unsigned bytes)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)l3;
	struct ip_address to;
	unsigned total;

	if (bytes < sizeof(*ip) || ip->version_ihl != IP4_PLAIN_VERSION_IHL ||
		ip->next_proto_id != IPPROTO_ICMP ||
		(ip->fragment_offset & CSUM_FRAGMENT_MASK) != 0)
		return HOST_NOTHING;
	to = read_ip4(l3 + offsetof(struct rte_ipv4_hdr, dst_addr));
	heard->neighbor = read_ip4(l3 + offsetof(struct rte_ipv4_hdr, src_addr));
	heard->own = host_owns(host, &to, heard->tags);
	total = rte_be_to_cpu_16(ip->total_length);
	if (heard->own == NULL || total > bytes || total < sizeof(*ip) + ECHO_HEADER_BYTES ||
		heard->neighbor.ip4 == 0 || heard->neighbor.ip4 >> 28 >= 0xe ||
		!sums_up(l3, sizeof(*ip)))
		return HOST_NOTHING;
	heard->upper = (uint16_t)(heard->l3 + sizeof(*ip));
	heard->upper_bytes = (uint16_t)(total - sizeof(*ip));
	heard->ttl = ip->time_to_live;
	if (!sums_up(l3 + sizeof(*ip), heard->upper_bytes))
		return HOST_NOTHING;
	return read_icmp4(heard, l3 + sizeof(*ip));
}

/* RFC 4861 7.1.1; one from no address asks whether this one is taken. */
static enum host_message read_solicitation(
	struct host_heard *heard, const struct host *host, const uint8_t *icmp)
{
	const struct ip_address target = address_ip6(icmp + ND_AT_TARGET);
	const struct rte_ether_addr *option;

	heard->own = host_owns(host, &target, heard->tags);
	if (heard->own == NULL || !nd_read_options(icmp + ND_AT_OPTIONS, icmp + heard->upper_bytes,
					  ND_OPT_SOURCE_LINKADDR, &option))
		return HOST_NOTHING;
	if (option != NULL)
		heard->mac = *option;
	if (!is_station(&heard->mac) || (option != NULL && ip6_is_unspecified(heard->neighbor.ip6)))
		return HOST_NOTHING;
	return HOST_SOLICITATION;
}

/* RFC 4861 7.1.2. */
static enum host_message read_advertisement(struct host_heard *heard, const uint8_t *icmp)
{
	const struct rte_ether_addr *option;

	if (!nd_read_options(icmp + ND_AT_OPTIONS, icmp + heard->upper_bytes,
		    ND_OPT_TARGET_LINKADDR, &option))
		return HOST_NOTHING;
	heard->neighbor = address_ip6(icmp + ND_AT_TARGET);
	if (option != NULL)
		heard->mac = *option;
	return is_station(&heard->mac) ? HOST_ADVERTISEMENT : HOST_NOTHING;
}

static enum host_message read_error6(struct host_heard *heard, const uint8_t *icmp)
{
	const uint8_t *quoted = icmp + ECHO_HEADER_BYTES;

	if (heard->upper_bytes < 2 * ECHO_HEADER_BYTES + IP6_HEADER_BYTES || quoted[0] >> 4 != 6 ||
		!ip6_same(quoted + IP6_AT_SOURCE, heard->own->address.ip6) ||
		quoted[IP6_AT_NEXT_HEADER] != IPPROTO_ICMPV6 ||
		quoted[IP6_HEADER_BYTES] != ICMP6_ECHO_REQUEST)
		return HOST_NOTHING;
	heard->type = icmp[0];
	heard->code = icmp[1];
	read_echo(heard, quoted + IP6_HEADER_BYTES);
	return HOST_ERROR;
}

/* To one of the host's addresses, of which neighbour discovery need not be. */
static enum host_message read_echo6(
	struct host_heard *heard, const struct host *host, const uint8_t *ip)
{
	const struct ip_address to = address_ip6(ip + IP6_AT_DESTINATION);
	const uint8_t *icmp = ip + IP6_HEADER_BYTES;

	heard->own = host_owns(host, &to, heard->tags);
	if (heard->own == NULL || ip6_is_unspecified(heard->neighbor.ip6))
		return HOST_NOTHING;
	heard->ttl = ip[IP6_AT_HOP_LIMIT];
	if (icmp[0] <= ICMP6_ERROR_LAST)
		return read_error6(heard, icmp);
	read_echo(heard, icmp);
	return icmp[0] == ICMP6_ECHO_REQUEST ? HOST_ECHO6 : HOST_ECHO_REPLY;
}

static enum host_message read_icmp6(
	struct host_heard *heard, const struct host *host, const uint8_t *ip)
{
	const uint8_t *icmp = ip + IP6_HEADER_BYTES;

	if (icmp[0] <= ICMP6_ERROR_LAST)
		return read_echo6(heard, host, ip);
	if (icmp[1] != 0)
		return HOST_NOTHING;
	if (icmp[0] == ICMP6_ECHO_REQUEST || icmp[0] == ICMP6_ECHO_REPLY)
		return read_echo6(heard, host, ip);
	if (ip[IP6_AT_HOP_LIMIT] != ND_HOP_LIMIT || heard->upper_bytes < ND_AT_OPTIONS)
		return HOST_NOTHING;
	if (icmp[0] == ND_NEIGHBOR_SOLICIT)
		return read_solicitation(heard, host, icmp);
	return icmp[0] == ND_NEIGHBOR_ADVERT ? read_advertisement(heard, icmp) : HOST_NOTHING;
}

static enum host_message read_ip6(
	struct host_heard *heard, const struct host *host, const uint8_t *ip, unsigned bytes)
{
	uint16_t payload;

	if (bytes < IP6_HEADER_BYTES + ECHO_HEADER_BYTES || ip[0] >> 4 != 6 ||
		ip[IP6_AT_NEXT_HEADER] != IPPROTO_ICMPV6)
		return HOST_NOTHING;
	payload = ip6_payload_bytes(ip);
	heard->neighbor = address_ip6(ip + IP6_AT_SOURCE);
	heard->upper = (uint16_t)(heard->l3 + IP6_HEADER_BYTES);
	heard->upper_bytes = payload;
	if (payload < ECHO_HEADER_BYTES || payload > bytes - IP6_HEADER_BYTES ||
		ip6_is_multicast(heard->neighbor.ip6) ||
		icmp6_sum(ip, ip + IP6_HEADER_BYTES, payload) != UINT16_MAX)
		return HOST_NOTHING;
	return read_icmp6(heard, host, ip);
}

struct host_heard host_read(const struct host *host, const uint8_t *frame, unsigned bytes)
{
	struct host_heard heard = {0};
	uint16_t type = read_l2(&heard, frame, bytes);
	const uint8_t *l3 = frame + heard.l3;
	unsigned rest = bytes - heard.l3;
	bool unicast;

	if (type == 0)
		return heard;
	heard.mac = *source(frame);
	unicast = rte_is_same_ether_addr(destination(frame), &host->mac);
	if (!unicast && !rte_is_multicast_ether_addr(destination(frame)))
		return heard;
	if (type == RTE_ETHER_TYPE_ARP)
		heard.message = read_arp(&heard, host, l3, rest);
	else if (type == RTE_ETHER_TYPE_IPV6)
		heard.message = read_ip6(&heard, host, l3, rest);
	else if (type == RTE_ETHER_TYPE_IPV4 && unicast)
		heard.message = read_ip4_packet(&heard, host, l3, rest);
	if (heard.message >= HOST_ECHO && !unicast)
		heard.message = HOST_NOTHING;
	return heard;
}

static unsigned padded(uint8_t *frame, unsigned bytes)
{
	if (bytes >= HOST_FRAME_BYTES_MIN)
		return bytes;
	memset(frame + bytes, 0, HOST_FRAME_BYTES_MIN - bytes);
	return HOST_FRAME_BYTES_MIN;
}

static void write_ends(const struct host *host, const struct rte_ether_addr *to, uint8_t *frame)
{
	memcpy(frame, to, RTE_ETHER_ADDR_LEN);
	memcpy(frame + RTE_ETHER_ADDR_LEN, &host->mac, RTE_ETHER_ADDR_LEN);
}

/* RFC 2464 7: a group's MAC address is 33:33 and the last four bytes of it. */
static struct rte_ether_addr group_mac(const uint8_t *group)
{
	const uint8_t *end = group + IP6_BYTES - 4;

	return (struct rte_ether_addr){{0x33, 0x33, end[0], end[1], end[2], end[3]}};
}

static void write_arp(const struct host *host, uint16_t operation, const struct ip_address *from,
	const struct ip_address *to, const struct rte_ether_addr *target, uint8_t *l3)
{
	struct rte_arp_hdr *arp = (struct rte_arp_hdr *)l3;

	arp->arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER);
	arp->arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	arp->arp_hlen = RTE_ETHER_ADDR_LEN;
	arp->arp_plen = sizeof(rte_be32_t);
	arp->arp_opcode = rte_cpu_to_be_16(operation);
	arp->arp_data.arp_sha = host->mac;
	arp->arp_data.arp_tha = *target;
	write_ip4(l3 + offsetof(struct rte_arp_hdr, arp_data.arp_sip), from);
	write_ip4(l3 + offsetof(struct rte_arp_hdr, arp_data.arp_tip), to);
}

struct neighbor_message {
	uint8_t type, flags, option;
	const uint8_t *from, *to, *target;
};

static void write_neighbor(
	const struct host *host, const struct neighbor_message *message, uint8_t *ip)
{
	uint8_t *icmp = ip + IP6_HEADER_BYTES;

	ip6_fill(ip, IPPROTO_ICMPV6, ND_MESSAGE_BYTES, ND_HOP_LIMIT, message->from, message->to);
	memset(icmp, 0, ND_AT_TARGET);
	icmp[0] = message->type;
	icmp[ND_AT_FLAGS] = message->flags;
	memcpy(icmp + ND_AT_TARGET, message->target, IP6_BYTES);
	icmp[ND_AT_OPTIONS] = message->option;
	icmp[ND_AT_OPTIONS + 1] = ND_OPTION_BYTES / 8;
	memcpy(icmp + ND_AT_OPTIONS + 2, &host->mac, RTE_ETHER_ADDR_LEN);
	icmp6_set_checksum(ip, icmp, ND_MESSAGE_BYTES);
}

/* To all when the asker has no address yet. */
static unsigned answer_solicitation(
	const struct host *host, const struct host_heard *heard, uint8_t *answer)
{
	static const uint8_t all_nodes[IP6_BYTES] = {0xff, 2, [15] = 1};
	bool probe = ip6_is_unspecified(heard->neighbor.ip6);
	const struct neighbor_message message = {
		.type = ND_NEIGHBOR_ADVERT,
		.flags = ND_FLAG_OVERRIDE | (probe ? 0 : ND_FLAG_SOLICITED),
		.option = ND_OPT_TARGET_LINKADDR,
		.from = heard->own->address.ip6,
		.to = probe ? all_nodes : heard->neighbor.ip6,
		.target = heard->own->address.ip6,
	};
	struct rte_ether_addr to = probe ? group_mac(all_nodes) : heard->mac;

	write_ends(host, &to, answer);
	write_neighbor(host, &message, answer + heard->l3);
	return heard->l3 + IP6_HEADER_BYTES + ND_MESSAGE_BYTES;
}

static unsigned answer_echo4(const struct host_heard *heard, uint8_t *answer)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(answer + heard->l3);
	struct rte_icmp_hdr *icmp = (struct rte_icmp_hdr *)(answer + heard->upper);

	write_ip4(
		answer + heard->l3 + offsetof(struct rte_ipv4_hdr, src_addr), &heard->own->address);
	write_ip4(answer + heard->l3 + offsetof(struct rte_ipv4_hdr, dst_addr), &heard->neighbor);
	ip->time_to_live = ECHO_TTL;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = csum_fold(csum_sum((const uint8_t *)ip, sizeof(*ip)));
	icmp->icmp_type = RTE_IP_ICMP_ECHO_REPLY;
	icmp->icmp_cksum = 0;
	icmp->icmp_cksum = csum_fold(csum_sum((const uint8_t *)icmp, heard->upper_bytes));
	return heard->upper + heard->upper_bytes;
}

static unsigned answer_echo6(const struct host_heard *heard, uint8_t *answer)
{
	uint8_t *ip = answer + heard->l3, *icmp = answer + heard->upper;

	ip6_fill(ip, IPPROTO_ICMPV6, heard->upper_bytes, ECHO_TTL, heard->own->address.ip6,
		heard->neighbor.ip6);
	icmp[0] = ICMP6_ECHO_REPLY;
	icmp6_set_checksum(ip, icmp, heard->upper_bytes);
	return heard->upper + heard->upper_bytes;
}

unsigned host_answer(const struct host *host, const struct host_heard *heard, const uint8_t *frame,
	uint8_t *answer)
{
	/* An echo keeps its payload; of the others the Ethernet header and tag. */
	unsigned kept = heard->upper_bytes == 0 ? heard->l3 : heard->upper + heard->upper_bytes;
	unsigned bytes;

	memcpy(answer, frame, kept);
	write_ends(host, source(frame), answer);
	switch (heard->message) {
	case HOST_ARP_REQUEST:
		write_arp(host, RTE_ARP_OP_REPLY, &heard->own->address, &heard->neighbor,
			&heard->mac, answer + heard->l3);
		bytes = heard->l3 + sizeof(struct rte_arp_hdr);
		break;
	case HOST_SOLICITATION:
		bytes = answer_solicitation(host, heard, answer);
		break;
	case HOST_ECHO:
		bytes = answer_echo4(heard, answer);
		break;
	case HOST_ECHO6:
		bytes = answer_echo6(heard, answer);
		break;
	default:
		return 0;
	}
	return padded(answer, bytes);
}

static unsigned write_tag(uint16_t type, uint16_t vlan, uint8_t *frame)
{
	write16(frame, type);
	write16(frame + 2, vlan);
	return RTE_VLAN_HLEN;
}

/* Ethernet header and perhaps tags; returns where the next header starts. */
static unsigned write_l2(const struct host *host, const struct rte_ether_addr *to,
	struct host_tags tags, uint16_t type, uint8_t *frame)
{
	unsigned at = 2 * RTE_ETHER_ADDR_LEN;

	write_ends(host, to, frame);
	if (tags.inner != 0) {
		at += write_tag(RTE_ETHER_TYPE_QINQ, tags.outer, frame + at);
		at += write_tag(RTE_ETHER_TYPE_VLAN, tags.inner, frame + at);
	} else if (tags.outer != 0) {
		at += write_tag(RTE_ETHER_TYPE_VLAN, tags.outer, frame + at);
	}
	write16(frame + at, type);
	return at + 2;
}

unsigned host_ask(const struct host *host, const struct host_address *from,
	const struct ip_address *neighbor, uint8_t *frame)
{
	static const struct rte_ether_addr all = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}, none;
	struct neighbor_message message = {
		.type = ND_NEIGHBOR_SOLICIT,
		.option = ND_OPT_SOURCE_LINKADDR,
		.from = from->address.ip6,
		.target = neighbor->ip6,
	};
	uint8_t group[IP6_BYTES];
	struct rte_ether_addr to;
	unsigned l3;

	if (neighbor->family == ADDRESS_IP4) {
		l3 = write_l2(host, &all, from->tags, RTE_ETHER_TYPE_ARP, frame);
		write_arp(host, RTE_ARP_OP_REQUEST, &from->address, neighbor, &none, frame + l3);
		return padded(frame, l3 + sizeof(struct rte_arp_hdr));
	}
	ip6_solicited_node(neighbor->ip6, group);
	to = group_mac(group);
	message.to = group;
	l3 = write_l2(host, &to, from->tags, RTE_ETHER_TYPE_IPV6, frame);
	write_neighbor(host, &message, frame + l3);
	return l3 + IP6_HEADER_BYTES + ND_MESSAGE_BYTES;
}

/* Echo header and data that counts up; the checksum is the caller's. */
static void write_echo(const struct host_echo *echo, uint8_t type, uint8_t *icmp, unsigned bytes)
{
	memset(icmp, 0, ECHO_HEADER_BYTES);
	icmp[0] = type;
	write16(icmp + offsetof(struct rte_icmp_hdr, icmp_ident), echo->identifier);
	write16(icmp + offsetof(struct rte_icmp_hdr, icmp_seq_nb), echo->sequence);
	for (unsigned i = ECHO_HEADER_BYTES; i < bytes; i++)
		icmp[i] = (uint8_t)i;
}

static unsigned ping4(const struct host *host, const struct host_echo *echo, uint8_t *frame)
{
	unsigned l3 = write_l2(host, &echo->mac, echo->from.tags, RTE_ETHER_TYPE_IPV4, frame);
	unsigned headers = l3 + sizeof(struct rte_ipv4_hdr) + ECHO_HEADER_BYTES;
	unsigned bytes = RTE_MAX((unsigned)echo->bytes, headers);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + l3);
	struct rte_icmp_hdr *icmp = (struct rte_icmp_hdr *)(ip + 1);
	unsigned upper = bytes - l3 - (unsigned)sizeof(*ip);

	memset(ip, 0, sizeof(*ip));
	ip->version_ihl = IP4_PLAIN_VERSION_IHL;
	ip->total_length = rte_cpu_to_be_16((uint16_t)(bytes - l3));
	ip->packet_id = rte_cpu_to_be_16(echo->sequence);
	ip->time_to_live = echo->ttl;
	ip->next_proto_id = IPPROTO_ICMP;
	write_ip4(frame + l3 + offsetof(struct rte_ipv4_hdr, src_addr), &echo->from.address);
	write_ip4(frame + l3 + offsetof(struct rte_ipv4_hdr, dst_addr), &echo->to);
	ip->hdr_checksum = csum_fold(csum_sum((const uint8_t *)ip, sizeof(*ip)));
	write_echo(echo, RTE_IP_ICMP_ECHO_REQUEST, (uint8_t *)icmp, upper);
	icmp->icmp_cksum = csum_fold(csum_sum((const uint8_t *)icmp, upper));
	return padded(frame, bytes);
}

static unsigned ping6(const struct host *host, const struct host_echo *echo, uint8_t *frame)
{
	unsigned l3 = write_l2(host, &echo->mac, echo->from.tags, RTE_ETHER_TYPE_IPV6, frame);
	unsigned headers = l3 + IP6_HEADER_BYTES + ECHO_HEADER_BYTES;
	unsigned bytes = RTE_MAX((unsigned)echo->bytes, headers);
	unsigned upper = bytes - l3 - IP6_HEADER_BYTES;
	uint8_t *ip = frame + l3, *icmp = ip + IP6_HEADER_BYTES;

	ip6_fill(ip, IPPROTO_ICMPV6, (uint16_t)upper, echo->ttl, echo->from.address.ip6,
		echo->to.ip6);
	write_echo(echo, ICMP6_ECHO_REQUEST, icmp, upper);
	icmp6_set_checksum(ip, icmp, (uint16_t)upper);
	return padded(frame, bytes);
}

unsigned host_ping(const struct host *host, const struct host_echo *echo, uint8_t *frame)
{
	return echo->to.family == ADDRESS_IP6 ? ping6(host, echo, frame) : ping4(host, echo, frame);
}
