/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode witness: frames are known by their signature, and those alike are one row. */
#include "modes/witness.h"
#include "core/signature.h"
#include "harness.h"

#define STREAM 37

static void put(unsigned port, bool ours, uint32_t sequence)
{
	struct frame frame;

	frame_ip4(&frame, port, 0xc6120001, 0xc6130001, 64, 40);
	if (ours)
		signature_write(frame.bytes + signature_offset(frame.length),
			signature_word(STREAM, sequence));
	harness_put(port, &frame);
}

static void notes_how_frames_came(void)
{
	for (uint32_t i = 0; i < 5; i++) {
		put(0, true, i);
		put(1, i == 0, i);
	}
	harness_walk();
	CHECK_EQUAL(witness_count(), 3);
	for (unsigned i = 0; i < witness_count(); i++) {
		const struct sighting *seen = witness_at(i);
		bool first = seen->port == port_at(0);

		CHECK_EQUAL(seen->queue, 0);
		CHECK_EQUAL(seen->kind, WITNESS_UNMARKED);
		CHECK(seen->stream == STREAM || (!first && seen->stream == WITNESS_FOREIGN));
		CHECK_EQUAL(seen->packets, first ? 5 : seen->stream == STREAM ? 1 : 4);
	}
	CHECK_EQUAL(witness_beyond(), 0);
}

static const struct harness_case cases[] = {
	{"notes how frames came", notes_how_frames_came, HARNESS_MODE(2, "witness", NULL)},
};

HARNESS_MAIN(cases)
