/* SPDX-License-Identifier: BSD-3-Clause */
/* The tester as it is: its ports, their streams, the trial under way. */
#ifndef LINERATE_TESTER_STATE_H
#define LINERATE_TESTER_STATE_H

#include "port/port.h"
#include "sender_state.h"
#include "stream.h"

#include <stdbool.h>
#include <stdint.h>

#define TESTER_WORKERS_MAX 32

struct tester_worker;
struct connections;

/* Written by the control thread before it raises `start`, read by the tester's worker. */
struct trial_order {
	uint32_t start __rte_cache_aligned; /* number of the trial that shall run; grows */
	uint32_t stop;                      /* number of the trial that shall send no more */
	uint64_t duration_clocks;
	/* The trial goes on until that much of it was undisturbed, up to the limit; 0: it ends on
	 * time, and has no slices. */
	uint64_t clean_clocks, limit_clocks;
	double scale;
};

struct profile_set;

struct tester_port {
	struct port *port;
	struct profile_set *profiles; /* that run by themselves; NULL: none were loaded */
	unsigned nb_streams;
	unsigned nb_stamped; /* of its streams, those whose frames carry a time stamp */
	struct stream **streams;
	unsigned nb_senders;
	struct tester_sender *senders[PORT_QUEUES_MAX]; /* by tx queue */
};

struct tester {
	bool takes_profiles;    /* while it runs */
	bool has_trial;         /* one runs or drains; the control thread's */
	unsigned asked_workers; /* by the configuration */
	unsigned nb_ports;
	struct tester_port ports[PORTS_MAX];
	unsigned nb_senders;
	struct tester_sender *senders[TESTER_SENDERS_MAX]; /* all ports' */
	unsigned nb_streams;
	struct stream *streams[STREAMS_MAX]; /* by their ids */
	unsigned nb_rows;
	struct stream *rows[STREAMS_MAX]; /* whole, or first parts: as answers number them */
	struct connections *connections;  /* instead of streams; NULL: none */
	uint64_t burn_clocks; /* a frame sent, by "tester-burn"; 0: there is no such node */
	struct trial_order order;
	/* End of the trial: known when it ends; until then the latest. Written by the worker that
	 * takes slices, read by all. */
	uint64_t end_clocks;
	unsigned nb_workers;
	struct tester_worker *workers[TESTER_WORKERS_MAX];
};

extern struct tester tester;

#endif
