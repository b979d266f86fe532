/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sends frames of one tester port by one of its tx queues: a sender has streams of the port,
 * buffers and cache lines of its own, and one worker, so that two of them share nothing per packet.
 */
#ifndef LINERATE_SENDER_STATE_H
#define LINERATE_SENDER_STATE_H

#include "core/node.h"
#include "port/port.h"
#include "due_heap.h"
#include "schedule.h"

#include <rte_common.h>
#include <stdbool.h>
#include <stdint.h>

#define TESTER_SENDERS_MAX (PORTS_MAX * PORT_QUEUES_MAX)
/* Buffers of one that has streams. */
#define SENDER_BUFFERS 4096

struct tester_port;

/* One sender's part of a trial, written by its worker. */
struct sender_trial {
	uint32_t started __rte_cache_aligned; /* number of the trial that it took up */
	uint32_t finished;                    /* number of the trial that it sent to the end */
	uint64_t start_clock, end_clock;      /* on the port's clock */
	uint64_t start_tsc, end_tsc;
	uint64_t limited;  /* end of the trial, in clocks, that its schedules go by */
	uint64_t stop_tsc; /* since when one that is stopped has held frames */
	uint32_t stopped;  /* number of that trial */
};

struct tester_sender {
	struct tester_port *port;
	struct port_queue *queue; /* that it sends by */
	unsigned number;          /* of the queue: which of the port's senders it is */
	unsigned nb_stamped;      /* of its streams, those whose frames carry a time stamp */
	struct rte_mempool *pool; /* of frames to send; only its streams write to them */
	unsigned nb_schedules;
	struct schedule *schedules;
	struct due_heap due; /* of its schedules; empty where the only one is looked at each time */

	/* Written by its worker. Frames that the port had no room for; sent before any new one. */
	uint16_t nb_held __rte_cache_aligned;
	void *held[NODE_VECTOR_MAX];
	struct sender_trial trial;
} __rte_cache_aligned;

#endif
