/* SPDX-License-Identifier: BSD-3-Clause */
#include "ip6_headers.h"

#include "packet6.h"

#define OPTION_PAD1 0
#define OPTION_PADN 1
/* Action for an unknown option: its two highest bits (RFC 8200 4.2). */
#define OPTION_ACTION(type) ((type) >> 6)

#define FRAGMENT_BYTES 8
/* Offset and "more fragments" of a fragment header. */
#define FRAGMENT_OFFSET_MASK 0xfff8u
#define FRAGMENT_PART_MASK 0xfff9u

static bool is_extension(uint8_t next_header)
{
	return next_header == IPPROTO_HOPOPTS || next_header == IPPROTO_ROUTING ||
	       next_header == IPPROTO_DSTOPTS || next_header == IPPROTO_FRAGMENT;
}

static uint16_t header_bytes(const uint8_t *header, uint8_t kind)
{
	return kind == IPPROTO_FRAGMENT ? FRAGMENT_BYTES : (uint16_t)(8 * (header[1] + 1));
}

static uint16_t fragment_word(const uint8_t *header)
{
	return (uint16_t)(header[2] << 8 | header[3]);
}

static void start(const uint8_t *ip, struct ip6_headers *headers)
{
	*headers = (struct ip6_headers){
		.offset = IP6_HEADER_BYTES,
		.at = IP6_AT_NEXT_HEADER,
		.next_header = ip[IP6_AT_NEXT_HEADER],
	};
}

/* The header at `offset` is whole. */
static bool is_whole(const uint8_t *ip, uint16_t bytes, const struct ip6_headers *headers)
{
	uint32_t offset = headers->offset;

	return offset + 8 <= bytes &&
	       offset + header_bytes(ip + offset, headers->next_header) <= bytes;
}

static void go_on(const uint8_t *ip, struct ip6_headers *headers)
{
	const uint8_t *header = ip + headers->offset;

	headers->at = headers->offset;
	headers->offset += header_bytes(header, headers->next_header);
	headers->next_header = header[0];
}

bool ip6_headers_skip(const uint8_t *ip, uint16_t bytes, struct ip6_headers *headers)
{
	start(ip, headers);
	while (is_extension(headers->next_header)) {
		if (!is_whole(ip, bytes, headers))
			return false;
		if (headers->next_header == IPPROTO_FRAGMENT &&
			(fragment_word(ip + headers->offset) & FRAGMENT_OFFSET_MASK) != 0)
			headers->later_fragment = true;
		go_on(ip, headers);
		if (headers->later_fragment)
			return true;
	}
	return true;
}

static enum ip6_headers_verdict unknown_option(uint8_t type)
{
	static const enum ip6_headers_verdict verdicts[] = {IP6_HEADERS_FINE,
		IP6_HEADERS_OPTION_DISCARD, IP6_HEADERS_OPTION_TELL,
		IP6_HEADERS_OPTION_TELL_UNICAST};

	return verdicts[OPTION_ACTION(type)];
}

/* Those of a hop-by-hop or destination options header, none of which is known here. */
static enum ip6_headers_verdict check_options(const uint8_t *ip, struct ip6_headers *headers)
{
	uint16_t at = headers->offset + 2;
	uint16_t end = headers->offset + header_bytes(ip + headers->offset, headers->next_header);

	while (at < end) {
		uint8_t type = ip[at];
		enum ip6_headers_verdict verdict;

		if (type == OPTION_PAD1) {
			at++;
			continue;
		}
		if (end - at < 2 || ip[at + 1] > end - at - 2)
			return IP6_HEADERS_TRUNCATED;
		verdict = type == OPTION_PADN ? IP6_HEADERS_FINE : unknown_option(type);
		if (verdict != IP6_HEADERS_FINE) {
			headers->at = at;
			return verdict;
		}
		at += 2 + ip[at + 1];
	}
	return IP6_HEADERS_FINE;
}

static enum ip6_headers_verdict check_extension(const uint8_t *ip, struct ip6_headers *headers)
{
	const uint8_t *header = ip + headers->offset;

	switch (headers->next_header) {
	case IPPROTO_ROUTING:
		/* RFC 8200 4.4: no type is known here, and RFC 5095 has done away with type 0. */
		if (header[3] == 0)
			return IP6_HEADERS_FINE;
		headers->at = headers->offset + 2;
		return IP6_HEADERS_ROUTING;
	case IPPROTO_FRAGMENT:
		/* RFC 6946: one that is the whole packet is as good as none. */
		return fragment_word(header) & FRAGMENT_PART_MASK ? IP6_HEADERS_FRAGMENT
								  : IP6_HEADERS_FINE;
	default:
		return check_options(ip, headers);
	}
}

enum ip6_headers_verdict ip6_headers_receive(
	const uint8_t *ip, uint16_t bytes, struct ip6_headers *headers)
{
	start(ip, headers);
	while (is_extension(headers->next_header)) {
		enum ip6_headers_verdict verdict;

		/* Only right after the IPv6 header (RFC 8200 4.1): elsewhere it is unknown. */
		if (headers->next_header == IPPROTO_HOPOPTS && headers->offset != IP6_HEADER_BYTES)
			break;
		if (!is_whole(ip, bytes, headers))
			return IP6_HEADERS_TRUNCATED;
		verdict = check_extension(ip, headers);
		if (verdict != IP6_HEADERS_FINE)
			return verdict;
		go_on(ip, headers);
	}
	return IP6_HEADERS_FINE;
}
