/* SPDX-License-Identifier: BSD-3-Clause */
#include "signature.h"

#include <rte_ether.h>
#include <rte_ip.h>

static uint64_t signature_before_padding(const uint8_t *frame, unsigned length)
{
	unsigned packet, end;

	if (length < RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) || frame[12] != 0x08 ||
		frame[13] != 0)
		return 0;
	packet = (unsigned)frame[16] << 8 | frame[17];
	end = RTE_ETHER_HDR_LEN + packet;
	if (packet < sizeof(struct rte_ipv4_hdr) + SIGNATURE_BYTES || end > length)
		return 0;
	return signature_read(frame + signature_offset(end));
}

uint64_t signature_find(const uint8_t *frame, unsigned length)
{
	uint64_t word;

	if (length < SIGNATURE_BYTES)
		return 0;
	word = signature_read(frame + signature_offset(length));
	if (signature_is(word))
		return word;
	word = signature_before_padding(frame, length);
	return signature_is(word) ? word : 0;
}
