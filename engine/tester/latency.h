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

struct histogram {
	uint64_t count, sum;
	uint64_t min, max;    /* UINT64_MAX and 0 while it is empty */
	uint32_t first, last; /* buckets that may not be empty; first > last: none */
	uint64_t counts[LATENCY_BUCKETS];
};

struct latency {
	/* Sum and number of |D|, the difference of two successive latencies: RFC 3550, 6.4.1. */
	uint64_t jitter_sum, jitter_count;
	uint64_t last_ns;      /* UINT64_MAX: there is none before */
	uint64_t damaged;      /* frames whose stamp no longer adds up */
	uint64_t clocks_to_ns; /* times 2^32, rounded up */
	struct histogram clean, disturbed;
};

/* Sums over several. */
struct latency_figures {
	uint64_t count, sum, min, max;
	uint64_t jitter_sum, jitter_count, damaged;
	uint64_t disturbed_count, disturbed_max;
};

/* Each takes 410 KB, and all are listed in one answer. */
#define LATENCY_STREAMS_MAX 128

/* Returns NULL without memory. */
struct latency *latency_new(void);
void latency_free(struct latency *latency);
/* Forgets all; only for the worker that writes. */
void latency_restart(struct latency *latency);

void latency_add_figures(const struct latency *latency, struct latency_figures *sum);

/* Bucket of a value up to LATENCY_MAX_NS. */
static inline uint32_t histogram_index(uint64_t ns)
{
	uint32_t bits = 64 - (uint32_t)__builtin_clzll(ns | ((1u << LATENCY_SUB_BITS) - 1));
	uint32_t doubling = bits - LATENCY_SUB_BITS;

	return doubling * LATENCY_HALF + (uint32_t)(ns >> doubling);
}

static inline void histogram_record(struct histogram *histogram, uint64_t ns)
{
	uint32_t index = histogram_index(RTE_MIN(ns, LATENCY_MAX_NS));

	histogram->counts[index]++;
	histogram->count++;
	histogram->sum += ns;
	histogram->min = RTE_MIN(histogram->min, ns);
	histogram->max = RTE_MAX(histogram->max, ns);
	histogram->first = RTE_MIN(histogram->first, index);
	histogram->last = RTE_MAX(histogram->last, index);
}

/* Takes note of one frame's latency. */
static inline void latency_record(struct latency *latency, uint64_t ns, bool disturbed)
{
	if (unlikely(disturbed)) {
		histogram_record(&latency->disturbed, ns);
		return;
	}
	histogram_record(&latency->clean, ns);
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
