/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps "fix_ipv4_checksum" and "fix_l4_checksum": RFC 1071 over what the frame holds now. */
#include "inet_checksum.h"
#include "program.h"

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <string.h>

#define IP4_CHECKSUM_AT 10
#define IP4_HEADER 20
#define IP6_HEADER 40

static void put16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

static unsigned get16(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static void run_ip4(const struct step *step, struct program_burst *burst)
{
	for (unsigned i = 0; i < burst->count; i++) {
		uint8_t *ip = burst->frames[i] + step->offset;
		unsigned room =
			(unsigned)burst->lengths[i] - RTE_MIN(step->offset, burst->lengths[i]);
		unsigned bytes = RTE_MIN((ip[0] & 0xfu) * 4, room);

		if (bytes < IP4_HEADER)
			continue;
		put16(ip + IP4_CHECKSUM_AT, 0);
		put16(ip + IP4_CHECKSUM_AT, inet_checksum(rte_raw_cksum(ip, bytes)));
	}
}

static void parse_ip4(struct program *program, struct step *step, const struct config_node *node)
{
	config_known(node, "offset");
	step->offset = (uint16_t)config_u64(node, "offset", 14, 0, UINT16_MAX);
	program_touch(program, node, step->offset, IP4_HEADER);
}

static struct step_kind ip4_kind = {
	.name = "fix_ipv4_checksum", .parse = parse_ip4, .run = run_ip4};
STEP_REGISTER(ip4_kind)

static const struct {
	const char *name;
	uint8_t number, checksum_at;
} protocols[] = {
	{"udp", IPPROTO_UDP, 6},
	{"tcp", IPPROTO_TCP, 16},
	{"icmp6", IPPROTO_ICMPV6, 2},
};

/* Bytes from the transport header on, by the IP header, as far as the frame goes. */
static unsigned l4_bytes(const uint8_t *ip, unsigned l3_bytes, unsigned room)
{
	unsigned packet = ip[0] >> 4 == 4 ? get16(ip + 2) : get16(ip + 4) + IP6_HEADER;

	if (packet <= l3_bytes || room <= l3_bytes || (ip[0] >> 4 != 4 && room < IP6_HEADER))
		return 0;
	return RTE_MIN(packet, room) - l3_bytes;
}

static uint32_t pseudo_sum(const uint8_t *ip, uint8_t protocol, unsigned bytes)
{
	uint32_t sum = ip[0] >> 4 == 4 ? rte_raw_cksum(ip + 12, 8) : rte_raw_cksum(ip + 8, 32);

	return sum + rte_cpu_to_be_16(protocol) + rte_cpu_to_be_16((uint16_t)bytes);
}

static void run_l4(const struct step *step, struct program_burst *burst)
{
	uint8_t checksum_at = protocols[step->protocol].checksum_at;
	uint8_t number = protocols[step->protocol].number;

	for (unsigned i = 0; i < burst->count; i++) {
		uint8_t *ip = burst->frames[i] + step->offset, *l4 = ip + step->bytes;
		unsigned room =
			(unsigned)burst->lengths[i] - RTE_MIN(step->offset, burst->lengths[i]);
		unsigned bytes = l4_bytes(ip, step->bytes, room);
		uint16_t sum;

		if (bytes < checksum_at + 2u)
			continue;
		put16(l4 + checksum_at, 0);
		sum = inet_checksum(rte_raw_cksum(l4, bytes) + pseudo_sum(ip, number, bytes));
		/* 0 would say that there is no checksum: RFC 768. */
		put16(l4 + checksum_at, sum == 0 && number == IPPROTO_UDP ? 0xffff : sum);
	}
}

static void parse_l4(struct program *program, struct step *step, const struct config_node *node)
{
	static const char *const names[] = {"udp", "tcp", "icmp6", NULL};
	int protocol = config_choice(node, "protocol", names, -1);

	config_known(node, "l3_offset", "l3_bytes", "protocol");
	step->offset = (uint16_t)config_u64(node, "l3_offset", 14, 0, UINT16_MAX);
	step->bytes = (uint16_t)config_u64(node, "l3_bytes", IP4_HEADER, IP4_HEADER, 1024);
	if (protocol < 0) {
		config_mistake(node, "protocol: expected udp, tcp or icmp6");
		return;
	}
	step->protocol = (uint8_t)protocol;
	program_touch(program, node, step->offset, IP4_HEADER);
	program_touch(
		program, node, step->offset + step->bytes + protocols[protocol].checksum_at, 2);
}

static struct step_kind l4_kind = {.name = "fix_l4_checksum", .parse = parse_l4, .run = run_l4};
STEP_REGISTER(l4_kind)

unsigned step_summed_to(const struct step *step, const uint8_t *frame, unsigned bytes)
{
	unsigned summed;

	if (step->kind != &l4_kind || bytes < step->offset + (unsigned)IP4_HEADER)
		return 0;
	summed = l4_bytes(frame + step->offset, step->bytes, bytes - step->offset);
	return summed == 0 ? 0 : step->offset + step->bytes + summed;
}
