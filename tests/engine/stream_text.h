/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams from their JSON text. */
#ifndef LINERATE_STREAM_TEXT_H
#define LINERATE_STREAM_TEXT_H

#include "tester/stream.h"
#include "config_mistakes.h"

static struct stream *stream_text_parsed;

static inline void stream_text_parse(const struct config_node *node)
{
	stream_text_parsed = stream_parse(node);
}

/* NULL after `mistakes` of them; the caller frees it. */
static inline struct stream *stream_of_text(const char *text, unsigned *mistakes)
{
	stream_text_parsed = NULL;
	*mistakes = config_mistakes_in(text, stream_text_parse);
	return stream_text_parsed;
}

#endif
