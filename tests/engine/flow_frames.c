/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_frames.h"

#include <netinet/in.h>
#include <string.h>

static uint64_t dice;

void flow_dice_seed(uint64_t seed)
{
	dice = seed;
}

unsigned flow_dice(unsigned below)
{
	dice = dice * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((dice >> 33) % below);
}

static void put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static bool is_icmp(const struct end_pair *pair)
{
	return pair->protocol == IPPROTO_ICMP || pair->protocol == IPPROTO_ICMPV6;
}

static bool has_ports(const struct end_pair *pair)
{
	return pair->protocol == IPPROTO_UDP || pair->protocol == IPPROTO_TCP ||
	       pair->protocol == IPPROTO_SCTP;
}

static bool is_query(const struct end_pair *pair)
{
	return is_icmp(pair) &&
	       (pair->icmp_type == 8 || pair->icmp_type == 13 || pair->icmp_type == 128);
}

static void find_low(struct end_pair *pair)
{
	int order = memcmp(pair->addresses[0], pair->addresses[1], 16);

	pair->low = order != 0 ? order > 0 : pair->ports[0] > pair->ports[1];
}

void flow_random_pair(struct end_pair *pair)
{
	static const uint8_t protocols[] = {6, 6, 6, 17, 17, 17, 132, 1, 47, 50};
	static const uint8_t types4[] = {8, 8, 13, 3, 11}, types6[] = {128, 128, 1, 135, 4};

	memset(pair, 0, sizeof(*pair));
	pair->version = flow_dice(3) == 0 ? 6 : 4;
	pair->protocol = protocols[flow_dice(sizeof(protocols))];
	if (pair->version == 6 && pair->protocol == IPPROTO_ICMP)
		pair->protocol = IPPROTO_ICMPV6;
	/* Few addresses, so that flows differ in one field alone. */
	for (unsigned end = 0; end < 2; end++) {
		unsigned last = pair->version == 4 ? 3 : 15;

		pair->addresses[end][0] = (uint8_t)(10 + flow_dice(2));
		pair->addresses[end][last] = (uint8_t)flow_dice(16);
		if (has_ports(pair))
			pair->ports[end] = (uint16_t)flow_dice(64);
	}
	/* Packets that an end sends to itself have no direction. */
	if (memcmp(pair->addresses[0], pair->addresses[1], 16) == 0 &&
		pair->ports[0] == pair->ports[1])
		pair->addresses[1][1] = 9;
	if (is_icmp(pair)) {
		pair->icmp_type = pair->version == 4 ? types4[flow_dice(sizeof(types4))]
						     : types6[flow_dice(sizeof(types6))];
		pair->icmp_code = is_query(pair) ? 0 : (uint8_t)flow_dice(3);
		pair->icmp_id = is_query(pair) ? (uint16_t)flow_dice(50) : 0;
	}
	find_low(pair);
}

bool flow_pairs_same(const struct end_pair *a, const struct end_pair *b)
{
	return a->version == b->version && a->protocol == b->protocol &&
	       memcmp(a->addresses[a->low], b->addresses[b->low], 16) == 0 &&
	       memcmp(a->addresses[!a->low], b->addresses[!b->low], 16) == 0 &&
	       a->ports[a->low] == b->ports[b->low] && a->ports[!a->low] == b->ports[!b->low] &&
	       a->icmp_type == b->icmp_type && a->icmp_code == b->icmp_code &&
	       a->icmp_id == b->icmp_id;
}

static uint32_t number4(const uint8_t *address)
{
	return (uint32_t)address[0] << 24 | (uint32_t)address[1] << 16 | (uint32_t)address[2] << 8 |
	       address[3];
}

bool flow_pair_has_key(
	const struct end_pair *pair, const struct flow_key *key, const struct flow_addresses6 *six)
{
	const uint8_t *low = pair->addresses[pair->low], *high = pair->addresses[!pair->low];
	uint16_t first = pair->ports[pair->low], second = pair->ports[!pair->low];

	if (is_icmp(pair)) {
		first = pair->icmp_id;
		second = (uint16_t)(pair->icmp_type << 8 | pair->icmp_code);
	}
	if (key->version != pair->version || key->protocol != pair->protocol ||
		key->low_port != first || key->high_port != second)
		return false;
	if (pair->version == 6)
		return memcmp(six->low, low, 16) == 0 && memcmp(six->high, high, 16) == 0;
	return key->low_address == number4(low) && key->high_address == number4(high);
}

/* Writes a whole header above IP. Returns its length. */
static unsigned make_upper(
	const struct end_pair *pair, const struct frame_wish *wish, uint8_t *upper)
{
	unsigned header = 8;

	if (has_ports(pair)) {
		put16(upper, pair->ports[wish->from]);
		put16(upper + 2, pair->ports[!wish->from]);
	}
	if (pair->protocol == IPPROTO_TCP) {
		header = 20;
		upper[12] = 5 << 4;
		upper[13] = wish->tcp_flags;
	} else if (pair->protocol == IPPROTO_SCTP) {
		header = 12;
	} else if (is_icmp(pair)) {
		static const uint8_t replies[] = {[8] = 0, [13] = 14, [128] = 129};

		upper[0] = is_query(pair) && wish->from == 1 ? replies[pair->icmp_type]
							     : pair->icmp_type;
		upper[1] = pair->icmp_code;
		put16(upper + 4, is_query(pair) ? pair->icmp_id : flow_dice(65536));
	}
	return header + wish->payload;
}

static unsigned make_ip4(const struct end_pair *pair, const struct frame_wish *wish, uint8_t *ip)
{
	unsigned header = 20 + 4 * wish->extensions, upper;

	memset(ip + 20, 1, header - 20); /* options: no operation */
	upper = wish->fragment_offset > 0 ? wish->payload + 8 : make_upper(pair, wish, ip + header);
	ip[0] = (uint8_t)(0x40 | header / 4);
	ip[1] = (uint8_t)flow_dice(256);
	put16(ip + 2, header + upper);
	put16(ip + 4, wish->fragment_id);
	put16(ip + 6, wish->fragment_offset | (wish->more ? 0x2000 : flow_dice(2) << 14));
	ip[8] = 64;
	ip[9] = pair->protocol;
	memcpy(ip + 12, pair->addresses[wish->from], 4);
	memcpy(ip + 16, pair->addresses[!wish->from], 4);
	return header + upper;
}

static unsigned make_ip6(const struct end_pair *pair, const struct frame_wish *wish, uint8_t *ip)
{
	unsigned bytes = 40;
	uint8_t *next = ip + 6;

	ip[0] = (uint8_t)(0x60 | flow_dice(2));
	for (unsigned i = 0; i < wish->extensions; i++) {
		*next = i == 0 ? IPPROTO_HOPOPTS : IPPROTO_DSTOPTS;
		next = ip + bytes;
		ip[bytes + 1] = 0;
		bytes += 8;
	}
	if (wish->fragment) {
		*next = 44;
		next = ip + bytes;
		put16(ip + bytes + 2, wish->fragment_offset << 3 | wish->more);
		put16(ip + bytes + 4, wish->fragment_id >> 16);
		put16(ip + bytes + 6, wish->fragment_id);
		bytes += 8;
	}
	*next = pair->protocol;
	memcpy(ip + 8, pair->addresses[wish->from], 16);
	memcpy(ip + 24, pair->addresses[!wish->from], 16);
	bytes += wish->fragment_offset > 0 ? wish->payload + 8 : make_upper(pair, wish, ip + bytes);
	put16(ip + 4, bytes - 40);
	return bytes;
}

unsigned flow_make_frame(
	const struct end_pair *pair, const struct frame_wish *wish, uint8_t frame[FLOW_FRAME_BYTES])
{
	unsigned offset = 12, type = pair->version == 4 ? 0x0800 : 0x86dd;

	memset(frame, 0, FLOW_FRAME_BYTES);
	for (unsigned i = 0; i < wish->tags; i++, offset += 4) {
		put16(frame + offset, i == 0 && wish->tags > 1 ? 0x88a8 : 0x8100);
		put16(frame + offset + 2, flow_dice(65536));
	}
	put16(frame + offset, wish->labels > 0 ? 0x8847 : type);
	offset += 2;
	for (unsigned i = 0; i < wish->labels; i++, offset += 4) {
		put16(frame + offset, flow_dice(65536));
		put16(frame + offset + 2,
			(flow_dice(65536) & ~0x100u) | (i + 1 == wish->labels ? 0x100 : 0));
	}
	if (pair->version == 4)
		offset += make_ip4(pair, wish, frame + offset);
	else
		offset += make_ip6(pair, wish, frame + offset);
	/* The padding of short frames is no part of the packet. */
	while (offset < 60)
		frame[offset++] = (uint8_t)flow_dice(256);
	return offset;
}
