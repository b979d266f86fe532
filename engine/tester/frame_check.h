/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a received frame is as it was sent, by its own checksums, or a message about one. */
#ifndef LINERATE_FRAME_CHECK_H
#define LINERATE_FRAME_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* Where the outermost IP header of a frame of `length` bytes (without FCS) stands, behind VLAN tags
 * and labels, and its version by the frame; 0: by the packet alone (behind labels). Returns 0 when
 * there is none. */
unsigned frame_find_ip(const uint8_t *frame, unsigned length, unsigned *version);

/*
 * Checks a frame of `length` bytes (without FCS): false when its IPv4 header checksum (RFC 791) or
 * its UDP or TCP checksum (RFC 768, RFC 9293) is wrong, or a length points behind its end. VLAN
 * tags and MPLS labels are stepped over. True where nothing can be checked: other protocols,
 * fragments, UDP over IPv4 without a checksum.
 */
bool frame_checksums_hold(const uint8_t *frame, unsigned length);

/* Whether it is an ICMP error (RFC 792, RFC 4443): a message that quotes the packet it is about. */
bool frame_is_icmp_error(const uint8_t *frame, unsigned length);

#endif
