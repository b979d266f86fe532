/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread beside a worker that holds a lock, `burn-WORKER`, for as long as the worker asks: as
 * a control plane does that changes what the worker wants to look at.
 */
#ifndef LINERATE_BURN_LOCK_H
#define LINERATE_BURN_LOCK_H

#include "core/worker.h"

#include <stdint.h>

/* Starts the worker's thread. Returns 0 or -errno after saying why. */
int burn_lock_create(const struct worker *worker);
/* Waits for the lock, held for `clocks` from now on. */
void burn_lock_wait(const struct worker *worker, uint64_t clocks);

#endif
