/* SPDX-License-Identifier: BSD-3-Clause */
#include "signature.h"

#include <rte_ether.h>
#include <rte_ip.h>
#include <stddef.h>

static bool stands_at(const uint8_t *at)
{
	return signature_is(signature_read(at));
}

static const uint8_t *place_before_padding(const uint8_t *frame, unsigned length)
{
	const uint8_t *at;
	unsigned packet, end;

	if (length < RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) || frame[12] != 0x08 ||
		frame[13] != 0)
		return NULL;
	packet = (unsigned)frame[16] << 8 | frame[17];
	end = RTE_ETHER_HDR_LEN + packet;
	if (packet < sizeof(struct rte_ipv4_hdr) + SIGNATURE_BYTES || end > length)
		return NULL;
	at = frame + signature_offset(end);
	return stands_at(at) ? at : NULL;
}

const uint8_t *signature_place(const uint8_t *frame, unsigned length)
{
	const uint8_t *at;

	if (length < SIGNATURE_BYTES)
		return NULL;
	at = frame + signature_offset(length);
	return stands_at(at) ? at : place_before_padding(frame, length);
}

uint64_t signature_find(const uint8_t *frame, unsigned length)
{
	const uint8_t *at = signature_place(frame, length);

	return at == NULL ? 0 : signature_read(at);
}

bool signature_repair(uint64_t word, bool (*is_sent)(const struct signature *signature),
	struct signature *signature)
{
	uint32_t rest = (uint32_t)(word % SIGNATURE_FACTOR);
	uint32_t up = rest, down = SIGNATURE_FACTOR - rest;

	/* A power of two modulo 65,535 is one of sixteen: all others are left here. */
	if (rest == 0 || ((up & (up - 1)) != 0 && (down & (down - 1)) != 0))
		return false;
	for (unsigned bit = 0; bit < 64; bit++)
		if (signature_decode(word ^ 1ull << bit, signature) && is_sent(signature))
			return true;
	return false;
}
