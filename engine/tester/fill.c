/* SPDX-License-Identifier: BSD-3-Clause */
/* The tester's per-packet work: template, what varies, signature. */
#include "columns.h"
#include "inet_checksum.h"
#include "core/signature.h"
#include "stream.h"
#include "template.h"

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_prefetch.h>
#include <string.h>

static inline void write16(uint8_t *at, uint16_t value)
{
	value = rte_cpu_to_be_16(value);
	memcpy(at, &value, sizeof(value));
}

/* 0 would say that there is no checksum: RFC 768. */
static inline uint16_t l4_checksum(uint32_t sum)
{
	uint16_t checksum = inet_checksum(sum);

	return checksum == 0 ? 0xffff : checksum;
}

/* Sums words in network order, as numbers. */
static uint32_t sum_words(const uint8_t *at, unsigned bytes)
{
	return rte_be_to_cpu_16(rte_raw_cksum(at, bytes));
}

/* A modified word must not count in the base sums: it is added frame by frame. */
static void clear_modified(struct stream *stream, uint8_t *header)
{
	for (unsigned i = 0; i < stream->nb_modifiers; i++) {
		const struct modifier *modifier = &stream->modifiers[i];

		if (modifier->in_l3_checksum || modifier->in_l4_checksum)
			memset(header + modifier->offset, 0,
				modifier->kind == MODIFIER_U32 ? 4 : 2);
	}
	if (stream->flows != NULL) {
		memset(header + stream->flows->src_at, 0, 4);
		memset(header + stream->flows->dst_at, 0, 4);
		if (stream->flows->ports)
			memset(header + stream->flows->ports_at, 0, 4);
	}
}

static void finish_lengths(struct stream *stream)
{
	unsigned l3_bytes = stream->frame_bytes - RTE_ETHER_CRC_LEN - stream->l3_offset;
	uint8_t *ip = stream->header + stream->l3_offset;
	uint8_t *l4 = stream->header + stream->l4_offset;

	if (stream->l3_offset == 0)
		return;
	if (ip[0] >> 4 == 4)
		write16(ip + 2, (uint16_t)l3_bytes);
	else
		write16(ip + 4, (uint16_t)(l3_bytes - 40));
	if (stream->l4_offset != 0 && stream->l4_checksum_offset == stream->l4_offset + 6)
		write16(l4 + 4, (uint16_t)(l3_bytes - (stream->l4_offset - stream->l3_offset)));
}

void stream_finish(struct stream *stream)
{
	uint8_t header[STREAM_HEADER_MAX];
	const uint8_t *ip = header + stream->l3_offset;
	unsigned l4_bytes = stream->frame_bytes - RTE_ETHER_CRC_LEN - stream->l4_offset;

	stream->draw = columns_draw_select();
	finish_lengths(stream);
	memcpy(header, stream->header, sizeof(header));
	clear_modified(stream, header);
	if (stream->l3_checksum_offset != 0)
		stream->l3_base = sum_words(ip, 20);
	if (stream->l4_checksum_offset != 0) {
		bool ip4 = ip[0] >> 4 == 4;

		stream->l4_base = sum_words(header + stream->l4_offset,
					  stream->header_bytes - stream->l4_offset) +
				  sum_words(ip + (ip4 ? 12 : 8), ip4 ? 8 : 32) +
				  (ip4 ? ip[9] : ip[6]) + l4_bytes;
	}
	if (stream->l3_checksum_offset != 0)
		write16(stream->header + stream->l3_checksum_offset,
			inet_checksum(stream->l3_base));
	/* A signature adds nothing to it. 0 would say that there is no checksum: RFC 768. */
	if (stream->l4_checksum_offset != 0)
		write16(stream->header + stream->l4_checksum_offset, l4_checksum(stream->l4_base));
}

/* Distance in buffers at which they are fetched. */
#define FILL_AHEAD 8

/* Templates and frames of usual size are copied and cleaned in one fixed stretch. */
#define USUAL_HEADER_BYTES 64

/*
 * Turns a buffer that holds another stream's frame (or none, tag 0) into this stream's. How long
 * the old frame and its header are stands in the mbuf: to ask the old stream would be a cache
 * miss a frame where each is another stream's.
 */
static void switch_template(const struct stream *stream, struct rte_mbuf *mbuf, uint8_t *frame)
{
	uint16_t length = stream->frame_bytes - RTE_ETHER_CRC_LEN;
	unsigned bytes = stream->header_bytes;

	if (mbuf->hash.fdir.hi != 0) {
		uint8_t *at = frame + signature_offset(mbuf->data_len);

		bytes = RTE_MAX(bytes, mbuf->hash.fdir.lo & ~STREAM_TAG_STAMPED);
		memset(at, 0, SIGNATURE_BYTES);
		if (unlikely(stream_is_stamped(mbuf)))
			memset(at - STAMP_BYTES, 0, STAMP_BYTES);
	}
	/* A frame that was given whole goes further than any header. */
	if (unlikely(bytes > STREAM_HEADER_MAX))
		memset(frame + STREAM_HEADER_MAX, 0, bytes - STREAM_HEADER_MAX);
	/* Behind a template's header there are zeros, as in the frame. */
	if (likely(bytes <= USUAL_HEADER_BYTES))
		memcpy(frame, stream->header, USUAL_HEADER_BYTES);
	else
		memcpy(frame, stream->header, STREAM_HEADER_MAX);
	mbuf->data_len = length;
	mbuf->pkt_len = length;
	mbuf->hash.fdir.hi = stream->tag;
	mbuf->hash.fdir.lo = stream_tag(stream, stream->header_bytes);
}

static __rte_always_inline uint8_t *frame_of(const struct stream *stream, struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);

	if (unlikely(mbuf->hash.fdir.hi != stream->tag))
		switch_template(stream, mbuf, frame);
	return frame;
}

/* Fills frames, each in one pass. How many columns there are is known when this is compiled. */
static __rte_always_inline void write_frames(struct stream *stream, struct rte_mbuf **mbufs,
	unsigned count, const struct columns *columns, unsigned nb_words, unsigned nb_halves)
{
	unsigned offset = signature_offset(stream->frame_bytes - RTE_ETHER_CRC_LEN);
	uint64_t word = signature_word(stream->id, stream->next_sequence);
	/* The last word before the sequence numbers begin anew. */
	uint32_t ahead = SIGNATURE_NUMBERS - 1 - stream->next_sequence % SIGNATURE_NUMBERS;
	bool signature = stream->signature;
	uint16_t word_at[COLUMNS_WORDS_MAX], half_at[COLUMNS_HALVES_MAX];

	for (unsigned k = 0; k < nb_words; k++)
		word_at[k] = columns->word_at[k];
	for (unsigned k = 0; k < nb_halves; k++)
		half_at[k] = columns->half_at[k];
	for (unsigned i = 0; i < count; i++) {
		uint8_t *frame = frame_of(stream, mbufs[i]);

		if (likely(i + FILL_AHEAD < count))
			rte_prefetch0_write(mbufs[i + FILL_AHEAD]);
		for (unsigned k = 0; k < nb_words; k++)
			memcpy(frame + word_at[k], &columns->words[k][i], sizeof(uint32_t));
		for (unsigned k = 0; k < nb_halves; k++)
			memcpy(frame + half_at[k], &columns->halves[k][i], sizeof(uint16_t));
		if (unlikely(!signature))
			continue;
		signature_write(frame + offset, word);
		word += SIGNATURE_FACTOR;
		if (unlikely(i == ahead))
			word = signature_word(stream->id, 0);
	}
	if (likely(signature))
		stream->next_sequence += count;
}

static __rte_always_inline void write_words(struct stream *stream, struct rte_mbuf **mbufs,
	unsigned count, const struct columns *columns, unsigned nb_words)
{
	switch (columns->nb_halves) {
	case 0:
		write_frames(stream, mbufs, count, columns, nb_words, 0);
		break;
	case 1:
		write_frames(stream, mbufs, count, columns, nb_words, 1);
		break;
	case 2:
		write_frames(stream, mbufs, count, columns, nb_words, 2);
		break;
	case 3:
		write_frames(stream, mbufs, count, columns, nb_words, 3);
		break;
	case 4:
		write_frames(stream, mbufs, count, columns, nb_words, 4);
		break;
	default:
		write_frames(stream, mbufs, count, columns, nb_words, columns->nb_halves);
	}
}

/* Fills frames that differ by more than their signatures, which change no checksum. */
static void fill_varied(struct stream *stream, struct rte_mbuf **mbufs, unsigned count)
{
	struct columns columns;

	stream->draw(stream, &columns, count);
	switch (columns.nb_words) {
	case 0:
		write_words(stream, mbufs, count, &columns, 0);
		break;
	case 1:
		write_words(stream, mbufs, count, &columns, 1);
		break;
	case 2:
		write_words(stream, mbufs, count, &columns, 2);
		break;
	case 3:
		write_words(stream, mbufs, count, &columns, 3);
		break;
	default:
		write_words(stream, mbufs, count, &columns, columns.nb_words);
	}
}

/* Distance in frames at which the streams that take turns are fetched. */
#define STREAMS_AHEAD 16

void streams_fill_in_turn(
	struct stream *const *streams, unsigned nb_streams, struct rte_mbuf **mbufs, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct stream *stream = streams[i];
		uint8_t *frame;

		if (likely(i + STREAMS_AHEAD < nb_streams))
			stream_prefetch(streams[i + STREAMS_AHEAD]);
		if (likely(i + FILL_AHEAD < count))
			rte_prefetch0_write(mbufs[i + FILL_AHEAD]);
		frame = frame_of(stream, mbufs[i]);
		if (likely(stream->signature))
			signature_write(
				frame + signature_offset(stream->frame_bytes - RTE_ETHER_CRC_LEN),
				stream_next_signature(stream));
		stream->sent++;
	}
}

void stream_fill(struct stream *stream, struct rte_mbuf **mbufs, unsigned count)
{
	if (stream->template != NULL)
		template_fill(stream, mbufs, count);
	else if (stream->nb_modifiers != 0 || stream->flows != NULL)
		fill_varied(stream, mbufs, count);
	else
		write_frames(stream, mbufs, count, NULL, 0, 0);
	stream->sent += count;
}
