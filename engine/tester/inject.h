/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Injection: frames from the control side, sent out of a tester port by its worker, in their order.
 * They are in the ledger as sent, under a name of their own, once the port has taken them.
 */
#ifndef LINERATE_INJECT_H
#define LINERATE_INJECT_H

#include "port/port.h"

/* Frames of a port that may wait for its worker, and those that wait for room in the port's ring.
 */
#define INJECT_RING 256
#define INJECT_WAITING_MAX 64

struct ledger;

struct injector {
	struct port *port;
	struct rte_mempool *pool;
	struct rte_ring *ring; /* of whole frames, copied in and out */
	unsigned record_bytes;
	uint64_t queued; /* by the control side */
	uint64_t sent;   /* by the worker: the port has them */
	uint16_t nb_waiting;
	struct rte_mbuf *waiting[INJECT_WAITING_MAX];
};

/* By the port's index; NULL: nothing was injected yet. */
extern struct injector *injectors[PORTS_MAX];

/* Queues a frame without FCS; a shorter one is padded to Ethernet's 60 bytes. Returns NULL, or why
 * it is not sent. The caller locks. */
const char *inject(struct port *port, const uint8_t *frame, unsigned bytes);
/* By the port's worker: sends what is queued. Returns the number of frames. */
uint16_t inject_send(struct injector *injector);
/* Adds what was sent, by port. */
void inject_ledger(struct ledger *ledger);

#endif
