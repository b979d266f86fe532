/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of templates: what is replaced in them, and their checksums. */
#include "tester/connection_frame.h"
#include "any.h"
#include "test.h"

#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#define ROUNDS 3000
#define BOUGHT 2048

static const struct connection_prefixes prefixes = {
	{"\x20\x01\x0d\xb8\xff\xff\xff\xff\x00\x00\x00", "\xfe\x80\x00\x00\x01"}};

/* A frame of UDP or TCP with some payload; returns its length. */
static unsigned make_frame(uint8_t *frame, bool udp, unsigned payload, bool tagged)
{
	unsigned at = 14 + (tagged ? 4u : 0u), l4 = udp ? 8 : 20;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + at);
	uint8_t *transport = frame + at + 20;

	for (unsigned i = 0; i < BOUGHT; i++)
		frame[i] = (uint8_t)any();
	memcpy(frame + 12, tagged ? "\x81\x00\x00\x05\x08\x00" : "\x08\x00", tagged ? 6 : 2);
	ip->version_ihl = 0x45;
	ip->total_length = rte_cpu_to_be_16((uint16_t)(20 + l4 + payload));
	ip->fragment_offset = 0;
	ip->next_proto_id = udp ? 17 : 6;
	if (udp)
		((struct rte_udp_hdr *)transport)->dgram_len =
			rte_cpu_to_be_16((uint16_t)(8 + payload));
	return at + 20 + l4 + payload;
}

/* The same over IPv6, behind `options` headers of options; some UDP datagrams have no checksum. */
static unsigned make_frame6(uint8_t *frame, bool udp, unsigned payload, unsigned options)
{
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)(frame + 14);
	uint8_t *at = frame + 54, transport = udp ? 17 : 6;
	unsigned l4 = udp ? 8 : 20, length;

	for (unsigned i = 0; i < BOUGHT; i++)
		frame[i] = (uint8_t)any();
	memcpy(frame + 12, "\x86\xdd", 2);
	ip->vtc_flow = rte_cpu_to_be_32(6u << 28);
	ip->proto = options > 0 ? 0 : transport;
	for (unsigned i = 0; i < options; i++, at += 8 * (at[1] + 1u)) {
		at[0] = i + 1 < options ? 60 : transport;
		at[1] = any() % 3;
	}
	length = (unsigned)(at - frame) + l4 + payload;
	ip->payload_len = rte_cpu_to_be_16((uint16_t)(length - 54));
	if (udp)
		((struct rte_udp_hdr *)at)->dgram_len = rte_cpu_to_be_16((uint16_t)(8 + payload));
	if (udp && any() % 2)
		((struct rte_udp_hdr *)at)->dgram_cksum = 0;
	return length;
}

static struct rte_mbuf *buffer_of(uint8_t *room)
{
	static struct rte_mbuf mbuf;

	memset(&mbuf, 0, sizeof(mbuf));
	mbuf.buf_addr = room;
	return &mbuf;
}

/* The receiver's sum: 0xffff when the checksum is right. */
static bool checksums_are_right(const uint8_t *frame, unsigned l3)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + l3);
	const uint8_t *l4 = frame + l3 + 20;

	return rte_raw_cksum(ip, 20) == 0xffff && rte_ipv4_udptcp_cksum_verify(ip, l4) == 0;
}

static void checksums_are_as_computed_in_full(void)
{
	static uint8_t _Alignas(64) frame[BOUGHT], sent[BOUGHT], whole[BOUGHT];

	for (unsigned i = 0; i < ROUNDS; i++) {
		bool udp = any() % 2, tagged = any() % 2;
		struct connection_packet packet = {.side = (uint8_t)(any() % 2)};
		unsigned length = make_frame(frame, udp, any() % 1400, tagged);
		struct rte_mbuf *mbuf = buffer_of(sent);
		struct connection_words words;
		const struct rte_ipv4_hdr *ip;
		const uint16_t *ports;

		memcpy(whole, frame, sizeof(whole));
		CHECK(connection_frame_read(&packet, frame, length, &prefixes) == NULL);
		packet.frame = frame;
		/* All bits set and none: sums at their edges. */
		connection_words_set(&words,
			i % 5 == 0   ? 0
			: i % 5 == 1 ? UINT32_MAX
				     : any(),
			i % 7 == 0 ? 0 : any(), i % 3 == 0 ? 0xffff : (uint16_t)any());
		connection_fill(&packet, &words, mbuf);
		CHECK_EQUAL(mbuf->pkt_len, RTE_MAX(length, 60u));
		CHECK(checksums_are_right(sent, packet.l3_offset));
		ip = (const struct rte_ipv4_hdr *)(sent + packet.l3_offset);
		ports = (const uint16_t *)(ip + 1);
		CHECK_EQUAL(packet.side == SIDE_CLIENT ? ip->src_addr : ip->dst_addr, words.client);
		CHECK_EQUAL(packet.side == SIDE_CLIENT ? ip->dst_addr : ip->src_addr, words.server);
		CHECK_EQUAL(ports[packet.side == SIDE_CLIENT ? 0 : 1], words.port);
		/* Behind the ports all is the template's, but for the checksum. */
		memset(sent + packet.l4_checksum_offset, 0, 2);
		memset(whole + packet.l4_checksum_offset, 0, 2);
		CHECK(memcmp(sent + packet.l4_offset + 4, whole + packet.l4_offset + 4,
			      length - packet.l4_offset - 4) == 0);
	}
}

/* Over all, as RFC 8200 8.1 has it: 0xffff when it is right. */
static uint16_t sum6_of(const struct rte_ipv6_hdr *ip, const uint8_t *l4, unsigned bytes, bool udp)
{
	uint64_t sum = rte_raw_cksum(l4, bytes);

	sum += rte_raw_cksum((const uint8_t *)ip + 8, 32);
	sum += rte_cpu_to_be_16((uint16_t)bytes) + rte_cpu_to_be_16(udp ? 17 : 6);
	return inet_checksum_fold(sum);
}

static void ip6_checksums_are_as_computed_in_full(void)
{
	static uint8_t _Alignas(64) frame[BOUGHT], sent[BOUGHT];

	for (unsigned i = 0; i < ROUNDS; i++) {
		bool udp = any() % 2;
		struct connection_packet packet = {.side = (uint8_t)(any() % 2)};
		unsigned length = make_frame6(frame, udp, any() % 1300, any() % 3);
		struct connection_words words;
		const uint8_t *l4 = sent, *src = sent + 22, *dst = sent + 38;
		bool client = packet.side == SIDE_CLIENT;

		CHECK(connection_frame_read(&packet, frame, length, &prefixes) == NULL);
		CHECK(packet.ip6);
		packet.frame = frame;
		connection_words_set(&words,
			i % 5 == 0   ? 0
			: i % 5 == 1 ? UINT32_MAX
				     : any(),
			i % 7 == 0 ? 0 : any(), i % 3 == 0 ? 0xffff : (uint16_t)any());
		connection_fill(&packet, &words, buffer_of(sent));
		l4 += packet.l4_offset;
		CHECK_EQUAL(sum6_of((const struct rte_ipv6_hdr *)(sent + 14), l4,
				    length - packet.l4_offset, udp),
			0xffff);
		CHECK(!udp || ((const struct rte_udp_hdr *)l4)->dgram_cksum != 0);
		CHECK(memcmp(src, prefixes.of[packet.side], 12) == 0);
		CHECK(memcmp(dst, prefixes.of[!packet.side], 12) == 0);
		CHECK(memcmp(src + 12, client ? &words.client : &words.server, 4) == 0);
		CHECK(memcmp(dst + 12, client ? &words.server : &words.client, 4) == 0);
		CHECK(memcmp(l4 + (client ? 0 : 2), &words.port, 2) == 0);
	}
}

/* A first fragment's checksum is of what is not there: it changes by what was changed. */
static void a_fragments_checksum_is_brought_along(void)
{
	static uint8_t _Alignas(64) frame[BOUGHT], sent[BOUGHT];

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct connection_packet packet = {.side = SIDE_CLIENT};
		unsigned length = make_frame(frame, true, 800, false);
		struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + 14);
		struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);
		struct connection_words words;

		udp->dgram_cksum = 0;
		udp->dgram_cksum = rte_ipv4_udptcp_cksum(ip, udp);
		ip->fragment_offset = rte_cpu_to_be_16(0x2000);
		CHECK(connection_frame_read(&packet, frame, length, &prefixes) == NULL);
		packet.frame = frame;
		connection_words_set(&words, any(), any(), (uint16_t)any());
		connection_fill(&packet, &words, buffer_of(sent));
		CHECK(checksums_are_right(sent, 14));
	}
}

static void frames_that_are_none_are_refused(void)
{
	static uint8_t frame[BOUGHT];
	struct connection_packet packet = {0};

	memset(frame, 0, sizeof(frame));
	CHECK(connection_frame_read(&packet, frame, 60, &prefixes) != NULL);
	memcpy(frame + 12, "\x86\xdd", 2);
	CHECK(connection_frame_read(&packet, frame, 60, &prefixes) != NULL);
	make_frame6(frame, true, 10, 0);
	CHECK(connection_frame_read(&packet, frame, 53, &prefixes) != NULL);
	frame[20] = 58;
	CHECK(connection_frame_read(&packet, frame, 72, &prefixes) != NULL);
	make_frame6(frame, true, 10, 1);
	frame[54] = 44;
	CHECK(connection_frame_read(&packet, frame, 80, &prefixes) != NULL);
	make_frame6(frame, true, 10, 1);
	frame[55] = 255;
	CHECK(connection_frame_read(&packet, frame, 80, &prefixes) != NULL);
	memcpy(frame + 12, "\x08\x06", 2);
	CHECK(connection_frame_read(&packet, frame, 80, &prefixes) != NULL);
	packet = (struct connection_packet){0};
	make_frame(frame, false, 0, false);
	CHECK(connection_frame_read(&packet, frame, 33, &prefixes) != NULL);
	frame[14] = 0x44;
	CHECK(connection_frame_read(&packet, frame, 60, &prefixes) != NULL);
	make_frame(frame, true, 10, false);
	memset(frame + 40, 0, 2);
	packet = (struct connection_packet){0};
	CHECK(connection_frame_read(&packet, frame, 60, &prefixes) == NULL);
	CHECK_EQUAL(packet.l4_checksum_offset, 0);
	CHECK(packet.l4_offset != 0);
}

static const struct test_case cases[] = {
	{"checksums are as computed in full", checksums_are_as_computed_in_full},
	{"IPv6 checksums are as computed in full", ip6_checksums_are_as_computed_in_full},
	{"a fragment's checksum is brought along", a_fragments_checksum_is_brought_along},
	{"frames that are none are refused", frames_that_are_none_are_refused},
};
TEST_MAIN(cases)
