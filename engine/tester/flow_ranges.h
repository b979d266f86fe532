/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flows of a stream: up to ten million, which differ in addresses and ports. The n-th flow is
 * always the same one: n is written in digits, one for each field, each as large as the field's
 * range. So no state is kept for a flow, and two streams with the same settings share the same
 * flows, or, where one is the mirror, the flows' other direction. What several senders send is cut
 * into parts with each n-th flow (stream_part.h).
 */
#ifndef LINERATE_FLOW_RANGES_H
#define LINERATE_FLOW_RANGES_H

#include "popularity.h"

#include <stdbool.h>
#include <stdint.h>

struct flows;

#define FLOWS_MAX 10000000
/* Limit of flows in turn, so that a flood lasts for a while. */
#define FLOWS_IN_TURN_MAX INT32_MAX
/* Frames whose flows are drawn at once, and no more: STREAM_BURST_MAX. */
#define FLOWS_BURST 64

enum flows_order {
	FLOWS_INCREMENT, /* one after the other */
	FLOWS_UNIFORM,   /* each frame any of them */
	FLOWS_ZIPF,      /* the n-th is 1 / n^s as frequent as the first */
};

/* A field that varies between flows: `values` of them from `min` on. */
struct flow_range {
	uint32_t min;
	uint32_t values;
	double inverse; /* of values, rounded up */
};

enum {
	FLOW_SRC, /* varies fastest */
	FLOW_DST,
	FLOW_SRC_PORT,
	FLOW_DST_PORT,
	FLOW_RANGES,
};

/*
 * Flows that end and begin: after each `new_per_frame` frames the flow that was longest in its
 * place gives it up to a new one.
 */
struct flow_renewal {
	double new_per_s;
	uint64_t per_frame; /* 2^32ths; 0: flows last for ever */
	uint64_t credit;
	uint32_t renewed;     /* places that are a generation further than the others */
	uint32_t generation;  /* of the others */
	uint32_t generations; /* then the first ones come again */
};

struct flow_words;
typedef void (*flows_draw_t)(struct flows *flows, struct flow_words *words, unsigned count);

struct flows {
	flows_draw_t draw;
	enum flows_order order;
	uint32_t count;
	/* The n-th is number `first` + n × `stride` of a larger set, of which this is a part. */
	uint32_t set, first, stride;
	bool mirror;   /* sources are destinations */
	bool ports;    /* the template has them */
	uint32_t next; /* of order increment; else how many random numbers were drawn */
	uint32_t seed;
	double exponent; /* Zipf's s */
	/* Offsets in the frame of the words that vary between flows, 4 bytes each. */
	uint16_t src_at, dst_at, ports_at;
	struct flow_range ranges[FLOW_RANGES];
	struct flow_renewal renewal;
	struct popularity popularity;
};

/* Addresses and ports of some frames' flows, in host order; ports are source 16, destination 16. */
struct flow_words {
	uint32_t src[FLOWS_BURST], dst[FLOWS_BURST], ports[FLOWS_BURST];
};

/* Zeroes, in cache lines of its own: who sends the flows writes to it. NULL: no memory. */
struct flows *flows_new(void);
/* Before the first frame: sets the stream's frames per second. Returns false when it gives no valid
 * number of new flows per second. */
bool flows_set_rate(struct flows *flows, double pps);
/* Says what flow each of the next `count` (at most FLOWS_BURST) frames is of. */
static inline void flows_next(struct flows *flows, struct flow_words *words, unsigned count)
{
	flows->draw(flows, words, count);
}

/* The quickest that this CPU can run; all of them draw the same. */
flows_draw_t flows_draw_select(void);
void flows_draw_scalar(struct flows *flows, struct flow_words *words, unsigned count);
#ifdef RTE_ARCH_X86_64
void flows_draw_avx2(struct flows *flows, struct flow_words *words, unsigned count);
void flows_draw_avx512(struct flows *flows, struct flow_words *words, unsigned count);
#endif

#endif
