/* SPDX-License-Identifier: BSD-3-Clause */
/* Filters in tcpdump's language (pcap-filter(7)), run on mbufs. */
#ifndef LINERATE_CAPTURE_FILTER_H
#define LINERATE_CAPTURE_FILTER_H

#include <pcap/pcap.h>
#include <rte_bpf.h>
#include <rte_mbuf.h>
#include <stdbool.h>

#define CAPTURE_WHY_BYTES 256
/* The longest frame of a port. */
#define CAPTURE_FRAME_BYTES 9728

struct capture_filter {
	struct bpf_program program; /* without instructions: every frame matches */
	struct rte_bpf *loaded;
	uint64_t (*compiled)(void *); /* NULL: it is interpreted */
};

/* Control thread: compiles the text. Returns false after writing why not. */
bool capture_filter_create(
	struct capture_filter *filter, const char *text, char why[CAPTURE_WHY_BYTES]);
void capture_filter_free(struct capture_filter *filter);
bool capture_filter_interpret(const struct capture_filter *filter, const struct rte_mbuf *mbuf);

static inline bool capture_filter_matches(
	const struct capture_filter *filter, struct rte_mbuf *mbuf)
{
	if (filter->compiled != NULL)
		return filter->compiled(mbuf) != 0;
	return filter->program.bf_len == 0 || capture_filter_interpret(filter, mbuf);
}

#endif
