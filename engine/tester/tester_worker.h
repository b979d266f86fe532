/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tester's worker, as the receiver that it is: which ports it polls, and what it counts. No two
 * workers write to the same cache line; who wants a sum reads all of them.
 */
#ifndef LINERATE_TESTER_WORKER_H
#define LINERATE_TESTER_WORKER_H

#include "port/port.h"

#include <rte_common.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct latency_room;
struct stream_rx;
struct worker;

struct tester_worker {
	struct worker *worker;
	uint64_t ports;            /* bit P: it polls an rx queue of the port with index P */
	struct stream_rx *streams; /* by the id in signatures: SIGNATURE_STREAMS of them */
	bool counts_ip_ids;        /* some of them are counted so: ip_id.h */
	struct latency_room *latency_room;
	/* Memory on its socket that no one has yet; control thread only. */
	uint8_t *room;
	size_t room_bytes;

	/* Written by the worker. */
	uint64_t received __rte_cache_aligned; /* frames of streams, each once */
	uint64_t older; /* of streams that several workers share, from beyond the window */
	uint64_t other; /* frames that are none of ours */
	uint64_t other_bytes;
	uint64_t connection_received[2]; /* of connections, by the side that sent them */
	uint64_t connection_rx_bytes[2];
	/* By port: time at which its newest frames were fetched. Where it polls several of a port's
	 * queues the last one's applies to all: later than it was, never earlier. */
	uint64_t received_tsc[PORTS_MAX] __rte_cache_aligned;
} __rte_cache_aligned;

/* With ports configured and the tester's ports known: one for each worker of the tester's. Returns
 * 0 or -ENOMEM. */
int tester_workers_create(void);
/* The number of the worker that polls queue `queue` of the tester's port number `place`. */
unsigned tester_worker_of_queue(unsigned place, unsigned queue);
/* The number of the worker of that port's sender number `sender`. */
unsigned tester_worker_of_sender(unsigned place, unsigned sender);
/* From now on the port's queues say when they were polled. */
void tester_workers_stamp(struct port *port);
/* New pages, zeroes, on the worker's socket if the machine has several; for as long as the engine
 * runs. NULL: there are none. */
void *tester_worker_map(const struct tester_worker *worker, size_t bytes);
/* Zeroed memory of the worker's, in whole cache lines, for as long as the engine runs. NULL: there
 * is none. */
void *tester_worker_memory(struct tester_worker *worker, size_t bytes);
/* Often, by the control thread: makes room for latencies, ahead of the workers. */
void tester_workers_make_room(void);
/* Whether it polls the port; -1: any port. */
static inline bool tester_worker_polls(const struct tester_worker *worker, int port)
{
	return port < 0 ? worker->ports != 0 : (worker->ports >> port & 1) != 0;
}

#endif
