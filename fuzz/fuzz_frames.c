/* SPDX-License-Identifier: BSD-3-Clause */
/* What the card and the analyser read of foreign frames: RSS and the signature. */
#include "card/card.h"
#include "stream/sequence.h"
#include "stream/signature.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sequence sequence;
	static bool ready;
	struct card card = {.nb_queues = 16};
	uint32_t hash;
	uint64_t word;

	if (!ready)
		card_rss_init();
	ready = true;
	for (unsigned options = 0; options < 4; options++) {
		card.rss_symmetric = options & 1;
		card.rss_mpls_inner = options & 2;
		if (card_rss_queue(&card, data, (unsigned)size, &hash) >= card.nb_queues)
			abort();
	}
	word = signature_find(data, (unsigned)size);
	if (signature_is(word))
		sequence_note(&sequence, (uint32_t)word);
	return 0;
}
