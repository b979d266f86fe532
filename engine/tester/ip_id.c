/* SPDX-License-Identifier: BSD-3-Clause */
#include "ip_id.h"

#include "core/frame.h"
#include "frame_check.h"
#include "inet_checksum.h"
#include "stream.h"
#include "template.h"

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <string.h>

#define IP4_ID_AT 4
#define IP4_FRAGMENT_AT 6
#define IP4_PROTOCOL_AT 9
#define IP4_CHECKSUM_AT 10
#define IP6_PROTOCOL_AT 6
#define FLOW_LABEL_MASK 0xfffffu
#define FRAGMENT_MASK (RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)

static uint16_t read16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void write16(uint8_t *at, uint16_t value)
{
	value = rte_cpu_to_be_16(value);
	memcpy(at, &value, sizeof(value));
}

static uint32_t flow_label(const uint8_t *ip)
{
	return (uint32_t)(ip[1] & 0xf) << 16 | read16(ip + 2);
}

/* Where the length stands in a header of that version. */
static unsigned length_at(unsigned version)
{
	return version == 4 ? 2 : 4;
}

/* Reads a header that has `room` bytes of the frame. */
static bool read_header(const uint8_t *ip, unsigned room, struct ip_id_packet *packet)
{
	packet->version = room == 0 ? 0 : ip[0] >> 4;
	if (packet->version == 4 && room >= sizeof(struct rte_ipv4_hdr)) {
		packet->protocol = ip[IP4_PROTOCOL_AT];
		packet->fragment = read16(ip + IP4_FRAGMENT_AT) & FRAGMENT_MASK;
		packet->id = read16(ip + IP4_ID_AT);
	} else if (packet->version == 6 && room >= sizeof(struct rte_ipv6_hdr)) {
		packet->protocol = ip[IP6_PROTOCOL_AT];
		packet->fragment = 0;
		packet->id = flow_label(ip);
	} else
		return false;
	packet->bytes = read16(ip + length_at(packet->version));
	return true;
}

bool ip_id_read(const uint8_t *frame, unsigned length, struct ip_id_packet *packet)
{
	unsigned version, at = frame_find_ip(frame, length, &version);

	return at != 0 && at < length && read_header(frame + at, length - at, packet) &&
	       (version == 0 || version == packet->version);
}

/* The bytes of the stream's frame that are kept. */
static uint8_t *frame_of(struct stream *stream, unsigned *bytes)
{
	if (stream->template != NULL) {
		*bytes = stream->template->bytes;
		return stream->template->frame;
	}
	*bytes = stream->header_bytes;
	return stream->header;
}

/* Fields of a stream's packets, and which of them its program writes. */
struct likeness {
	struct ip_id_packet packet;
	unsigned at; /* of the header */
	bool any_length, any_id, any_other;
};

/* Whether the program writes one of these bytes of the frame. */
static bool is_written(const struct stream *stream, unsigned from, unsigned bytes)
{
	const struct program *program = stream->template == NULL ? NULL : stream->template->program;

	for (unsigned i = 0; program != NULL && i < program->nb_steps; i++) {
		const struct step *step = &program->steps[i];

		if (step->variable != NULL && step->offset < from + bytes &&
			step->offset + step->bytes > from)
			return true;
	}
	return false;
}

/* False: its frames have no IP header. */
static bool read_likeness(const struct stream *stream, struct likeness *likeness)
{
	unsigned bytes, version;
	const uint8_t *frame = frame_of((struct stream *)(uintptr_t)stream, &bytes);
	unsigned at = frame_find_ip(frame, bytes, &version);

	*likeness = (struct likeness){.at = at};
	if (!ip_id_read(frame, bytes, &likeness->packet))
		return false;
	version = likeness->packet.version;
	likeness->any_length = is_written(stream, at + length_at(version), 2);
	if (version == 4) {
		likeness->any_id = is_written(stream, at + IP4_ID_AT, 2);
		likeness->any_other = is_written(stream, at, 1) ||
				      is_written(stream, at + IP4_FRAGMENT_AT, 2) ||
				      is_written(stream, at + IP4_PROTOCOL_AT, 1);
	} else {
		likeness->any_id = is_written(stream, at + 1, 3);
		likeness->any_other =
			is_written(stream, at, 1) || is_written(stream, at + IP6_PROTOCOL_AT, 1);
	}
	return true;
}

void ip_id_choose(struct stream *stream, const struct config_node *node)
{
	struct likeness likeness;
	const struct ip_id_packet *packet = &likeness.packet;

	if (!read_likeness(stream, &likeness)) {
		config_mistake(node, "expected frames with an IPv4 or IPv6 header");
		return;
	}
	if (likeness.any_id || likeness.any_other)
		config_mistake(node,
			"the program writes the IP header's version, %s or protocol, by which its "
			"frames are counted; expected a program that does not",
			packet->version == 4 ? "identification, fragment offset" : "flow label");
	if (stream->template == NULL && packet->id != 0)
		config_mistake(node, "the stream's number stands in %s; expected none of its own",
			packet->version == 4 ? "ipv4.id" : "ipv6.flow_label");
	stream->ip_id = (struct ip_id_match){
		.version = packet->version,
		.protocol = packet->protocol,
		.fragment = packet->fragment,
		.shortest = likeness.any_length ? 0 : packet->bytes,
		.longest = likeness.any_length ? UINT16_MAX : packet->bytes,
	};
}

/* RFC 1624: a header checksum that was wrong on purpose stays as wrong. */
static void write_ip4(uint8_t *ip, uint16_t id)
{
	uint32_t sum = (uint16_t)~read16(ip + IP4_CHECKSUM_AT);

	sum += (uint16_t)~read16(ip + IP4_ID_AT);
	write16(ip + IP4_CHECKSUM_AT, inet_checksum(sum + id));
	write16(ip + IP4_ID_AT, id);
}

void ip_id_write(struct stream *stream)
{
	uint16_t id = ip_id_of(stream->id), before;
	unsigned bytes, version;
	uint8_t *ip;

	if (stream->ip_id.version == 0)
		return;
	ip = frame_of(stream, &bytes);
	ip += frame_find_ip(ip, bytes, &version);
	if (stream->ip_id.version == 4) {
		before = read16(ip + IP4_ID_AT);
		stream->l3_base += (uint32_t)(uint16_t)~before + id;
		write_ip4(ip, id);
	} else {
		ip[1] &= 0xf0;
		write16(ip + 2, id);
	}
}

/* Whether frames of a stream that has no signature would be counted as those of one that is counted
 * by its identification. */
static bool is_taken_for(const struct stream *stream, const struct stream *counted)
{
	struct ip_id_match match = counted->ip_id;
	struct likeness likeness;

	if (!read_likeness(stream, &likeness))
		return false;
	if (!likeness.any_id && likeness.packet.id != ip_id_of(counted->id))
		return false;
	if (likeness.any_other)
		return true;
	if (likeness.any_length) {
		match.shortest = 0;
		match.longest = UINT16_MAX;
	}
	return ip_id_matches(&match, &likeness.packet);
}

static bool is_unknown(const struct stream *stream)
{
	return !stream->signature && stream->ip_id.version == 0 && !stream->removed;
}

static bool is_counted(const struct stream *stream)
{
	return stream->ip_id.version != 0 && !stream->removed;
}

const struct stream *ip_id_clash(
	const struct stream *stream, struct stream *const *others, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if ((is_unknown(stream) && is_counted(others[i]) &&
			    is_taken_for(stream, others[i])) ||
			(is_counted(stream) && is_unknown(others[i]) &&
				is_taken_for(others[i], stream)))
			return others[i];
	return NULL;
}
