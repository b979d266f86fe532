/* SPDX-License-Identifier: BSD-3-Clause */
/* The tester's per-packet work: template, modifiers, signature, checksums. */
#include "inet_checksum.h"
#include "random.h"
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

static inline void write32(uint8_t *at, uint32_t value)
{
	value = rte_cpu_to_be_32(value);
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

static __rte_always_inline uint32_t modifier_next(struct modifier *modifier, enum modifier_op op)
{
	uint32_t value = modifier->value;

	if (op == MODIFIER_RANDOM)
		return modifier->min +
		       (uint32_t)(((uint32_t)random_next(&modifier->random) *
					  ((uint64_t)modifier->max - modifier->min + 1)) >>
				  32);
	if (op == MODIFIER_INCREMENT)
		modifier->value = modifier->max - value < modifier->step ? modifier->min
									 : value + modifier->step;
	else
		modifier->value = value - modifier->min < modifier->step ? modifier->max
									 : value - modifier->step;
	return value;
}

/* `op` and `kind` are the modifier's, known when this is compiled. */
static __rte_always_inline void apply(struct modifier *modifier, enum modifier_op op,
	enum modifier_kind kind, uint8_t *const *frames, unsigned count, uint32_t *l3, uint32_t *l4)
{
	struct modifier own = *modifier;
	/* All-ones or nothing, to add to a checksum or not without a branch. */
	uint32_t in_l3 = own.in_l3_checksum ? UINT32_MAX : 0;
	uint32_t in_l4 = own.in_l4_checksum ? UINT32_MAX : 0;

	for (unsigned i = 0; i < count; i++) {
		uint32_t value = modifier_next(&own, op);
		uint32_t words = (value & 0xffff) + (value >> 16);
		uint8_t *at = frames[i] + own.offset;

		if (kind == MODIFIER_U32)
			write32(at, value);
		else if (kind == MODIFIER_U16)
			write16(at, (uint16_t)value);
		else if (kind == MODIFIER_LABEL)
			write32(at, value << 12 | own.fixed);
		else
			write16(at, (uint16_t)(value | own.fixed));
		if (kind == MODIFIER_U32)
			l3[i] += words & in_l3;
		if (kind == MODIFIER_U32 || kind == MODIFIER_U16)
			l4[i] += words & in_l4;
	}
	modifier->value = own.value;
	modifier->random = own.random;
}

static __rte_always_inline void apply_op(struct modifier *modifier, enum modifier_op op,
	uint8_t *const *frames, unsigned count, uint32_t *l3, uint32_t *l4)
{
	switch (modifier->kind) {
	case MODIFIER_U32:
		apply(modifier, op, MODIFIER_U32, frames, count, l3, l4);
		break;
	case MODIFIER_U16:
		apply(modifier, op, MODIFIER_U16, frames, count, l3, l4);
		break;
	case MODIFIER_LABEL:
		apply(modifier, op, MODIFIER_LABEL, frames, count, l3, l4);
		break;
	case MODIFIER_VLAN:
		apply(modifier, op, MODIFIER_VLAN, frames, count, l3, l4);
		break;
	}
}

static void apply_modifier(struct modifier *modifier, uint8_t *const *frames, unsigned count,
	uint32_t *l3, uint32_t *l4)
{
	switch (modifier->op) {
	case MODIFIER_INCREMENT:
		apply_op(modifier, MODIFIER_INCREMENT, frames, count, l3, l4);
		break;
	case MODIFIER_DECREMENT:
		apply_op(modifier, MODIFIER_DECREMENT, frames, count, l3, l4);
		break;
	case MODIFIER_RANDOM:
		apply_op(modifier, MODIFIER_RANDOM, frames, count, l3, l4);
		break;
	}
}

static void write_signatures(struct stream *stream, uint8_t *const *frames, unsigned count)
{
	unsigned offset = signature_offset(stream->frame_bytes - RTE_ETHER_CRC_LEN);

	for (unsigned i = 0; i < count; i++)
		signature_write(frames[i] + offset, stream_next_signature(stream));
}

static void write_l4_checksums(
	uint8_t *const *frames, unsigned offset, const uint32_t *l4, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		write16(frames[i] + offset, l4_checksum(l4[i]));
}

static __rte_always_inline uint8_t *frame_of(const struct stream *stream, struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);

	if (unlikely(mbuf->hash.fdir.hi != stream->tag))
		switch_template(stream, mbuf, frame);
	return frame;
}

/* Fills frames that differ by their signatures alone, which change no checksum. */
static void fill_signed(struct stream *stream, struct rte_mbuf **mbufs, unsigned count)
{
	unsigned offset = signature_offset(stream->frame_bytes - RTE_ETHER_CRC_LEN);
	uint64_t word = signature_word(stream->id, stream->next_sequence);
	/* The last word before the sequence numbers begin anew. */
	uint32_t ahead = SIGNATURE_NUMBERS - 1 - stream->next_sequence % SIGNATURE_NUMBERS;

	for (unsigned i = 0; i < count; i++) {
		uint8_t *frame = frame_of(stream, mbufs[i]);

		if (likely(i + FILL_AHEAD < count))
			rte_prefetch0_write(mbufs[i + FILL_AHEAD]);
		signature_write(frame + offset, word);
		word += SIGNATURE_FACTOR;
		if (unlikely(i == ahead))
			word = signature_word(stream->id, 0);
	}
	stream->next_sequence += count;
}

/* Fills frames whose flows differ, in one pass. */
static void fill_flows(struct stream *stream, struct rte_mbuf **mbufs, unsigned count)
{
	const struct flows *flows = stream->flows;
	unsigned offset = signature_offset(stream->frame_bytes - RTE_ETHER_CRC_LEN);
	unsigned l3_at = stream->l3_checksum_offset, l4_at = stream->l4_checksum_offset;
	unsigned src_at = flows->src_at, dst_at = flows->dst_at, ports_at = flows->ports_at;
	bool ports = flows->ports, signature = stream->signature;
	uint64_t l3_base = stream->l3_base, l4_base = stream->l4_base;
	struct flow_words words;

	flows_next(stream->flows, &words, count);
	for (unsigned i = 0; i < count; i++) {
		uint8_t *frame = frame_of(stream, mbufs[i]);
		uint64_t addresses = (uint64_t)words.src[i] + words.dst[i];
		uint64_t sum = l4_base + addresses;

		if (likely(i + FILL_AHEAD < count))
			rte_prefetch0_write(mbufs[i + FILL_AHEAD]);
		write32(frame + src_at, words.src[i]);
		write32(frame + dst_at, words.dst[i]);
		if (likely(l3_at != 0))
			write16(frame + l3_at, inet_checksum_wide(l3_base + addresses));
		if (likely(signature))
			signature_write(frame + offset, stream_next_signature(stream));
		if (likely(ports)) {
			uint16_t folded = inet_checksum_wide(sum + words.ports[i]);

			write32(frame + ports_at, words.ports[i]);
			/* 0 would say that there is no checksum: RFC 768. */
			write16(frame + l4_at, folded == 0 ? 0xffff : folded);
		}
	}
}

/* The same where modifiers vary the frames as well. */
static void apply_flows(
	struct flows *flows, uint8_t *const *frames, unsigned count, uint32_t *l3, uint32_t *l4)
{
	struct flow_words words;

	flows_next(flows, &words, count);
	for (unsigned i = 0; i < count; i++) {
		uint32_t src = words.src[i], dst = words.dst[i];
		uint32_t halves = (src & 0xffff) + (src >> 16) + (dst & 0xffff) + (dst >> 16);

		write32(frames[i] + flows->src_at, src);
		write32(frames[i] + flows->dst_at, dst);
		l3[i] += halves;
		l4[i] += halves;
		if (flows->ports) {
			write32(frames[i] + flows->ports_at, words.ports[i]);
			l4[i] += (words.ports[i] & 0xffff) + (words.ports[i] >> 16);
		}
	}
}

static void fill_modified(struct stream *stream, struct rte_mbuf **mbufs, unsigned count)
{
	uint32_t l3[STREAM_BURST_MAX], l4[STREAM_BURST_MAX];
	uint8_t *frames[STREAM_BURST_MAX];

	for (unsigned i = 0; i < count; i++) {
		frames[i] = frame_of(stream, mbufs[i]);
		l3[i] = stream->l3_base;
		l4[i] = stream->l4_base;
	}
	for (unsigned i = 0; i < stream->nb_modifiers; i++)
		apply_modifier(&stream->modifiers[i], frames, count, l3, l4);
	if (stream->flows != NULL)
		apply_flows(stream->flows, frames, count, l3, l4);
	if (stream->signature)
		write_signatures(stream, frames, count);
	if (stream->l3_checksum_offset != 0)
		for (unsigned i = 0; i < count; i++)
			write16(frames[i] + stream->l3_checksum_offset, inet_checksum(l3[i]));
	if (stream->l4_checksum_offset != 0)
		write_l4_checksums(frames, stream->l4_checksum_offset, l4, count);
}

void stream_fill(struct stream *stream, struct rte_mbuf **mbufs, unsigned count)
{
	if (stream->template != NULL)
		template_fill(stream, mbufs, count);
	else if (stream->nb_modifiers != 0)
		fill_modified(stream, mbufs, count);
	else if (stream->flows != NULL)
		fill_flows(stream, mbufs, count);
	else if (stream->signature)
		fill_signed(stream, mbufs, count);
	else
		for (unsigned i = 0; i < count; i++)
			(void)frame_of(stream, mbufs[i]);
	stream->sent += count;
}
