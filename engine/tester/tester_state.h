/* SPDX-License-Identifier: BSD-3-Clause */
/* The tester as it is: its ports, their streams, the trial under way. */
#ifndef LINERATE_TESTER_STATE_H
#define LINERATE_TESTER_STATE_H

#include "core/node.h"
#include "port/port.h"
#include "schedule.h"
#include "stream.h"

#include <stdbool.h>
#include <stdint.h>

#define TESTER_WORKERS_MAX 32

struct tester_worker;
struct connections;

#define TESTER_BUFFERS 4096

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

/* One port's part of a trial, written by the tester's worker. */
struct trial_port {
	uint32_t started __rte_cache_aligned; /* number of the trial that it took up */
	uint32_t finished;                    /* number of the trial that it sent to the end */
	uint64_t start_clock, end_clock;      /* on the port's clock */
	uint64_t start_tsc, end_tsc;
	uint64_t limited;  /* end of the trial, in clocks, that its schedules go by */
	uint64_t stop_tsc; /* since when one that is stopped has held frames */
	uint32_t stopped;  /* number of that trial */
};

struct profile_set;

struct tester_port {
	struct port *port;
	struct profile_set *profiles; /* that run by themselves; NULL: none were loaded */
	struct rte_mempool *pool;     /* of frames to send; only streams write to them */
	unsigned nb_streams;
	unsigned nb_stamped; /* of its streams, those whose frames carry a time stamp */
	struct stream **streams;
	unsigned nb_schedules;
	struct schedule *schedules;
	bool uneven;    /* some schedule has bursts or begins late */
	uint64_t paced; /* of such: up to where frames were made, in cycles of the trial */
	/* Frames that the port had no room for; sent before any new one. */
	uint16_t nb_held;
	void *held[NODE_VECTOR_MAX];
	struct trial_port trial;
};

struct tester {
	bool takes_profiles;    /* while it runs */
	bool has_trial;         /* one runs or drains; the control thread's */
	unsigned asked_workers; /* by the configuration */
	unsigned nb_ports;
	struct tester_port ports[PORTS_MAX];
	unsigned nb_streams;
	struct stream *streams[STREAMS_MAX];
	struct connections *connections; /* instead of streams; NULL: none */
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
