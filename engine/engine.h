/* SPDX-License-Identifier: BSD-3-Clause */
/* The process as a whole: from a configuration file to walking workers. */
#ifndef LINERATE_ENGINE_H
#define LINERATE_ENGINE_H

#include "core/config.h"

/* Reads the whole file; returns the number of mistakes, each printed. Before EAL. */
unsigned engine_parse(struct config *config);
/* EAL, memory, ports, graphs, workers. Returns 0 or -errno after saying why. */
int engine_start(const char *program);
void engine_stop(void);

#endif
