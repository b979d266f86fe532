/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/frame.h"
#include "port/port.h"
#include "core/signature.h"
#include "ip_id.h"
#include "stream.h"
#include "template.h"

#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_port(const struct config_node *node, const char *key)
{
	const char *name = config_string(node, key, NULL);
	const struct port *port = port_find(name);
	struct config_node child = config_child(node, key);

	if (name != NULL && port == NULL)
		config_mistake(&child, "no port is called \"%s\"", name);
	return port == NULL ? -1 : port->index;
}

static void parse_rate(struct stream *stream, const struct config_node *node)
{
	static const char *const keys[] = {"pps", "l1_bps", "l2_bps", "percent", "max", NULL};
	static const double max[] = {1e12, 1e13, 1e13, 100};
	struct config_node rate = config_child(node, "rate");
	unsigned given = 0;

	stream->rate_kind = RATE_PERCENT;
	stream->rate = 100;
	if (!config_is_object(&rate))
		return;
	config_known_keys(&rate, keys);
	for (unsigned i = 0; keys[i] != NULL; i++) {
		if (config_child(&rate, keys[i]).json == NULL)
			continue;
		given++;
		stream->rate_kind = (enum rate_kind)i;
		if (i == RATE_MAX)
			config_bool(&rate, "max", true);
		else
			stream->rate = config_number(&rate, keys[i], 0, 0, max[i]);
	}
	if (given != 1)
		config_mistake(&rate, "expected exactly one of pps, l1_bps, l2_bps, percent, max");
}

/* By what its frames are counted. */
enum count_by {
	COUNT_BY_WHAT_IT_HAS, /* its signature, if it has one */
	COUNT_BY_SIGNATURE,
	COUNT_BY_IP_ID,
};

static enum count_by parse_count_by(const struct config_node *node)
{
	static const char *const names[] = {"signature", "ip_id", NULL};

	if (config_child(node, "count_by").json == NULL)
		return COUNT_BY_WHAT_IT_HAS;
	return COUNT_BY_SIGNATURE + (enum count_by)config_choice(node, "count_by", names, 0);
}

/* Use of the end of each frame; templates carry a signature only if it is configured. */
static void parse_signature(
	struct stream *stream, const struct config_node *node, enum count_by count_by)
{
	struct config_node key = config_child(node, "latency");
	bool stamped = config_bool(node, "latency", false);
	bool layered = config_child(node, "template").json == NULL;
	bool usual = count_by == COUNT_BY_WHAT_IT_HAS ? layered : count_by == COUNT_BY_SIGNATURE;

	stream->stamped = stamped;
	stream->signature = config_bool(node, "signature", usual || stamped);
	if (count_by == COUNT_BY_IP_ID && stream->signature)
		config_mistake(node, "count_by: expected \"ip_id\" or a signature%s, not both",
			stamped ? ", which latency needs" : "");
	if (count_by == COUNT_BY_SIGNATURE && !stream->signature)
		config_mistake(node, "count_by: \"signature\" needs one; expected \"ip_id\"");
	if (stamped && !stream->signature)
		config_mistake(&key, "needs the signature");
	key = config_child(node, "check_payload");
	stream->check_payload = config_bool(node, "check_payload", false);
	if (stream->check_payload && !stream->signature)
		config_mistake(&key, "needs the signature");
	stream->tail_bytes =
		(uint16_t)((stream->signature ? SIGNATURE_BYTES : 0) + (stamped ? STAMP_BYTES : 0));
}

/* Whatever is at the frame's end starts at an even offset. */
static void check_room(const struct stream *stream, const struct config_node *node)
{
	unsigned end = stream->frame_bytes - RTE_ETHER_CRC_LEN;
	const char *tail = stream->tail_bytes == 0 ? ""
			   : stream->tail_bytes == SIGNATURE_BYTES
				   ? " and the signature"
				   : " and the signature with its time stamp";

	if (stream->signature)
		end = signature_offset(end) + SIGNATURE_BYTES - stream->tail_bytes;
	if (stream->header_bytes > end)
		config_mistake(node, "frame_bytes: %u bytes of headers%s need at least %u",
			stream->header_bytes, tail,
			stream->header_bytes + RTE_ETHER_CRC_LEN + stream->tail_bytes);
}

void stream_free(struct stream *stream)
{
	if (stream != NULL) {
		free(stream->flows);
		free(stream->places);
		free(stream->at);
		if (!stream->is_part || stream->ip_id.version != 0)
			template_free(stream->template);
	}
	free(stream);
}

static void parse_bursts(struct stream *stream, const struct config_node *node)
{
	struct config_node bursts = config_child(node, "bursts");

	stream->burst = config_u64(node, "burst", 0, 0, 1ull << 40);
	stream->bursts.start_s = config_number(node, "start_us", 0, 0, 1e12) / 1e6;
	if (!config_object(&bursts, "frames", "count", "gap_us"))
		return;
	if (stream->burst != 0)
		config_mistake(&bursts, "expected either \"burst\" or \"bursts\"");
	stream->bursts.frames = config_u64(&bursts, "frames", 1, 1, 1ull << 30);
	stream->bursts.count = config_u64(&bursts, "count", 1, 0, 1ull << 30);
	stream->bursts.gap_s = config_number(&bursts, "gap_us", 0, 0, 1e12) / 1e6;
	stream->burst = stream->bursts.frames * stream->bursts.count;
}

/* Headers and payload by layers. */
static void parse_layered(struct stream *stream, const struct config_node *node)
{
	static const char *const others[] = {"program", "checksums", NULL};
	struct config_node layers = config_child(node, "layers");
	struct config_node modifiers = config_child(node, "modifiers");
	struct config_node flows = config_child(node, "flows");

	for (unsigned i = 0; others[i] != NULL; i++) {
		struct config_node other = config_child(node, others[i]);

		if (other.json != NULL)
			config_mistake(&other, "goes with a template, not with layers");
	}
	stream->frame_bytes = (uint16_t)config_u64(
		node, "frame_bytes", FRAME_BYTES_MIN, FRAME_BYTES_MIN, FRAME_BYTES_MAX);
	stream->mean_bytes = stream->frame_bytes;
	if (stream_parse_layers(stream, &layers)) {
		stream_parse_modifiers(stream, &modifiers);
		stream->flows = stream_parse_flows(stream, &flows);
	}
	check_room(stream, node);
}

uint32_t stream_new_tag(void)
{
	static uint32_t last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

struct stream *stream_parse(const struct config_node *node)
{
	struct config_node places = config_child(node, "places"), at = config_child(node, "at");
	struct config_node counted = config_child(node, "count_by");
	unsigned mistakes = node->config->mistakes;
	struct stream *stream;
	enum count_by count_by;
	bool layered;

	if (!config_object(node, "name", "port", "rx_port", "frame_bytes", "rate", "layers",
		    "modifiers", "flows", "template", "program", "checksums", "burst", "bursts",
		    "start_us", "signature", "count_by", "check_payload", "latency", "weight",
		    "places", "at", "unscaled", "chain"))
		return NULL;
	stream = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*stream));
	if (stream == NULL)
		return NULL;
	memset(stream, 0, sizeof(*stream));
	stream->tag = stream_new_tag();
	snprintf(stream->name, sizeof(stream->name), "%.47s", config_string(node, "name", ""));
	stream->port = parse_port(node, "port");
	stream->rx_port = parse_port(node, "rx_port");
	parse_bursts(stream, node);
	stream->weight = (unsigned)config_u64(node, "weight", 1, 1, STREAM_WEIGHT_MAX);
	stream->unscaled = config_bool(node, "unscaled", false);
	stream->chain = config_u64(node, "chain", 0, 1, UINT32_MAX);
	parse_rate(stream, node);
	count_by = parse_count_by(node);
	parse_signature(stream, node, count_by);
	stream_parse_places(stream, &places);
	stream_parse_times(stream, &at);
	layered = config_child(node, "template").json == NULL;
	if (layered)
		parse_layered(stream, node);
	else
		stream_parse_template(stream, node);
	if (node->config->mistakes == mistakes && layered)
		stream_finish(stream);
	if (node->config->mistakes == mistakes && count_by == COUNT_BY_IP_ID)
		ip_id_choose(stream, &counted);
	if (node->config->mistakes != mistakes) {
		stream_free(stream);
		return NULL;
	}
	return stream;
}
