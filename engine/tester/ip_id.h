/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams whose frames have no room for a signature, counted by the identification in their IP
 * header: of IPv4 that field (RFC 791), of IPv6 the flow label (RFC 6437). It says whose a frame
 * is, not which of its frames: packets and bytes are counted, order and duplicates are not.
 *
 * Stream n has the number 65,535 - n: what systems send of their own mostly has low ones. So that
 * no other packet is taken for a stream's, its protocol, its fragment offset and its length are
 * looked at as well.
 */
#ifndef LINERATE_IP_ID_H
#define LINERATE_IP_ID_H

#include "core/config.h"
#include "ip_id_match.h"

#include <stdbool.h>
#include <stdint.h>

struct stream;

/* The message of a clash, with the names of both. */
#define IP_ID_CLASH \
	"streams %s and %s: frames of one have no signature and the IP identification that the " \
	"other one's are counted by; expected \"count_by\" for both, or another identification"

/* Reads the frame of `length` bytes (without FCS), behind VLAN tags and labels. False: there is no
 * whole IP header. */
bool ip_id_read(const uint8_t *frame, unsigned length, struct ip_id_packet *packet);

/* Makes the stream one that is counted so; its frame is known. Counts mistakes at the node. */
void ip_id_choose(struct stream *stream, const struct config_node *node);
/* Puts the identification into the frame, once the stream has its id. */
void ip_id_write(struct stream *stream);
/* With ids known: one of the others that the stream's frames would be counted as, or whose would be
 * counted as the stream's; NULL: there is none. */
const struct stream *ip_id_clash(
	const struct stream *stream, struct stream *const *others, unsigned count);

#endif
