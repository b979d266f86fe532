/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream that several senders send is cut into parts: streams with ids, sequence numbers and
 * counters of their own, which answers show as the one that they are together.
 *
 * A part has each `parts`-th flow, and of the rate as much as it has of the flows, so that each
 * flow is one part's and comes as often as in the whole. Where several fields take turns, the
 * number of parts divides all of their rounds. What has one flow, or draws flows of unlike shares,
 * is cut by frames.
 */
#ifndef LINERATE_STREAM_PART_H
#define LINERATE_STREAM_PART_H

#include "stream.h"

/* In how many parts, at most `most`, the stream can be sent; 1: only as it is. */
unsigned stream_parts(const struct stream *stream, unsigned most);
/* Cuts the stream, whose rate is known: it is the first part from then on, the others follow it by
 * `next_part`. Returns 0, or -ENOMEM and has changed nothing. */
int stream_cut(struct stream *stream, unsigned parts);
/* Frees the stream with all of its parts. */
void stream_parts_free(struct stream *stream);

#endif
