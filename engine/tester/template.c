/* SPDX-License-Identifier: BSD-3-Clause */
#include "template.h"

#include "core/frame.h"
#include "hex.h"
#include "core/signature.h"
#include "stream.h"

#include <rte_ether.h>
#include <stdlib.h>
#include <string.h>

static struct template *parse_hex(const struct config_node *node)
{
	const char *text = config_string(node, "template", "");
	struct config_node child = config_child(node, "template");
	size_t bytes = strlen(text) / 2, read;
	struct template *template;

	if (strlen(text) % 2 != 0 || bytes < RTE_ETHER_HDR_LEN ||
		bytes > FRAME_BYTES_MAX - RTE_ETHER_CRC_LEN) {
		config_mistake(&child, "expected %d to %d bytes in hexadecimal digits",
			RTE_ETHER_HDR_LEN, FRAME_BYTES_MAX - RTE_ETHER_CRC_LEN);
		return NULL;
	}
	template = calloc(1, sizeof(*template) + RTE_MAX(bytes, (size_t)PROGRAM_FRAME_MIN));
	if (template == NULL)
		return NULL;
	template->bytes = (uint16_t)RTE_MAX(bytes, (size_t)PROGRAM_FRAME_MIN);
	read = hex_read(template->frame, text, bytes);
	if (read < bytes) {
		config_mistake(
			&child, "\"%.2s\" is no byte in hexadecimal digits", text + 2 * read);
		free(template);
		return NULL;
	}
	return template;
}

void template_free(struct template *template)
{
	if (template != NULL)
		program_free(template->program);
	free(template);
}

struct template *template_copy(const struct template *template)
{
	size_t bytes = sizeof(*template) + template->bytes;
	struct template *copy = malloc(bytes);

	if (copy != NULL)
		memcpy(copy, template, bytes);
	return copy;
}

static unsigned shortest(const struct template *template)
{
	return template->program == NULL || template->program->length == NULL
		       ? template->bytes
		       : (unsigned)variable_lowest(template->program->length);
}

/* The signature stands on bytes that no step writes. */
static void check_signature(
	const struct template *template, unsigned tail_bytes, const struct config_node *node)
{
	unsigned end = signature_offset(shortest(template)) + SIGNATURE_BYTES - tail_bytes;

	if (template->fresh_to > end)
		config_mistake(node,
			"signature: bytes %u to %u of the shortest frame are the program's; "
			"expected a longer template or \"signature\": false",
			end, end + tail_bytes - 1);
}

/* Whether a variable goes into the length of the IP header at `ip`. */
static bool writes_length(const struct program *program, const uint8_t *frame, unsigned ip)
{
	unsigned length_at = ip + (frame[ip] >> 4 == 4 ? 2 : 4);

	for (unsigned i = 0; program != NULL && i < program->nb_steps; i++) {
		const struct step *step = &program->steps[i];

		if (step->variable != NULL && step->offset < length_at + 2 &&
			step->offset + step->bytes > length_at)
			return true;
	}
	return false;
}

/*
 * A stamp adds nothing to a checksum that counts it whole, or not at all: a packet must not end
 * within it, as in a frame that is padded. Where lengths vary, packets end where their frames do.
 */
static void check_stamp(const struct template *template, const struct step *steps, unsigned count,
	const struct config_node *node)
{
	unsigned signature = signature_offset(template->bytes), stamp = signature - STAMP_BYTES;

	if (shortest(template) != template->bytes)
		return;
	for (unsigned i = 0; i < count; i++) {
		unsigned end = step_summed_to(&steps[i], template->frame, template->bytes);

		if (end > stamp && end < signature &&
			!writes_length(template->program, template->frame, steps[i].offset))
			config_mistake(node,
				"latency: the packet ends before byte %u, within the time stamp "
				"(bytes %u to %u): its checksum would not hold; expected a packet "
				"of %u bytes less or %u more",
				end, stamp, signature - 1, end - stamp, signature - end);
	}
}

/* Checksums are written like other fields, so that a program of checksums alone is made. */
static void parse_checksums(struct template *template, const struct config_node *node)
{
	struct config_node array = config_child(node, "checksums");
	struct program fields = {.template_bytes = template->bytes};
	const struct program *program = template->program;

	if (program != NULL) {
		fields.touched_from = program->touched_from;
		fields.touched_to = program->touched_to;
	}
	template->nb_checksums = program_parse_checksums(
		&fields, &array, template->checksums, TEMPLATE_CHECKSUMS_MAX);
	template->fresh_from = fields.touched_from;
	template->fresh_to = fields.touched_to;
}

bool stream_parse_template(struct stream *stream, const struct config_node *node)
{
	static const char *const others[] = {"layers", "frame_bytes", "modifiers", "flows", NULL};
	struct config_node program = config_child(node, "program");
	unsigned mistakes = node->config->mistakes;
	struct template *template = parse_hex(node);

	for (unsigned i = 0; others[i] != NULL; i++) {
		struct config_node other = config_child(node, others[i]);

		if (other.json != NULL)
			config_mistake(&other, "goes with layers, not with a template");
	}
	if (template == NULL)
		return false;
	stream->template = template;
	template->program = program_parse(template->bytes, &program);
	parse_checksums(template, node);
	if (stream->signature)
		check_signature(template, stream->tail_bytes, node);
	if (stream->stamped) {
		check_stamp(template, template->checksums, template->nb_checksums, node);
		if (template->program != NULL)
			check_stamp(template, template->program->steps, template->program->nb_steps,
				node);
	}
	/* A signature at the end of a shorter frame stands within a longer one's bytes. */
	if (stream->signature && shortest(template) != template->bytes) {
		template->fresh_from = 0;
		template->fresh_to = template->bytes;
	}
	stream->frame_bytes = template->bytes + RTE_ETHER_CRC_LEN;
	stream->mean_bytes = stream->frame_bytes;
	if (template->program != NULL && template->program->length != NULL)
		stream->mean_bytes = (double)(variable_lowest(template->program->length) +
					      variable_highest(template->program->length)) /
					     2 +
				     RTE_ETHER_CRC_LEN;
	return node->config->mistakes == mistakes;
}

/* The buffer holds another stream's frame, or none. What is behind this one's bytes is zero. */
static void switch_template(const struct stream *stream, struct rte_mbuf *mbuf, uint8_t *frame)
{
	const struct template *template = stream->template;
	unsigned dirty = 0;

	if (mbuf->hash.fdir.hi != 0)
		dirty = RTE_MAX(mbuf->hash.fdir.lo & ~STREAM_TAG_STAMPED, (uint32_t)mbuf->data_len);
	memcpy(frame, template->frame, template->bytes);
	if (dirty > template->bytes)
		memset(frame + template->bytes, 0, dirty - template->bytes);
	mbuf->hash.fdir.hi = stream->tag;
	mbuf->hash.fdir.lo = stream_tag(stream, template->bytes);
}

static void start_frames(const struct stream *stream, struct rte_mbuf **mbufs,
	struct program_burst *burst, unsigned count)
{
	const struct template *template = stream->template;
	unsigned fresh = template->fresh_to - template->fresh_from;

	burst->count = count;
	for (unsigned i = 0; i < count; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], uint8_t *);

		if (unlikely(mbufs[i]->hash.fdir.hi != stream->tag))
			switch_template(stream, mbufs[i], frame);
		else
			memcpy(frame + template->fresh_from, template->frame + template->fresh_from,
				fresh);
		burst->frames[i] = frame;
		burst->lengths[i] = template->bytes;
	}
}

static void sign(struct stream *stream, struct program_burst *burst)
{
	for (unsigned i = 0; i < burst->count; i++) {
		uint8_t *at = burst->frames[i] + signature_offset(burst->lengths[i]);

		signature_write(at, stream_next_signature(stream));
		/* A stamp adds nothing to a checksum; what stood in its place would. */
		if (stream->stamped)
			memset(at - STAMP_BYTES, 0, STAMP_BYTES);
	}
}

void template_fill(struct stream *stream, struct rte_mbuf **mbufs, unsigned count)
{
	struct template *template = stream->template;
	struct program *program = template->program;
	struct program_burst burst;

	start_frames(stream, mbufs, &burst, count);
	if (program != NULL) {
		program_draw(program, count);
		program_lengths(program, &burst);
	}
	if (stream->signature)
		sign(stream, &burst);
	if (program != NULL)
		steps_run(program->steps, program->nb_steps, &burst);
	if (stream->signature)
		steps_run(template->checksums, template->nb_checksums, &burst);
	for (unsigned i = 0; i < count; i++) {
		mbufs[i]->data_len = burst.lengths[i];
		mbufs[i]->pkt_len = burst.lengths[i];
	}
}
