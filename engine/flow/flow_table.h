/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flows of one worker. A packet misses the cache twice at most: the bucket, a cache line of
 * eight signatures and the numbers of their records, and the record, with the key in it. Only the
 * worker reads and writes, so there is no lock; others look by flow_table_read().
 *
 * A flow leaves the table by its timers alone, never because another wants its place.
 */
#ifndef LINERATE_FLOW_TABLE_H
#define LINERATE_FLOW_TABLE_H

#include "flow_export.h"
#include "flow_fragments.h"
#include "flow_key.h"
#include "flow_record.h"
#include "flow_timer.h"

#include <rte_mbuf.h>
#include <stddef.h>

struct rte_ring;

#define FLOW_BUCKET_ENTRIES 8
#define FLOW_VECTOR_MAX 256
#define FLOW_SAMPLES_MAX 64 /* between two calls of flow_table_work() */

struct flow_bucket {
	uint16_t signatures[FLOW_BUCKET_ENTRIES]; /* 0: free */
	uint32_t indices[FLOW_BUCKET_ENTRIES];
	uint32_t next; /* bucket that goes on; 0: none */
	uint32_t reserved[3];
} __rte_cache_aligned;
_Static_assert(sizeof(struct flow_bucket) == 64, "one cache line");

struct flow_timeouts {
	uint32_t idle_ms;
	uint32_t closing_ms; /* after TCP's FIN both ways or RST */
	uint32_t hard_ms;    /* 0: none */
	uint32_t export_ms;  /* export interval of a live flow; 0: never */
};

/* Why a packet was forwarded and not recorded. */
enum flow_not_recorded {
	FLOW_NOT_IP,
	FLOW_BROKEN,
	FLOW_LOST_FRAGMENT, /* its first has not come, or found no room */
	FLOW_TABLE_FULL,
	FLOW_NOT_RECORDED_REASONS,
};

struct flow_counters {
	uint64_t packets;
	uint64_t created, ended[FLOW_END_REASONS];
	uint64_t not_recorded[FLOW_NOT_RECORDED_REASONS];
	uint64_t marked;    /* packets whose mark was right */
	uint64_t bad_marks; /* of no record, an old generation or an ended flow: were parsed */
	uint64_t lost_exports;
	uint64_t lost_samples;
};

/* Between the worker and the offload thread, by rings of one writer and one reader each, which copy
 * words of 8 bytes. */

/* Average sampling interval of a worker, in packets. */
#define FLOW_SAMPLE_EVERY 32
struct flow_sample {
	uint32_t mark;
	uint16_t marked; /* 1: the packet came with it */
	uint16_t port;   /* index of the port where it came in */
} __rte_aligned(8);

/* From the offload thread, in the order in which they are carried out. */
enum flow_order_what {
	FLOW_ORDER_HOLD,    /* answered by FLOW_NOTICE_HELD or _GONE */
	FLOW_ORDER_RULES,   /* FLOW_RULE bits that stand now, in `rules` */
	FLOW_ORDER_RELEASE, /* no rule stands: the number may be used again */
};
struct flow_order {
	uint32_t mark; /* direction means nothing */
	uint16_t what; /* enum flow_order_what */
	uint16_t rules;
} __rte_aligned(8);

/* To the offload thread. */
enum flow_notice_what {
	FLOW_NOTICE_HELD,    /* rules may be made, until FLOW_ORDER_RELEASE */
	FLOW_NOTICE_GONE,    /* the flow ended before it could be held */
	FLOW_NOTICE_CLOSING, /* of a held flow: TCP's FIN both ways, or RST */
	FLOW_NOTICE_ENDED,   /* of a held flow: destroy its rules, then FLOW_ORDER_RELEASE */
};
struct flow_notice {
	uint32_t mark;
	uint32_t what; /* enum flow_notice_what */
} __rte_aligned(8);

/* By rte_ring_create_elem(). NULL: no reader. */
struct flow_rings {
	struct rte_ring *exports; /* struct flow_export */
	struct rte_ring *samples; /* struct flow_sample */
	struct rte_ring *orders;  /* struct flow_order */
	struct rte_ring *notices; /* struct flow_notice */
};

struct flow_table {
	/* Read by each packet. */
	struct flow_bucket *buckets; /* the first `mask` + 1 are hashed to, then those that go on */
	struct flow_record *records; /* `capacity`, and one that no packet is of */
	struct flow_addresses6 *addresses6;
	uint64_t secrets[2]; /* of the hash */
	uint32_t mask;
	uint32_t now_ms;
	uint32_t base; /* marks name records from this number on */
	uint32_t capacity;
	void (*record_parsed)(struct flow_table *table, struct rte_mbuf **mbufs, unsigned count);

	struct flow_counters counters __rte_cache_aligned;
	uint32_t live;
	uint32_t touched; /* records that were ever used: 0 … touched - 1 */
	uint32_t nb_free;
	uint32_t *free; /* numbers to be used again */
	struct flow_cold *cold;
	uint32_t free_buckets; /* that go on: list by `next` */
	uint32_t touched_buckets;
	struct flow_timeouts timeouts;
	struct flow_timer timer;
	struct flow_fragments fragments;

	struct flow_rings rings;
	struct flow_order order; /* that waits for room in the ring of notices, when order_waits */
	bool order_waits;
	bool offload;          /* packets may be marked, and are sampled */
	bool marked_tcp;       /* some of the last vector were: frames are fetched too */
	uint32_t sample_in[2]; /* packets to the next sample: of marked ones, of others */
	uint32_t sample_dice;
	uint32_t nb_samples;
	struct flow_sample samples[FLOW_SAMPLES_MAX];
};

struct flow_table_config {
	uint32_t capacity; /* base + capacity <= 2^24 */
	uint32_t base;     /* of the numbers in marks: tables of several workers share them */
	uint64_t seed;
	struct flow_timeouts timeouts;
};

/* Returns NULL after saying why. */
struct flow_table *flow_table_create(const struct flow_table_config *config);
void flow_table_free(struct flow_table *table);

/* Records a vector of packets, at most FLOW_VECTOR_MAX, marked or not. They are not changed. */
void flow_table_record(struct flow_table *table, struct rte_mbuf **mbufs, unsigned count);

/* Looks flows up by SIMD where the machine has it, which is what a new table does ... */
void flow_table_use_best(struct flow_table *table);
/* ... or without; for tests. */
void flow_table_use_scalar(struct flow_table *table);

/*
 * Moves the clock, and does some of what is due: ends flows and tells of them, carries the offload
 * thread's orders out, hands samples over. Returns how many flows and orders it looked at; not 0
 * means that there may be more to do.
 */
unsigned flow_table_work(struct flow_table *table, uint32_t now_ms);

/* With the worker stopped: tells of all flows that live, with FLOW_END_STOP. Waits for the
 * exporter's thread while its ring is full, two seconds at most. */
void flow_table_tell_all(struct flow_table *table);

/*
 * By any thread: a copy of the record with this number (from 0 to `touched`). Returns false when no
 * flow has it, or another one gets it during the copy. The counts may differ by one packet.
 */
struct flow_view {
	struct flow_record record;
	struct flow_cold cold;
	struct flow_addresses6 addresses6;
};
bool flow_table_read(const struct flow_table *table, uint32_t index, struct flow_view *view);

#endif
