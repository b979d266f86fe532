/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one worker of the tester's received of one stream: a worker has one for each id that a
 * signature can name, and alone writes to it. The control thread makes those of streams that can
 * come to the worker, and sums over workers.
 *
 * A trial begins for a worker with the first frame that it receives of a stream.
 */
#ifndef LINERATE_STREAM_RX_H
#define LINERATE_STREAM_RX_H

#include "ip_id_match.h"
#include "latency.h"
#include "sequence_spread.h"
#include "stream.h"

#include <rte_common.h>
#include <stdbool.h>
#include <stdint.h>

struct tester_worker;

/* Frames of a stream that came in at one port. */
struct stream_rx_port {
	uint64_t received, rx_bytes;
};

#define STREAM_RX_NO_PORT UINT16_MAX

struct stream_rx {
	/* Fields that each frame needs are one cache line, up to `received` of the sequence: there
	 * may be thousands of streams, each with one frame in turn. */
	const struct stream *stream; /* NULL: none with that id in its signature can come here */
	struct latency *latency;     /* NULL: its frames have no time stamps */
	uint64_t rx_bytes;
	uint32_t trial;   /* whose numbers `sequence` expects */
	uint32_t sent;    /* numbers before it are known to have been sent */
	uint16_t longest; /* a longer frame may be a message that quotes one of ours */
	uint16_t rx_port; /* the only one, or STREAM_RX_NO_PORT: any */
	uint16_t port;    /* at which its frames come, but for those `elsewhere` */
	bool checks_payload;
	bool is_spread;           /* other workers receive frames of it, too: sequence_spread.h */
	struct ip_id_match ip_id; /* its frames come by this instead of a signature */
	struct sequence sequence;

	uint64_t corrupted;               /* its frames that were received damaged */
	struct stream_rx_port *elsewhere; /* by port; NULL: there is one port only */
} __rte_cache_aligned;
_Static_assert(
	offsetof(struct stream_rx, sequence.received) + sizeof(uint64_t) <= RTE_CACHE_LINE_SIZE,
	"what a frame needs is one line");
_Static_assert(sizeof(struct stream_rx) == 2ul * RTE_CACHE_LINE_SIZE, "two lines a stream");

/* Sums over all workers. */
struct stream_counts {
	struct sequence_counts sequence;
	uint64_t rx_bytes; /* of all of its frames */
	uint64_t corrupted;
};

/* With the workers made: room for each id of each. Returns 0 or -ENOMEM. */
int stream_rx_make_room(void);
/* Control thread, while no frame of that id can come: makes what the workers need that can receive
 * the stream. Returns 0 or -ENOMEM. */
int stream_rx_create(const struct stream *stream);
/* Frames of that id are none of ours any more; what was counted is forgotten. The stream itself is
 * in use until all workers walked once more (rcu.h). */
void stream_rx_remove(const struct stream *stream);
void stream_rx_read(const struct stream *stream, struct stream_counts *sums);
/* Before a trial, when all is drained and no port sends: the stream's next frames are the trial's.
 */
void stream_rx_settle(struct stream *stream);
/* Frames that came so late that only the sums over workers tell whether they were missing, and
 * were: they are not in the workers' `received`. */
uint64_t stream_rx_late(const struct stream *stream);
/* Adds what all workers received of the stream at the port. */
void stream_rx_read_port(const struct stream *stream, uint16_t port, struct stream_rx_port *sums);
/* The worker's latencies of the trial that runs or ran last; NULL: there are none. */
struct latency *stream_rx_latency(const struct tester_worker *worker, const struct stream *stream);

/* The worker's: the first frame of a trial came. */
void stream_rx_restart(struct stream_rx *rx, uint32_t trial);
/* The number that the trial sent with these low bits, for one that is not near what is expected.
 * False: there is none. */
bool stream_rx_find_number(struct stream_rx *rx, uint32_t sequence, uint32_t *number);
/* One frame that came in without a signature. False: it is of no stream that is counted otherwise,
 * or of none that can come in at the port. */
bool stream_rx_note_ip_id(
	struct tester_worker *worker, const uint8_t *frame, unsigned length, uint16_t port);
/* For frames that came in at a port that is not `port`. */
void stream_rx_note_elsewhere(
	struct stream_rx *rx, uint16_t port, uint64_t received, uint64_t rx_bytes);

#endif
