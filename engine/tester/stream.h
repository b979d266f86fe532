/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream: a packet template with field modifiers and a rate. */
#ifndef LINERATE_STREAM_H
#define LINERATE_STREAM_H

#include "core/config.h"
#include "flow_ranges.h"
#include "ip_id_match.h"
#include "sequence_spread.h"
#include "core/signature.h"

#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAMS_MAX SIGNATURE_STREAMS
#define STREAM_HEADER_MAX 192
#define STREAM_MODIFIERS_MAX 8
#define STREAM_BURST_MAX FLOWS_BURST
#define STREAM_WEIGHT_MAX 1000

enum rate_kind {
	RATE_PPS,
	RATE_L1_BPS,
	RATE_L2_BPS, /* FCS counted */
	RATE_PERCENT,
	RATE_MAX,
};

enum modifier_op {
	MODIFIER_INCREMENT,
	MODIFIER_DECREMENT,
	MODIFIER_RANDOM,
};

struct columns;
struct stream;
struct template;

/* Bursts of a stream: this number of bursts of this number of frames, at its rate, and a gap from
 * the last frame of one to the first of the next. */
struct stream_bursts {
	uint64_t frames; /* of each; 0: there are none */
	uint64_t count;  /* 0: goes on */
	double gap_s;
	double start_s; /* after the trial's start */
};

/* Layout of a value in the frame. */
enum modifier_kind {
	MODIFIER_U16,
	MODIFIER_U32,
	MODIFIER_LABEL, /* upper 20 bits of a 32-bit word */
	MODIFIER_VLAN,  /* lower 12 bits of a 16-bit word */
};

struct modifier {
	uint16_t offset;
	enum modifier_kind kind;
	enum modifier_op op;
	bool in_l3_checksum, in_l4_checksum;
	uint32_t min, max, step;
	uint32_t last;  /* number of the last value in turn, from 0 */
	uint32_t next;  /* number of the next one; random: how many were drawn */
	uint32_t fixed; /* the other bits of the word */
	uint32_t seed;
};

struct stream {
	/* Fields that each frame needs are two cache lines, with the header's: there may be
	 * thousands of streams, each with one frame in turn. */
	uint16_t id;
	uint16_t frame_bytes;   /* FCS included */
	uint32_t tag;           /* by which buffers know whose template they hold; never 0 */
	uint32_t next_sequence; /* written by the tester's worker, as `sent` */
	unsigned nb_modifiers;
	uint64_t sent;
	struct flows *flows;       /* NULL: one, or what the modifiers make */
	struct template *template; /* NULL: of layers */
	bool signature;
	bool stamped;        /* its frames carry the time when they are sent */
	bool check_payload;  /* received frames are checked for damage */
	uint16_t tail_bytes; /* signature and stamp */
	uint16_t header_bytes;
	uint16_t l3_offset;                              /* of the IP header; 0: none */
	uint16_t l4_offset;                              /* of the UDP or TCP header; 0: none */
	uint16_t l3_checksum_offset, l4_checksum_offset; /* 0: none */
	uint32_t l3_base, l4_base; /* sums over all that no modifier and no signature changes */
	uint8_t header[STREAM_HEADER_MAX] __rte_cache_aligned;
	/* Makes what varies in its frames: columns.h. */
	void (*draw)(struct stream *stream, struct columns *columns, unsigned count);
	struct modifier modifiers[STREAM_MODIFIERS_MAX];

	/* Buffers of the burst under way that are this stream's; the tester's worker alone. */
	unsigned nb_gathered __rte_cache_aligned;
	struct rte_mbuf *gathered[STREAM_BURST_MAX];

	/* Written by the control thread when a trial begins. */
	uint32_t first_sequence __rte_cache_aligned; /* no earlier number is under way */
	struct sequence_settled settled;

	char name[48];
	int port, rx_port; /* indices of ports; rx_port -1: any */
	enum rate_kind rate_kind;
	double rate;
	double mean_bytes; /* of a frame, FCS included */
	double pps;        /* at full scale, once the link rate is known */
	unsigned weight;   /* frames in a round, where streams have no rates to share a port by */
	uint64_t burst;    /* frames in all; 0: goes on */
	uint32_t *places;  /* in the round of its port; NULL: spread evenly */
	uint32_t nb_places;
	double *at; /* when each of those is sent, as a part of the round; NULL: evenly */
	struct stream_bursts bursts;
	double base_pps, scheduled_pps; /* at scale 1, and as its profile has it in a schedule */
	bool unscaled;                  /* keeps its rate where a profile's is scaled */
	bool removed;                   /* with its profile; its counts stay */
	struct ip_id_match ip_id;       /* by which its frames are counted, instead of signatures */
	/* One that several senders send is cut (stream_part.h): its first part, which it is itself,
	 * leads to the others. NULL: there is none behind it. */
	struct stream *next_part;
	bool is_part;    /* and not the first */
	unsigned sender; /* that sends it: number among its port's */
	uint64_t chain;  /* streams with the same number are one sender's; 0: none */
} __rte_cache_aligned;
_Static_assert(offsetof(struct stream, header) == RTE_CACHE_LINE_SIZE, "two lines a frame");

/* The frame in a buffer of the tester's: header bytes, and: */
#define STREAM_TAG_STAMPED (1u << 16)

/* The tag of a buffer with one of the stream's frames, whose header has this number of bytes. */
static inline uint32_t stream_tag(const struct stream *stream, unsigned header_bytes)
{
	return header_bytes | (stream->stamped ? STREAM_TAG_STAMPED : 0);
}

/* The signature of the stream's next frame. */
static inline uint64_t stream_next_signature(struct stream *stream)
{
	return signature_word(stream->id, stream->next_sequence++);
}

/* Whether the tester's buffer holds a frame of a latency stream. */
static inline bool stream_is_stamped(const struct rte_mbuf *mbuf)
{
	return (mbuf->hash.fdir.lo & STREAM_TAG_STAMPED) != 0;
}

/* Fetches what stream_fill() needs of a stream for one frame. */
static inline void stream_prefetch(const struct stream *stream)
{
	rte_prefetch0_write(stream);
	rte_prefetch0(stream->header);
}

/* The same of one whose frames vary, and where its buffers are gathered. */
static inline void stream_prefetch_varied(const struct stream *stream)
{
	stream_prefetch(stream);
	rte_prefetch0_write(&stream->draw);
	rte_prefetch0_write(RTE_PTR_ADD(&stream->draw, RTE_CACHE_LINE_SIZE));
	rte_prefetch0_write(&stream->nb_gathered);
}

/* Whether a received frame says that it is the stream's. */
static inline bool stream_is_counted(const struct stream *stream)
{
	return stream->signature || stream->ip_id.version != 0;
}

/* Whether its frames differ by their signatures alone. */
static inline bool stream_is_plain(const struct stream *stream)
{
	return stream->template == NULL && stream->nb_modifiers == 0 && stream->flows == NULL;
}

/* A tag that no stream had before. */
uint32_t stream_new_tag(void);
/* Reads a stream; port names are resolved. Returns NULL after counting mistakes. The caller
 * owns it and gives it its id. */
struct stream *stream_parse(const struct config_node *node);
/* Parts of the above, in their own files. */
bool stream_parse_layers(struct stream *stream, const struct config_node *array);
bool stream_parse_modifiers(struct stream *stream, const struct config_node *array);
/* Places of its frames in the round of its port, if the configuration says them. */
bool stream_parse_places(struct stream *stream, const struct config_node *array);
/* When they are sent, if it says so; after its places. */
bool stream_parse_times(struct stream *stream, const struct config_node *array);
/* Its "flows", when layers and modifiers are known. NULL when there are none, and after counting
 * mistakes. */
struct flows *stream_parse_flows(struct stream *stream, const struct config_node *node);
/* Fills in lengths and checksum sums. */
void stream_finish(struct stream *stream);
void stream_free(struct stream *stream);

/* L1 bits of one frame. */
static inline double stream_l1_bits(const struct stream *stream)
{
	return (stream->mean_bytes + 20.0) * 8.0;
}

/*
 * Writes the next `count` (at most STREAM_BURST_MAX) frames of the stream into `mbufs`.
 * The mbufs come from a pool that only streams write to: each remembers whose template
 * it holds, so that only what changes is written.
 */
void stream_fill(struct stream *stream, struct rte_mbuf **mbufs, unsigned count);
/* The same of plain streams that take turns: each buffer gets the next frame of its stream.
 * `nb_streams` is at least `count`: those behind have their turn soon. */
void streams_fill_in_turn(struct stream *const *streams, unsigned nb_streams,
	struct rte_mbuf **mbufs, unsigned count);

#endif
