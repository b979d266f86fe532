/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of an IP header by which a frame is counted for a stream (ip_id.h). */
#ifndef LINERATE_IP_ID_MATCH_H
#define LINERATE_IP_ID_MATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Fields that the IP headers of a stream's frames have in common. */
struct ip_id_match {
	uint8_t version;            /* 0: they are not counted by it */
	uint8_t protocol;           /* or IPv6's next header */
	uint16_t fragment;          /* offset, and whether more follow; 0 of IPv6 */
	uint16_t shortest, longest; /* the header's length field */
};

/* The outermost IP header of a frame. */
struct ip_id_packet {
	uint8_t version, protocol;
	uint16_t fragment, bytes;
	uint32_t id; /* a flow label may be larger than any stream's */
};

/* Stream and identification, either from the other. */
static inline uint16_t ip_id_of(uint16_t stream)
{
	return (uint16_t)(UINT16_MAX - stream);
}

static inline bool ip_id_matches(const struct ip_id_match *match, const struct ip_id_packet *packet)
{
	return match->version == packet->version && match->protocol == packet->protocol &&
	       match->fragment == packet->fragment && match->shortest <= packet->bytes &&
	       packet->bytes <= match->longest;
}

#endif
