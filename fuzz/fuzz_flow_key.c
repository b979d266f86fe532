/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow table's parser on foreign frames: in an exact buffer, so that a byte too many is
 * detected. The parser of plain packets agrees with the other, and both directions have one key.
 */
#include "flow/flow_plain.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Source and destination change places. */
static void reverse(uint8_t *frame, const struct flow_parsed *parsed)
{
	uint8_t *ip = frame + parsed->l3_offset, copy[40];
	unsigned header = parsed->key.version == 4 ? (ip[0] & 0xfu) * 4 : 40;
	unsigned bytes = parsed->key.version == 4 ? 4 : 16;
	uint8_t *addresses = ip + (parsed->key.version == 4 ? 12 : 8), *ports = ip + header;

	memcpy(copy, addresses, bytes);
	memcpy(addresses, addresses + bytes, bytes);
	memcpy(addresses + bytes, copy, bytes);
	memcpy(copy, ports, 2);
	memcpy(ports, ports + 2, 2);
	memcpy(ports + 2, copy, 2);
}

static void check_reverse(const uint8_t *data, size_t size, const struct flow_parsed *parsed)
{
	uint8_t *frame = malloc(size);
	struct flow_parsed back;

	if (frame == NULL)
		return;
	memcpy(frame, data, size);
	reverse(frame, parsed);
	flow_key_parse(frame, (unsigned)size, &back);
	if (!flow_words_same(flow_words(&parsed->key), flow_words(&back.key)))
		abort();
	free(frame);
}

static void check_plain(const uint8_t *data, size_t size, const struct flow_parsed *parsed)
{
	uint8_t frame[2048] = {0};
	struct flow_addition addition;
	struct flow_words words;

	if (size > sizeof(frame))
		return;
	memcpy(frame, data, size);
	if (!flow_plain_parse(frame, (uint32_t)size, &words, &addition))
		return;
	if (parsed->kind != FLOW_KIND_PACKET || !flow_words_same(words, flow_words(&parsed->key)) ||
		addition.direction != parsed->direction ||
		addition.tcp_flags != parsed->tcp_flags ||
		addition.l3_offset != parsed->l3_offset || addition.l3_byte != parsed->l3_byte)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *exact = malloc(size == 0 ? 1 : size);
	struct flow_parsed parsed;

	if (exact == NULL)
		return 0;
	memcpy(exact, data, size);
	flow_key_parse(exact, (unsigned)size, &parsed);
	if (parsed.kind > FLOW_KIND_BROKEN || parsed.direction > 1)
		abort();
	check_plain(exact, size, &parsed);
	/* Where ports come straight after the header. */
	if (parsed.kind == FLOW_KIND_PACKET && parsed.l3_byte != 0 && parsed.l3_offset != 0 &&
		(parsed.key.protocol == IPPROTO_TCP || parsed.key.protocol == IPPROTO_UDP))
		check_reverse(exact, size, &parsed);
	free(exact);
	return 0;
}
