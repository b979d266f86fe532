/* SPDX-License-Identifier: BSD-3-Clause */
/* The tester: ports that send streams, an analyser that takes them back, trials. */
#ifndef LINERATE_TESTER_H
#define LINERATE_TESTER_H

#include "core/config.h"
#include "core/node.h"
#include "port/port.h"
#include "schedule.h"
#include "stream.h"
#include "tester_worker.h"

#include <rte_cycles.h>

#include <stdint.h>

struct connections;
struct ledger;

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
	unsigned asked_workers; /* by the configuration */
	unsigned nb_ports;
	struct tester_port ports[PORTS_MAX];
	unsigned nb_streams;
	struct stream *streams[STREAMS_MAX];
	struct connections *connections; /* instead of streams; NULL: none */
	uint64_t burn_clocks; /* a frame sent, by "tester-burn"; 0: there is no such node */
	struct trial_order order;
	/* Of the trial: known when it ends; until then the latest. Written by the worker that takes
	 * slices, read by all. */
	uint64_t end_clocks;
	unsigned nb_workers;
	struct tester_worker *workers[TESTER_WORKERS_MAX];
};

extern struct tester tester;

/* Reads the "tester" object. */
void tester_parse(const struct config_node *node);
/* With ports configured: pools, rates, schedules. Returns 0 or -errno after saying why. */
int tester_create(void);
/* Clones the tester's nodes and gives them to its worker. */
int tester_create_nodes(void);
/* Gives a stream of the port's its rate and flows. Returns 0 or -errno after writing
 * why. */
int tester_stream_prepare(struct stream *stream, const struct port *port, FILE *complaints);
/* Gives the port one more stream, and it an id. Returns 0 or -errno. */
int tester_stream_add(struct tester_port *port, struct stream *stream);
/* The tester's port of that index; NULL: it is another's. */
struct tester_port *tester_port_of(int port);
/* Frames of all ports since the engine began. */
uint64_t tester_sent(void);
uint64_t tester_received(void);
/* The same, of streams alone: each once. */
uint64_t tester_received_frames(void);
/* Frames that are none of ours. */
uint64_t tester_other(void);

/* Parts of a second that a link has to take what is held of a trial that is stopped. */
#define TESTER_HELD_PARTS 10

/* Whether the trial of that number is stopped, and the port's link is down or takes nothing: its
 * peer may be there and not read, as a tap whose program sleeps. */
static inline bool tester_gives_up(struct tester_port *port, uint32_t number)
{
	uint64_t now;

	if (__atomic_load_n(&tester.order.stop, __ATOMIC_RELAXED) != number)
		return false;
	if (port_link_is_down(port->port))
		return true;
	now = rte_rdtsc();
	if (port->trial.stopped != number) {
		port->trial.stopped = number;
		port->trial.stop_tsc = now;
	}
	return now - port->trial.stop_tsc > rte_get_tsc_hz() / TESTER_HELD_PARTS;
}

/* Clock of the port that paces its streams, in TSC cycles. */
static inline uint64_t tester_clock(const struct port *port)
{
	return port->driver->clock == NULL ? rte_rdtsc() : port->driver->clock(port);
}

#endif
