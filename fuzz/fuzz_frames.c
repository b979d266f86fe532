/* SPDX-License-Identifier: BSD-3-Clause */
/* The card's and the analyser's parsers on foreign frames: RSS and the signature. */
#include "card/card.h"
#include "tester/sequence.h"
#include "core/signature.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sequence sequence;
	static bool ready;
	struct card_rss rss;
	uint32_t hash;
	uint64_t word;

	if (!ready)
		card_rss_init();
	ready = true;
	card_rss_spread(&rss, 16);
	for (unsigned options = 0; options < 8; options++) {
		rss.symmetric = options & 1;
		rss.fields = options >> 1; /* enum flow_fields */
		if (card_rss_queue(&rss, data, (unsigned)size, &hash) >= 16)
			abort();
	}
	word = signature_find(data, (unsigned)size);
	if (signature_is(word))
		sequence_note(&sequence, (uint32_t)word);
	return 0;
}
