/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delays of a latency stream, in nanoseconds, since the trial began, kept by the tester's worker.
 * Buckets are HdrHistogram's for values from 1 ns up with three significant digits: as wide as 1 ns
 * up to 2,047 ns, and twice as wide each time the value doubles. So that library reads them as they
 * are.
 *
 * A frame that was in flight while one of the engine's workers was descheduled says more about the
 * host than about the device: such frames are disturbed, and have a histogram of their own.
 */
#ifndef LINERATE_LATENCY_H
#define LINERATE_LATENCY_H

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#define LATENCY_DIGITS 3
#define LATENCY_SUB_BITS 11u /* the least with 2 × 10^3 values */
#define LATENCY_HALF (1u << (LATENCY_SUB_BITS - 1))
/* Doublings of the range of the first 2^11 values; those beyond count in the last bucket. */
#define LATENCY_DOUBLINGS 23u
#define LATENCY_BUCKETS 25600u /* (LATENCY_DOUBLINGS + 2) × LATENCY_HALF */
#define LATENCY_MAX_NS ((1ull << (LATENCY_SUB_BITS + LATENCY_DOUBLINGS)) - 1)

_Static_assert(
	LATENCY_BUCKETS == (LATENCY_DOUBLINGS + 2) * LATENCY_HALF, "all ranges have buckets");

/* Buckets are counted in chunks, which a histogram takes when it first needs one of their buckets.
 */
#define LATENCY_CHUNK 64u
#define LATENCY_CHUNKS (LATENCY_BUCKETS / LATENCY_CHUNK)
/* Chunks of a block; blocks of a room. */
#define LATENCY_BLOCK 4096u
#define LATENCY_BLOCKS_MAX 1024u
/* Chunks that are made ahead: for a room, and for each stream. */
#define LATENCY_AHEAD 2048u
#define LATENCY_STREAM_AHEAD 16u

_Static_assert(LATENCY_BUCKETS % LATENCY_CHUNK == 0, "all buckets are in chunks");

/*
 * Chunks of all histograms of one worker. The control thread makes them, ahead of the worker, which
 * takes them one after the other; they stay with their histogram.
 */
struct latency_room {
	uint64_t (*blocks[LATENCY_BLOCKS_MAX])[LATENCY_CHUNK];
	uint32_t made; /* by the control thread */
	uint32_t nb_streams;
	uint32_t taken __rte_cache_aligned; /* by the worker */
};

struct histogram {
	uint64_t count, sum;
	uint64_t min, max;    /* UINT64_MAX and 0 while it is empty */
	uint32_t first, last; /* buckets that may not be empty; first > last: none */
	/* Numbers of chunks in the room, from 1 on; 0: none. */
	uint32_t chunks[LATENCY_CHUNKS];
	/* Values for which there was no chunk: by their power of two, as its last bucket. */
	uint64_t coarse[LATENCY_DOUBLINGS + 2];
};

/* The largest latency of a period, which ends when someone reads it. */
struct latency_period {
	uint64_t max;
	uint32_t number;
};

struct latency {
	/* Sum and number of |D|, the difference of two successive latencies: RFC 3550, 6.4.1. */
	uint64_t jitter_sum, jitter_count;
	uint64_t last_ns;                 /* UINT64_MAX: there is none before */
	uint64_t damaged;                 /* frames whose stamp no longer adds up */
	uint64_t clocks_to_ns;            /* times 2^32, rounded up */
	uint32_t period;                  /* that runs; written by the reader */
	struct latency_period periods[2]; /* by the lowest bit of their number */
	struct latency_room *room;
	struct histogram clean, disturbed;
};

/* Sums over several. */
struct latency_figures {
	uint64_t count, sum, min, max;
	uint64_t jitter_sum, jitter_count, damaged;
	uint64_t disturbed_count, disturbed_max;
};

/* Each takes 4 KB, and 512 bytes for each 64 neighbouring buckets that are not empty. */
#define LATENCY_STREAMS_MAX 10000

/* Returns NULL without memory. */
struct latency *latency_new(struct latency_room *room);
void latency_free(struct latency *latency);
/* Number of chunks that are to be made now, so that the worker always finds one. */
uint32_t latency_room_lacks(const struct latency_room *room);
/* Adds a block of LATENCY_BLOCK chunks, zeroed. */
void latency_room_add(struct latency_room *room, void *block);
/* Forgets all; only for the worker that writes. */
void latency_restart(struct latency *latency);
/* Frames counted in a bucket. */
uint64_t latency_bucket(
	const struct latency *latency, const struct histogram *histogram, uint32_t bucket);
/* The reader's: ends the period; returns its largest latency that was not disturbed, 0: none. */
uint64_t latency_end_period(struct latency *latency);
void latency_add_figures(const struct latency *latency, struct latency_figures *sum);

/* Bucket of a value up to LATENCY_MAX_NS. */
static inline uint32_t histogram_index(uint64_t ns)
{
	uint32_t bits = 64 - (uint32_t)__builtin_clzll(ns | ((1u << LATENCY_SUB_BITS) - 1));
	uint32_t doubling = bits - LATENCY_SUB_BITS;

	return doubling * LATENCY_HALF + (uint32_t)(ns >> doubling);
}

/* For the first value of a chunk: takes one, or counts the value coarsely. */
void histogram_record_first(struct histogram *histogram, struct latency_room *room, uint32_t index);

static inline uint64_t *latency_chunk(const struct latency_room *room, uint32_t number)
{
	return room->blocks[(number - 1) / LATENCY_BLOCK][(number - 1) % LATENCY_BLOCK];
}

static inline void histogram_record(
	struct histogram *histogram, struct latency_room *room, uint64_t ns)
{
	uint32_t index = histogram_index(RTE_MIN(ns, LATENCY_MAX_NS));
	uint32_t chunk = histogram->chunks[index / LATENCY_CHUNK];

	if (likely(chunk != 0))
		latency_chunk(room, chunk)[index % LATENCY_CHUNK]++;
	else
		histogram_record_first(histogram, room, index);
	histogram->count++;
	histogram->sum += ns;
	histogram->min = RTE_MIN(histogram->min, ns);
	histogram->max = RTE_MAX(histogram->max, ns);
	histogram->first = RTE_MIN(histogram->first, index);
	histogram->last = RTE_MAX(histogram->last, index);
}

static inline void latency_record_period(struct latency *latency, uint64_t ns)
{
	uint32_t number = __atomic_load_n(&latency->period, __ATOMIC_RELAXED);
	struct latency_period *period = &latency->periods[number % 2];

	if (unlikely(period->number != number))
		*period = (struct latency_period){.number = number};
	period->max = RTE_MAX(period->max, ns);
}

/* Takes note of one frame's latency. */
static inline void latency_record(struct latency *latency, uint64_t ns, bool disturbed)
{
	if (unlikely(disturbed)) {
		histogram_record(&latency->disturbed, latency->room, ns);
		return;
	}
	histogram_record(&latency->clean, latency->room, ns);
	latency_record_period(latency, ns);
	if (likely(latency->last_ns != UINT64_MAX)) {
		latency->jitter_sum +=
			ns > latency->last_ns ? ns - latency->last_ns : latency->last_ns - ns;
		latency->jitter_count++;
	}
	latency->last_ns = ns;
}

/* Takes note of `count` frames with stamps, fetched from a port at `received` on the TSC. */
void latency_note(
	struct latency *latency, struct rte_mbuf *const *mbufs, unsigned count, uint64_t received);

#endif
