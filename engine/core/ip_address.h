/* SPDX-License-Identifier: BSD-3-Clause */
/* An address of either family, as orders and the neighbour table hold them; and its text. */
#ifndef LINERATE_IP_ADDRESS_H
#define LINERATE_IP_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define IP6_BYTES 16

/* The value is the version in the packet's header. */
enum address_family {
	ADDRESS_NONE = 0,
	ADDRESS_IP4 = 4,
	ADDRESS_IP6 = 6,
};

struct ip_address {
	uint8_t family; /* enum address_family */
	union {
		uint32_t ip4;           /* host order */
		uint8_t ip6[IP6_BYTES]; /* network order */
	};
};

static inline struct ip_address address_ip4(uint32_t ip4)
{
	struct ip_address address = {.family = ADDRESS_IP4};

	address.ip4 = ip4;
	return address;
}

static inline struct ip_address address_ip6(const uint8_t *ip6)
{
	struct ip_address address = {.family = ADDRESS_IP6};

	memcpy(address.ip6, ip6, IP6_BYTES);
	return address;
}

static inline bool address_same(const struct ip_address *a, const struct ip_address *b)
{
	if (a->family != b->family)
		return false;
	return a->family == ADDRESS_IP6 ? memcmp(a->ip6, b->ip6, IP6_BYTES) == 0 : a->ip4 == b->ip4;
}

/* The bits of a prefix that has `length` of them; the others become 0. */
static inline void ip6_mask(uint8_t *ip6, uint8_t length)
{
	if (length >= 8 * IP6_BYTES)
		return;
	ip6[length / 8] &= (uint8_t)(0xff00 >> length % 8);
	memset(ip6 + length / 8 + 1, 0, IP6_BYTES - 1 - length / 8);
}

static inline bool ip6_prefix_covers(const uint8_t *prefix, uint8_t length, const uint8_t *ip6)
{
	uint8_t rest = length % 8;

	if (memcmp(prefix, ip6, length / 8) != 0)
		return false;
	return rest == 0 || (prefix[length / 8] ^ ip6[length / 8]) >> (8 - rest) == 0;
}

static inline bool ip6_same(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, IP6_BYTES) == 0;
}

static inline bool ip6_is_multicast(const uint8_t *ip6)
{
	return ip6[0] == 0xff;
}

static inline bool ip6_is_link_local(const uint8_t *ip6)
{
	return ip6[0] == 0xfe && (ip6[1] & 0xc0) == 0x80;
}

static inline bool ip6_is_unspecified(const uint8_t *ip6)
{
	static const uint8_t unspecified[IP6_BYTES];

	return ip6_same(ip6, unspecified);
}

static inline bool ip6_is_loopback(const uint8_t *ip6)
{
	static const uint8_t loopback[IP6_BYTES] = {[IP6_BYTES - 1] = 1};

	return ip6_same(ip6, loopback);
}

/* The one grammar of configuration, CLI and files of routes: each reads what stands at the start of
 * [text, end) and returns where that ends, or NULL. Numbers are as inet_pton() takes them. */
const char *address_read(const char *text, const char *end, struct ip_address *address);
const char *address_read_prefix(
	const char *text, const char *end, struct ip_address *prefix, uint8_t *length);

#define ADDRESS_TEXT_BYTES INET6_ADDRSTRLEN
const char *address_text(const struct ip_address *address, char text[ADDRESS_TEXT_BYTES]);

/* RFC 4291 2.7.1: where the neighbour with the address is asked for. */
static inline void ip6_solicited_node(const uint8_t *ip6, uint8_t *group)
{
	static const uint8_t prefix[13] = {0xff, 2, [11] = 1, [12] = 0xff};

	memcpy(group, prefix, sizeof(prefix));
	memcpy(group + 13, ip6 + 13, 3);
}

#endif
