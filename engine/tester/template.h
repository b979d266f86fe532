/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream's frame given whole, byte by byte, and what is put into it. */
#ifndef LINERATE_TEMPLATE_H
#define LINERATE_TEMPLATE_H

#include "program.h"

#include <rte_mbuf.h>

#define TEMPLATE_CHECKSUMS_MAX 4

struct stream;

struct template
{
	uint16_t bytes; /* without FCS, padded to PROGRAM_FRAME_MIN */
	/* Bytes that are copied anew for each frame: from … to. */
	uint16_t fresh_from, fresh_to;
	unsigned nb_checksums; /* over the signature */
	struct step checksums[TEMPLATE_CHECKSUMS_MAX];
	struct program *program; /* NULL: none */
	uint8_t frame[];
};

/* Reads "template" and what goes with it into the stream. Returns false after counting mistakes. */
bool stream_parse_template(struct stream *stream, const struct config_node *node);
void template_free(struct template *template);
/* One for a frame of its own; of a template without a program. NULL: there is no memory. */
struct template *template_copy(const struct template *template);
/* As stream_fill(), of a stream that has a template. */
void template_fill(struct stream *stream, struct rte_mbuf **mbufs, unsigned count);

#endif
