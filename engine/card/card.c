/* SPDX-License-Identifier: BSD-3-Clause */
#include "card.h"

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_ether.h>
#include <string.h>

#define TAGS_MAX 2
#define TAG_BYTES 4
#define TAGS_AT 12

/* A memory write: header 16 (64-bit address), LCRC 4, framing with sequence number 4. */
#define TLP_WRITE_BYTES 24
/* A completion with data: header 12, LCRC 4, framing with sequence number 4. */
#define TLP_COMPLETION_BYTES 20
#define DESCRIPTOR_BYTES 16
/* Real cards move descriptors a cache line at a time. */
#define DESCRIPTORS_PER_TLP 4

static unsigned tlp_bytes(const struct card_pcie *pcie, unsigned bytes, unsigned overhead)
{
	unsigned tlps = (bytes + pcie->max_payload_bytes - 1) / pcie->max_payload_bytes;

	return bytes + tlps * overhead;
}

unsigned card_pcie_up_bytes(const struct card_pcie *pcie, unsigned bytes)
{
	return tlp_bytes(pcie, bytes, TLP_WRITE_BYTES) + DESCRIPTOR_BYTES +
	       TLP_WRITE_BYTES / DESCRIPTORS_PER_TLP;
}

unsigned card_pcie_down_bytes(const struct card_pcie *pcie, unsigned bytes)
{
	return tlp_bytes(pcie, bytes, TLP_COMPLETION_BYTES) + DESCRIPTOR_BYTES +
	       TLP_COMPLETION_BYTES / DESCRIPTORS_PER_TLP;
}

uint64_t card_clock(struct card *card)
{
	uint64_t now = rte_rdtsc();
	uint64_t gap = now - card->clock_last;

	if (unlikely(gap > (uint64_t)(card->tsc_hz / 1e6 * CARD_PAUSE_US)))
		__atomic_store_n(&card->paused, card->paused + gap, __ATOMIC_RELAXED);
	card->clock_last = now;
	return now - card->paused;
}

bool card_frame_fits(const struct card *card, const uint8_t *frame, unsigned length)
{
	unsigned max = card->max_frame_bytes - RTE_ETHER_CRC_LEN;

	for (size_t tags = 0; tags < TAGS_MAX && length > max; tags++, max += TAG_BYTES) {
		uint16_t type;

		memcpy(&type, frame + TAGS_AT + tags * TAG_BYTES, sizeof(type));
		if (type != RTE_BE16(RTE_ETHER_TYPE_VLAN) && type != RTE_BE16(RTE_ETHER_TYPE_QINQ))
			break;
	}
	return length <= max;
}
