/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports whose link is down, or was, since the trial began. Control thread only. */
#ifndef LINERATE_LINK_WATCH_H
#define LINERATE_LINK_WATCH_H

#include "port/port.h"

#include <stdbool.h>
#include <stdint.h>

struct link_watch_down {
	const struct port *port;
	uint64_t at_us; /* after the trial began; 0: since before */
};

/* A trial begins. */
void link_watch_start(void);
/* Looks at what ports know of their links; returns whether one is down, or was. */
bool link_watch_look(void);
/* The ports found so, the first one first. */
unsigned link_watch_count(void);
const struct link_watch_down *link_watch_at(unsigned index);

#endif
