/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet_frame.h"

#include "core/checksum.h"

/*
 * A stack on this machine that sends over veth leaves the checksum of UDP and TCP to a card that
 * does not exist (TP_STATUS_CSUMNOTREADY): the field holds the pseudo-header's sum alone. It is
 * computed here, as a card would: turning the offload off would have to happen on the peer,
 * whose namespace is not ours. That costs only frames of such stacks; those that come by
 * packet sockets have their checksums. What is no UDP or TCP is left as it is.
 */
void packet_finish_checksum(uint8_t *frame, unsigned length)
{
	if (length >= RTE_ETHER_HDR_LEN)
		csum_frame(frame, length);
}
