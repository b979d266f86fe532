/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of profiles: how they are read, divided among the port's senders, and added to it. */
#ifndef LINERATE_PROFILE_STREAMS_H
#define LINERATE_PROFILE_STREAMS_H

#include "profile_state.h"
#include "tester_state.h"

#include <stdio.h>

/*
 * Reads all streams of the array, each cut into its parts, before the first is added: one with a
 * mistake adds none. `profile` is the one that they are for, NULL: it is new; its senders' loads
 * count. `streams` has room for all. Returns how many, or -errno after writing why.
 */
int profile_streams_read(struct tester_port *port, const struct profile *profile,
	const struct config_node *array, struct stream **streams, FILE *complaints);
/* Gives them to the profile and its port. Returns 0, or -ENOSPC or -ENOMEM, having freed those that
 * are none of the port's. */
int profile_streams_add(struct profile *profile, struct stream **streams, unsigned count);
/* Sets the streams' rates by their scales. */
void profile_streams_set_pps(struct profile *profile);

/* Frames a second of all parts together, at scale 1. */
static inline double stream_base_pps(const struct stream *stream)
{
	double pps = 0;

	for (; stream != NULL; stream = stream->next_part)
		pps += stream->base_pps;
	return pps;
}

#endif
