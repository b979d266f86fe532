/* SPDX-License-Identifier: BSD-3-Clause */
/* The tester's per-packet work: template, modifiers, signature, checksums. */
#include "signature.h"
#include "stream.h"

#include <rte_byteorder.h>
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

/* Internet checksum of a sum of 16-bit words: RFC 1071. */
static inline uint16_t checksum(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static uint32_t sum_words(const uint8_t *at, unsigned bytes)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i + 1 < bytes; i += 2)
		sum += (uint32_t)at[i] << 8 | at[i + 1];
	return sum;
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
		write16(stream->header + stream->l3_checksum_offset, checksum(stream->l3_base));
	if (stream->l4_checksum_offset != 0)
		write16(stream->header + stream->l4_checksum_offset, checksum(stream->l4_base));
}

/* Turns a buffer that holds another stream's frame (or none) into this stream's. */
static void switch_template(
	const struct stream *stream, struct stream *const *streams, struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint32_t tag = mbuf->hash.fdir.hi;
	uint16_t length = stream->frame_bytes - RTE_ETHER_CRC_LEN;

	if (tag != 0) {
		const struct stream *old = streams[tag - 1];

		if (old->header_bytes > stream->header_bytes)
			memset(frame + stream->header_bytes, 0,
				old->header_bytes - stream->header_bytes);
		memset(frame + signature_offset(old->frame_bytes - RTE_ETHER_CRC_LEN), 0,
			SIGNATURE_BYTES);
	}
	memcpy(frame, stream->header, stream->header_bytes);
	mbuf->data_len = length;
	mbuf->pkt_len = length;
	mbuf->hash.fdir.hi = stream->id + 1u;
}

static inline uint32_t modifier_next(struct modifier *modifier)
{
	uint32_t value = modifier->value;

	switch (modifier->op) {
	case MODIFIER_INCREMENT:
		modifier->value = modifier->max - value < modifier->step ? modifier->min
									 : value + modifier->step;
		break;
	case MODIFIER_DECREMENT:
		modifier->value = value - modifier->min < modifier->step ? modifier->max
									 : value - modifier->step;
		break;
	case MODIFIER_RANDOM: {
		/* A Weyl sequence through a multiply-xor finaliser: splitmix64 (Steele et al.
		 * 2014). */
		uint64_t z = modifier->random += 0x9e3779b97f4a7c15ull;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
		z = (z ^ (z >> 27)) >> 16;
		value = modifier->min +
			(uint32_t)(((z & 0xffffffff) *
					   ((uint64_t)modifier->max - modifier->min + 1)) >>
				   32);
		break;
	}
	}
	return value;
}

static inline void apply_modifier(struct modifier *modifier, struct rte_mbuf **mbufs,
	unsigned count, uint32_t *l3, uint32_t *l4)
{
	/* All-ones or nothing, to add to a checksum or not without a branch. */
	uint32_t in_l3 = modifier->in_l3_checksum ? UINT32_MAX : 0;
	uint32_t in_l4 = modifier->in_l4_checksum ? UINT32_MAX : 0;

	for (unsigned i = 0; i < count; i++) {
		uint8_t *at = rte_pktmbuf_mtod_offset(mbufs[i], uint8_t *, modifier->offset);
		uint32_t value = modifier_next(modifier);
		uint32_t words = (value & 0xffff) + (value >> 16);

		if (modifier->kind == MODIFIER_U32)
			write32(at, value);
		else if (modifier->kind == MODIFIER_U16)
			write16(at, (uint16_t)value);
		else if (modifier->kind == MODIFIER_LABEL)
			write32(at, value << 12 | modifier->fixed);
		else
			write16(at, (uint16_t)(value | modifier->fixed));
		l3[i] += words & in_l3;
		l4[i] += words & in_l4;
	}
}

static inline void write_signatures(
	struct stream *stream, struct rte_mbuf **mbufs, unsigned count, uint32_t *l4)
{
	unsigned offset = signature_offset(stream->frame_bytes - RTE_ETHER_CRC_LEN);
	uint32_t sequence = stream->next_sequence;

	for (unsigned i = 0; i < count; i++, sequence++) {
		signature_write(rte_pktmbuf_mtod_offset(mbufs[i], void *, offset),
			signature_word(stream->id, sequence));
		l4[i] += SIGNATURE_MAGIC + stream->id + (sequence & 0xffff) + (sequence >> 16);
	}
	stream->next_sequence = sequence;
}

void stream_fill(struct stream *stream, struct stream *const *streams, struct rte_mbuf **mbufs,
	unsigned count)
{
	uint32_t l3[STREAM_BURST_MAX], l4[STREAM_BURST_MAX];
	uint32_t tag = stream->id + 1u;

	for (unsigned i = 0; i < count; i++) {
		if (unlikely(mbufs[i]->hash.fdir.hi != tag))
			switch_template(stream, streams, mbufs[i]);
		l3[i] = stream->l3_base;
		l4[i] = stream->l4_base;
	}
	for (unsigned i = 0; i < stream->nb_modifiers; i++)
		apply_modifier(&stream->modifiers[i], mbufs, count, l3, l4);
	if (stream->signature)
		write_signatures(stream, mbufs, count, l4);
	if (stream->l3_checksum_offset != 0 && stream->nb_modifiers != 0)
		for (unsigned i = 0; i < count; i++)
			write16(rte_pktmbuf_mtod_offset(
					mbufs[i], uint8_t *, stream->l3_checksum_offset),
				checksum(l3[i]));
	if (stream->l4_checksum_offset != 0)
		for (unsigned i = 0; i < count; i++) {
			uint16_t sum = checksum(l4[i]);

			/* 0 would say that there is no checksum: RFC 768. */
			write16(rte_pktmbuf_mtod_offset(
					mbufs[i], uint8_t *, stream->l4_checksum_offset),
				sum == 0 ? 0xffff : sum);
		}
	stream->sent += count;
}
