/* SPDX-License-Identifier: BSD-3-Clause */
#include "../port/port.h"
#include "signature.h"
#include "stream.h"

#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_port(const struct config_node *node, const char *key)
{
	const char *name = config_string(node, key, NULL);
	const struct port *port = name == NULL ? NULL : port_find(name);
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
	config_known(&rate, keys);
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

void stream_free(struct stream *stream)
{
	if (stream != NULL)
		free(stream->flows);
	free(stream);
}

struct stream *stream_parse(const struct config_node *node)
{
	static const char *const keys[] = {"name", "port", "rx_port", "frame_bytes", "rate",
		"layers", "modifiers", "flows", "burst", "signature", "weight", NULL};
	struct config_node layers = config_child(node, "layers");
	struct config_node modifiers = config_child(node, "modifiers");
	struct config_node flows = config_child(node, "flows");
	unsigned mistakes = node->config->mistakes, end;
	struct stream *stream;

	if (!config_is_object(node))
		return NULL;
	config_known(node, keys);
	stream = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*stream));
	if (stream == NULL)
		return NULL;
	memset(stream, 0, sizeof(*stream));
	snprintf(stream->name, sizeof(stream->name), "%.47s", config_string(node, "name", ""));
	stream->port = parse_port(node, "port");
	stream->rx_port = parse_port(node, "rx_port");
	stream->frame_bytes = (uint16_t)config_u64(node, "frame_bytes", 64, 64, STREAM_FRAME_MAX);
	stream->burst = config_u64(node, "burst", 0, 0, 1ull << 40);
	stream->weight = (unsigned)config_u64(node, "weight", 1, 1, STREAM_WEIGHT_MAX);
	stream->signature = config_bool(node, "signature", true);
	parse_rate(stream, node);
	if (stream_parse_layers(stream, &layers)) {
		stream_parse_modifiers(stream, &modifiers);
		stream->flows = flows_parse(stream, &flows);
	}
	end = stream->frame_bytes - RTE_ETHER_CRC_LEN;
	if (stream->signature)
		end = signature_offset(end);
	if (stream->header_bytes > end)
		config_mistake(node, "frame_bytes: %u bytes of headers%s need at least %u",
			stream->header_bytes, stream->signature ? " and the signature" : "",
			stream->header_bytes + RTE_ETHER_CRC_LEN +
				(stream->signature ? SIGNATURE_BYTES : 0));
	if (node->config->mistakes != mistakes) {
		stream_free(stream);
		return NULL;
	}
	stream_finish(stream);
	return stream;
}
