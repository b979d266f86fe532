/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <arpa/inet.h>
#include <rte_arp.h>
#include <rte_ip.h>
#include <rte_udp.h>

static const uint8_t peer_mac[] = {0x50, 0x7c, 0x6f, 0x20, 0x30, 0x70};

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, (uint16_t)(value >> 16));
	put16(at + 2, (uint16_t)value);
}

uint8_t *frame_l3(struct frame *frame)
{
	return frame->bytes + RTE_ETHER_HDR_LEN;
}

/* The slow and plain sum of RFC 1071, on purpose not the one that is tested. */
static uint16_t sum(const uint8_t *bytes, unsigned count)
{
	uint32_t total = 0;

	for (unsigned i = 0; i < count; i += 2)
		total += (uint32_t)bytes[i] << 8 | (i + 1 < count ? bytes[i + 1] : 0);
	while (total >> 16 != 0)
		total = (total & 0xffff) + (total >> 16);
	return (uint16_t)total;
}

void frame_checksum(uint8_t *ip)
{
	put16(ip + 10, 0);
	put16(ip + 10, (uint16_t)~sum(ip, (ip[0] & 0xfu) * 4));
}

bool frame_checksum_ok(const uint8_t *ip)
{
	return sum(ip, (ip[0] & 0xfu) * 4) == 0xffff;
}

void frame_ethernet(struct frame *frame, unsigned port, uint16_t ethertype)
{
	memset(frame, 0, sizeof(*frame));
	memcpy(frame->bytes, &port_at(port)->mac, 6);
	memcpy(frame->bytes + 6, peer_mac, 6);
	frame->bytes[11] = (uint8_t)(0x70 + port);
	put16(frame->bytes + 12, ethertype);
	frame->length = RTE_ETHER_HDR_LEN;
}

static void append_ip4(
	struct frame *frame, uint32_t src, uint32_t dst, uint8_t ttl, unsigned payload)
{
	uint8_t *ip = frame->bytes + frame->length;

	ip[0] = 0x45;
	put16(ip + 2, (uint16_t)(28 + payload));
	put16(ip + 4, 0x1234);
	ip[8] = ttl;
	ip[9] = 17;
	put32(ip + 12, src);
	put32(ip + 16, dst);
	frame_checksum(ip);
	put16(ip + 20, 1025);
	put16(ip + 22, 12);
	put16(ip + 24, (uint16_t)(8 + payload));
	for (unsigned i = 0; i < payload; i++)
		ip[28 + i] = (uint8_t)i;
	frame->length += 28 + payload;
}

void frame_ip4(struct frame *frame, unsigned port, uint32_t src, uint32_t dst, uint8_t ttl,
	unsigned payload)
{
	frame_ethernet(frame, port, RTE_ETHER_TYPE_IPV4);
	append_ip4(frame, src, dst, ttl, payload);
}

void frame_mpls(struct frame *frame, unsigned port, const uint32_t *stack, unsigned labels,
	uint32_t src, uint32_t dst, uint8_t ttl, unsigned payload)
{
	frame_ethernet(frame, port, RTE_ETHER_TYPE_MPLS);
	for (unsigned i = 0; i < labels; i++, frame->length += 4)
		put32(frame->bytes + frame->length, stack[i]);
	append_ip4(frame, src, dst, ttl, payload);
}

void frame_arp(struct frame *frame, unsigned port, uint16_t operation, const char *sender_mac,
	uint32_t sender, uint32_t target)
{
	struct rte_ether_addr mac;
	uint8_t *arp;

	frame_ethernet(frame, port, RTE_ETHER_TYPE_ARP);
	if (rte_ether_unformat_addr(sender_mac, &mac) != 0)
		abort();
	memset(frame->bytes, 0xff, 6);
	memcpy(frame->bytes + 6, &mac, 6);
	arp = frame_l3(frame);
	put16(arp, 1);
	put16(arp + 2, RTE_ETHER_TYPE_IPV4);
	arp[4] = 6;
	arp[5] = 4;
	put16(arp + 6, operation);
	memcpy(arp + 8, &mac, 6);
	put32(arp + 14, sender);
	put32(arp + 24, target);
	frame->length += 28;
}

void ip6_of(const char *text, uint8_t *address)
{
	if (inet_pton(AF_INET6, text, address) != 1)
		abort();
}

static void ip6_header(struct frame *frame, unsigned port, const char *src, const char *dst,
	uint8_t next_header, uint8_t hop_limit, unsigned payload)
{
	uint8_t *ip = frame_l3(frame);

	frame_ethernet(frame, port, RTE_ETHER_TYPE_IPV6);
	ip[0] = 0x60;
	put16(ip + 4, (uint16_t)payload);
	ip[6] = next_header;
	ip[7] = hop_limit;
	ip6_of(src, ip + 8);
	ip6_of(dst, ip + 24);
	if (ip[24] == 0xff) {
		memset(frame->bytes, 0x33, 2);
		memcpy(frame->bytes + 2, ip + 36, 4);
	}
	frame->length += 40 + payload;
}

void frame_ip6(struct frame *frame, unsigned port, const char *src, const char *dst,
	uint8_t hop_limit, unsigned payload)
{
	uint8_t *udp = frame_l3(frame) + 40;

	ip6_header(frame, port, src, dst, 17, hop_limit, 8 + payload);
	put16(udp, 1025);
	put16(udp + 2, 12);
	put16(udp + 4, (uint16_t)(8 + payload));
	for (unsigned i = 0; i < payload; i++)
		udp[8 + i] = (uint8_t)i;
}

/* The pseudo-header's part and the message's, to 0xffff when the checksum is right. */
static uint32_t icmp6_sum_of(const uint8_t *ip, unsigned upper, unsigned bytes)
{
	uint32_t total = sum(ip + 8, 32);

	total += sum(ip + upper, bytes);
	total += bytes + 58;
	while (total >> 16 != 0)
		total = (total & 0xffff) + (total >> 16);
	return total;
}

void frame_icmp6_checksum(struct frame *frame, unsigned upper)
{
	uint8_t *ip = frame_l3(frame);
	unsigned bytes = frame->length - RTE_ETHER_HDR_LEN - upper;

	put16(ip + upper + 2, 0);
	put16(ip + upper + 2, (uint16_t)~icmp6_sum_of(ip, upper, bytes));
}

bool frame_icmp6_ok(const struct frame *frame)
{
	const uint8_t *ip = frame->bytes + RTE_ETHER_HDR_LEN;

	return ip[6] == 58 &&
	       frame->length == RTE_ETHER_HDR_LEN + 40 + (unsigned)(ip[4] << 8 | ip[5]) &&
	       icmp6_sum_of(ip, 40, (unsigned)(ip[4] << 8 | ip[5])) == 0xffff;
}

void frame_icmp6(struct frame *frame, unsigned port, const char *src, const char *dst,
	uint8_t hop_limit, const void *message, unsigned bytes)
{
	ip6_header(frame, port, src, dst, 58, hop_limit, bytes);
	memcpy(frame_l3(frame) + 40, message, bytes);
	frame_icmp6_checksum(frame, 40);
}

void frame_extend6(struct frame *frame, uint8_t kind, const void *headers, unsigned bytes)
{
	uint8_t *ip = frame_l3(frame), next = ip[6];
	unsigned payload = (unsigned)(ip[4] << 8 | ip[5]);

	memmove(ip + 40 + bytes, ip + 40, payload);
	memcpy(ip + 40, headers, bytes);
	ip[6] = kind;
	ip[40] = next;
	put16(ip + 4, (uint16_t)(payload + bytes));
	frame->length += bytes;
}

void frame_show(const char *what, const struct frame *frame)
{
	fprintf(stderr, "%s (%u):", what, frame->length);
	for (unsigned i = 0; i < frame->length && i < 128; i++)
		fprintf(stderr, "%s%02x", i % 16 == 14 ? "\n  " : " ", frame->bytes[i]);
	fputc('\n', stderr);
}

bool frame_same(const struct frame *got, const struct frame *wanted)
{
	if (got->length == wanted->length && memcmp(got->bytes, wanted->bytes, wanted->length) == 0)
		return true;
	frame_show("got", got);
	frame_show("wanted", wanted);
	return false;
}
