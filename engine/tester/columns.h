/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What varies between the frames of a burst, a column a field: the values of all frames side by
 * side, so that one instruction makes as many of them as a register holds.
 */
#ifndef LINERATE_COLUMNS_H
#define LINERATE_COLUMNS_H

#include "lanes.h"
#include "stream.h"

#include <rte_common.h>
#include <stdint.h>

_Static_assert(STREAM_BURST_MAX % LANES_STEP == 0, "no loop ends behind a column");
/* Source, destination and ports of a flow; the checksums of both layers. */
#define COLUMNS_WORDS_MAX (STREAM_MODIFIERS_MAX + 3)
#define COLUMNS_HALVES_MAX (STREAM_MODIFIERS_MAX + 2)

/* Values in network order, and their offsets in the frame. */
struct columns {
	unsigned nb_words, nb_halves; /* columns of 4 and of 2 bytes a frame */
	uint16_t word_at[COLUMNS_WORDS_MAX], half_at[COLUMNS_HALVES_MAX];
	uint32_t words[COLUMNS_WORDS_MAX][STREAM_BURST_MAX] __rte_cache_aligned;
	uint16_t halves[COLUMNS_HALVES_MAX][STREAM_BURST_MAX] __rte_cache_aligned;
};

/* Makes the columns of the stream's next `count` (at most STREAM_BURST_MAX) frames: modifiers,
 * flows, and the checksums that they change. */
typedef void (*columns_draw_t)(struct stream *stream, struct columns *columns, unsigned count);

/* The quickest that this CPU can run; all of them draw the same. */
columns_draw_t columns_draw_select(void);
void columns_draw_scalar(struct stream *stream, struct columns *columns, unsigned count);
#ifdef RTE_ARCH_X86_64
void columns_draw_avx2(struct stream *stream, struct columns *columns, unsigned count);
void columns_draw_avx512(struct stream *stream, struct columns *columns, unsigned count);
#endif

#endif
