/* SPDX-License-Identifier: BSD-3-Clause */
/* From a frame to its flow's key. VLAN tags and MPLS labels are skipped over. */
#ifndef LINERATE_FLOW_KEY_H
#define LINERATE_FLOW_KEY_H

#include "flow_record.h"

/* Kind of a frame to the flow table. */
enum flow_kind {
	FLOW_KIND_PACKET,         /* of a flow: the key is right */
	FLOW_KIND_FIRST_FRAGMENT, /* the same; later ones follow it by `fragment` */
	FLOW_KIND_LATER_FRAGMENT, /* has no ports: only `fragment` says which flow */
	FLOW_KIND_NO_IP,          /* ARP, LLDP, anything */
	FLOW_KIND_BROKEN,         /* an IP or upper header is cut short or says nonsense */
};

/* Key fields that fragments of one packet share, beside addresses and protocol. */
struct flow_parsed {
	struct flow_key key; /* of a later fragment: ports 0 */
	uint8_t kind;        /* enum flow_kind */
	uint8_t direction;   /* enum flow_direction */
	uint8_t tcp_flags;
	uint8_t l3_offset; /* 0: beyond 255 */
	/* First byte of the IP header where the type field is before it and what is above it comes
	 * straight after it; else 0. */
	uint8_t l3_byte;
	uint32_t fragment_id;
	const uint8_t *addresses6; /* in the frame, source first; NULL: IPv4 */
};

/* Reads a frame of `bytes`; the key is written for all but the last two kinds. */
void flow_key_parse(const uint8_t *frame, unsigned bytes, struct flow_parsed *parsed);

/* Combines both IPv6 addresses, the same for both directions. */
uint64_t flow_key_addresses6(const uint8_t *low, const uint8_t *high);

#endif
