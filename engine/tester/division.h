/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of a port's senders sends which of its streams. A stream goes whole to the sender that has
 * least to send, the largest first; one that is much beside a sender's fair share is cut into parts
 * (stream_part.h), so that loads differ by little. Streams that say their places in the port's
 * round stay together, and those of a chain do.
 *
 * The same streams are divided alike in every run.
 */
#ifndef LINERATE_DIVISION_H
#define LINERATE_DIVISION_H

#include "port/port.h"
#include "stream.h"

/* A stream that is more than this part of a sender's fair share is cut. */
#define DIVISION_GRAIN 0.125

struct division {
	struct {
		unsigned count;
		struct stream **streams;
		double load; /* frames a second; by weights, where rates have no end */
	} senders[PORT_QUEUES_MAX];
};

/* Divides the streams, whose rates are known; at most `room` parts are made beside them, which
 * have no ids yet. `loads` are those that each sender has already, in frames a second; NULL: none.
 * Returns 0, or -ENOMEM. */
int division_make(struct division *division, struct stream *const *streams, unsigned count,
	unsigned nb_senders, unsigned room, const double *loads);
void division_free(struct division *division);

#endif
