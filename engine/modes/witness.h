/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the mode `witness` saw: of the tester's frames, by stream, on which rx queue they came and
 * with which mark. For trying flow rules, not for rates.
 */
#ifndef LINERATE_WITNESS_H
#define LINERATE_WITNESS_H

#include "port/port.h"

#include <stdint.h>

#define WITNESS_SIGHTINGS_MAX 4096
/* Stream of frames that are none of the tester's. */
#define WITNESS_FOREIGN UINT16_MAX

enum witness_mark {
	WITNESS_UNMARKED,
	WITNESS_FLAGGED,
	WITNESS_MARKED,
};

/* Frames that are alike in all but their number. */
struct sighting {
	const struct port *port;
	uint16_t stream, queue;
	enum witness_mark kind;
	uint32_t mark;
	uint64_t packets; /* written by the forwarder's worker */
};

unsigned witness_count(void);
const struct sighting *witness_at(unsigned index);
/* Frames for which there was no room here. */
uint64_t witness_beyond(void);

#endif
