/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures: copies of the frames of a port that match a filter, in rings that the control side
 * reads. All functions are the control side's, one thread at a time: the caller locks.
 */
#ifndef LINERATE_CAPTURE_H
#define LINERATE_CAPTURE_H

#include "capture_filter.h"
#include "capture_tap.h"
#include "core/worker.h"

#define CAPTURE_FILTER_BYTES 1024
/* Frames that a worker's ring holds, and bytes of all the rings of one capture. */
#define CAPTURE_RING_DEFAULT 4096
#define CAPTURE_RING_MAX 65536
#define CAPTURE_MEMORY_BYTES_MAX (64u << 20)
#define CAPTURE_SNAP_MAX 9728

enum capture_state {
	CAPTURE_RUNNING,
	CAPTURE_DONE, /* it has as many frames as were asked for */
	CAPTURE_STOPPED,
};

struct capture_order {
	struct port *port;
	bool rx, tx;
	uint16_t snap;  /* bytes of a frame that are kept */
	uint32_t ring;  /* frames that wait to be read, at most */
	uint64_t limit; /* frames; 0: no limit */
	const char *filter;
};

/* A frame as it waits in a ring. */
struct capture_record {
	uint64_t tsc;
	uint32_t length;   /* of the frame, without FCS */
	uint16_t captured; /* bytes of it that follow */
	bool sent;
	uint8_t bytes[];
};

/* One worker's part; counters are written by that worker alone. */
struct capture_lane {
	struct rte_ring *ring __rte_cache_aligned; /* NULL: the worker does not walk the port */
	uint64_t matched, captured, missed, bytes;
	/* The reader's: the record that is next, still in the ring. */
	struct capture_record *next __rte_cache_aligned;
};

struct capture {
	unsigned id;
	struct port *port;
	bool rx, tx, stopped;
	bool in_reach; /* stopped, but a worker that does not walk on may still use it */
	uint16_t snap;
	uint32_t record_bytes;
	uint64_t limit;
	struct capture_filter filter;
	char text[CAPTURE_FILTER_BYTES];
	uint64_t start_tsc, start_ns; /* the same time on both clocks, the latter of the epoch */
	uint64_t taken __rte_cache_aligned; /* of all workers, up to the limit */
	struct capture_lane *oldest;        /* the reader's: whose record is the next */
	uint16_t delivered;                 /* bytes of that record that it has already */
	struct capture_lane lanes[WORKERS_MAX];
};

/* Sums of all workers. */
struct capture_counters {
	uint64_t matched, captured, missed, bytes;
};

/* Returns the capture's id, from 1, or 0 after writing why. */
unsigned capture_start(const struct capture_order *order, char why[CAPTURE_WHY_BYTES]);
/* NULL: there is none with that id. */
struct capture *capture_find(unsigned id);
/* The capture in that place, up to CAPTURES_MAX; NULL: none. */
struct capture *capture_at(unsigned index);
/* No frame is taken after it. Those that were wait to be read. */
void capture_stop(struct capture *capture);
/* Stops it and gives its memory back. */
void capture_remove(struct capture *capture);

enum capture_state capture_state(const struct capture *capture);
const char *capture_state_name(enum capture_state state);
struct capture_counters capture_counters(const struct capture *capture);
uint64_t capture_time_ns(const struct capture *capture, uint64_t tsc);

/* The oldest frame that waits, NULL when none does; it stays until it is dropped. */
const struct capture_record *capture_peek(struct capture *capture);
void capture_drop(struct capture *capture);

#endif
